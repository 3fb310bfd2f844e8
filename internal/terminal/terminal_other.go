//go:build !linux && !darwin

package terminal

import "os"

// Is returns false.
func Is(*os.File) bool { return false }

// Size returns ErrUnsupported.
func Size(*os.File) (columns, rows int, err error) { return 0, 0, ErrUnsupported }

// Raw returns ErrUnsupported.
func Raw(*os.File) (restore func() error, err error) { return nil, ErrUnsupported }

// Resized returns a channel that receives nothing.
func Resized() (resized <-chan os.Signal, stop func()) { return nil, func() {} }

// Suspend returns ErrUnsupported.
func Suspend() error { return ErrUnsupported }
