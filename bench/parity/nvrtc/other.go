//go:build !linux

package nvrtc

import "errors"

// Compiler is the opened library.
type Compiler struct{}

// Output is what a program is compiled to.
type Output struct {
	Cubin []byte
	PTX   string // for reading
}

var errLinux = errors.New("NVRTC is used on Linux only")

// Open opens the library at path, or where it is found if path is empty.
func Open(path string) (*Compiler, error) { return nil, errLinux }

// Version is that of the library, with its path.
func (c *Compiler) Version() string { return errLinux.Error() }

// Compile compiles a program for an architecture such as "sm_90".
func (c *Compiler) Compile(name, text, architecture string) (*Output, error) { return nil, errLinux }
