package ir

import "context"

// Ended is the value with which Poll panics.
type Ended struct{ Cause error }

// Poll panics with an Ended if the context, nil for none, has ended. Whatever may take
// long calls it often; the functions that start a compilation recover.
func Poll(ctx context.Context) {
	if ctx != nil && ctx.Err() != nil {
		panic(Ended{context.Cause(ctx)})
	}
}

// Poll calls Poll for the compilation of the function.
func (f *Func) Poll() { Poll(f.Context) }
