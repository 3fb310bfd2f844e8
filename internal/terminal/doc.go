// Package terminal switches terminals to raw input and finds their size, on Linux and macOS.
package terminal

import "errors"

// ErrUnsupported means that this package does not know the terminals of the operating system.
var ErrUnsupported = errors.New("terminals are supported on Linux and macOS only")
