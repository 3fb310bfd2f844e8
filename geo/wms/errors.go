package wms

import (
	"errors"
	"fmt"

	"quern.dev/geo/internal/failure"
)

// Errors match one of these, or one of the packages tiff, crs and gpu.
var (
	// ErrConfig is a configuration that cannot be served.
	ErrConfig = errors.New("bad configuration")
	// ErrArgument is an argument that cannot be used.
	ErrArgument = errors.New("bad argument")
)

func failf(kind error, format string, args ...any) error {
	return failure.New(kind, "wms: "+format, args...)
}

// Codes of exceptions, of WMS 1.3.0 table E.1, of WMS 1.1.1 annex A.3, of OWS 1.1 table 27, and of WMTS 1.0.0.
const (
	codeInvalidFormat    = "InvalidFormat"
	codeInvalidCRS       = "InvalidCRS" // InvalidSRS in 1.1.1
	codeLayer            = "LayerNotDefined"
	codeStyle            = "StyleNotDefined"
	codeNotQueryable     = "LayerNotQueryable"
	codePoint            = "InvalidPoint"
	codeSequence         = "InvalidUpdateSequence"
	codeCurrent          = "CurrentUpdateSequence"
	codeNoDimension      = "MissingDimensionValue"
	codeInvalidDimension = "InvalidDimensionValue"
	codeOperation        = "OperationNotSupported"
	codeMissing          = "MissingParameterValue"
	codeInvalid          = "InvalidParameterValue"
	codeTile             = "TileOutOfRange"
	codePixel            = "PointIJOutOfRange"
	codeNone             = "NoApplicableCode"
)

// Exception is an answer to a request that cannot be served, with a code of the standards.
type Exception struct {
	Code    string // such as "LayerNotDefined"
	Locator string // the parameter
	Text    string // what is wrong
	status  int    // of HTTP where it matters, or 0 for a mistake of the client
	cause   error
}

// Error returns the code and the text.
func (e *Exception) Error() string {
	if e.Locator != "" {
		return fmt.Sprintf("wms: %s: %s: %s", e.Code, e.Locator, e.Text)
	}
	return fmt.Sprintf("wms: %s: %s", e.Code, e.Text)
}

// Unwrap returns the cause, or nil.
func (e *Exception) Unwrap() error { return e.cause }

func exceptf(code, locator, format string, args ...any) *Exception {
	return &Exception{Code: code, Locator: locator, Text: fmt.Sprintf(format, args...)}
}
