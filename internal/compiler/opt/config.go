package opt

import "slices"

// Config controls how a kernel is prepared. Choosing passes is for tests that compare
// what kernels compute with and without some of them; the zero value runs all.
type Config struct {
	// Without names passes to skip. The passes that lower the IR to what the back end
	// accepts cannot be skipped: inline, pointers and scalarise.
	Without []string
	// Small requests the coarse form for launches of any size.
	Small bool
}

func (c Config) keep(passes []pass) []pass {
	if len(c.Without) == 0 {
		return passes
	}
	return slices.DeleteFunc(slices.Clone(passes), func(p pass) bool { return slices.Contains(c.Without, p.name) })
}
