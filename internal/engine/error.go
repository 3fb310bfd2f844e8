package engine

import "fmt"

// Error is an operation that a vendor's library cannot compute.
type Error struct {
	Library  string // such as "cuBLASLt"
	Op       string // the operation, such as "blas.Gemm"; empty if it is not about one
	Function string // of the library that failed, such as "cublasLtMatmul", or empty
	Code     int    // that it returned
	Reason   string // what is wrong
	Advice   string // what to do

	// Err is what the error matches: errors.ErrUnsupported if the library cannot compute
	// this, ErrMissing if it is not installed or too old; or nil.
	Err error
}

// Error names the library, what is wrong, and what to do.
func (e *Error) Error() string {
	if e.Advice == "" {
		return e.Problem()
	}
	return e.Problem() + "; " + e.Advice
}

// Problem names the library and what is wrong.
func (e *Error) Problem() string {
	if e.Function == "" {
		return e.Library + ": " + e.Reason
	}
	return fmt.Sprintf("%s: %s (%d): %s", e.Library, e.Function, e.Code, e.Reason)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }
