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
	text := e.Library + ": "
	if e.Function != "" {
		text += fmt.Sprintf("%s (%d): ", e.Function, e.Code)
	}
	text += e.Reason
	if e.Advice != "" {
		text += "; " + e.Advice
	}
	return text
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }
