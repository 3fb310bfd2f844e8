package opt

import (
	"context"
	"slices"
)

// Config says how to prepare a kernel. Its choice of passes is for tests that
// compare what kernels compute with and without some of them; the zero value is
// all.
type Config struct {
	// Without names passes to leave out. Those that lower the IR to what the
	// back end takes cannot be left out: inline, pointers and scalarise.
	Without []string
	// Small asks for the coarse form for launches of any size.
	Small bool

	// Context ends the work between two passes; nil: nothing does.
	Context context.Context
}

// ended returns the cause of the context's end.
func (c Config) ended() error {
	if c.Context == nil {
		return nil
	}
	return context.Cause(c.Context)
}

func (c Config) keep(passes []pass) []pass {
	if len(c.Without) == 0 {
		return passes
	}
	return slices.DeleteFunc(slices.Clone(passes), func(p pass) bool { return slices.Contains(c.Without, p.name) })
}
