package opt

import "slices"

// Config is a choice of passes, for tests that compare what kernels compute with
// and without some of them. The zero value is all.
type Config struct {
	// Without names passes to leave out. Those that lower the IR to what the
	// back end takes cannot be left out: inline, pointers and scalarise.
	Without []string
	// Small asks for the coarse form for launches of any size.
	Small bool
}

func (c Config) keep(passes []pass) []pass {
	if len(c.Without) == 0 {
		return passes
	}
	return slices.DeleteFunc(slices.Clone(passes), func(p pass) bool { return slices.Contains(c.Without, p.name) })
}
