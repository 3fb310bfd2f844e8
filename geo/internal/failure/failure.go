// Package failure makes the errors of the packages below geo. Their text is the message alone; the kind, such as
// ErrArgument, is for [errors.Is].
package failure

import "fmt"

type failure struct {
	error
	kind error
}

// New returns an error that matches the kind, and what the format wraps. The text is that of [fmt.Errorf].
func New(kind error, format string, args ...any) error {
	return &failure{fmt.Errorf(format, args...), kind}
}

// Unwrap returns the kind and the message, which may wrap a cause.
func (f *failure) Unwrap() []error { return []error{f.kind, f.error} }
