//go:build !linux

package nvrtc

import "errors"

// Compiler is the opened library.
type Compiler struct{}

// Output is the result of compiling a program.
type Output struct {
	Cubin []byte
	PTX   string // for people to read
}

var errLinux = errors.New("nvrtc: supported on Linux only")

// Open opens the library at path. If path is empty, it searches for the library.
func Open(path string) (*Compiler, error) { return nil, errLinux }

// Version returns the version and path of the library.
func (c *Compiler) Version() string { return errLinux.Error() }

// Compile compiles a program for an architecture such as "sm_90".
func (c *Compiler) Compile(name, text, architecture string) (*Output, error) { return nil, errLinux }
