package gpu

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"unsafe"
)

// Code is the GPU code of a package: what quern gen wrote to quern_gen.ptx. All
// kernels of the package share it. Programs do not write it themselves.
//
// It is looked at when the first kernel of the package is used on a device.
// Nothing is computed before, and nothing again later.
type Code struct {
	Package string // import path

	// Text is the modules of the kernels, each behind a line
	//
	//	//quern:module <kernel> <variant> [older]
	//
	// A text without such lines is one module, of every variant of one kernel.
	// Lines may end with LF or, as Git checks files out on Windows, with CR LF.
	Text string

	// Sum is the SHA-256 of the text with lines that end with LF, in hexadecimal
	// digits. quern gen writes it to quern_gen.go, so that the two files are known
	// to belong together. If it is empty the text is not checked.
	Sum string

	once    sync.Once
	err     error
	text    string            // with lines that end with LF
	modules map[string]string // by the words of their lines; nil if there are no such lines
}

// CodeError means that the files which quern gen wrote for a package cannot be
// used: they do not belong together, or GPU code is missing. No kernel of the
// package runs then, on any device.
type CodeError struct {
	Package string // import path
	Kernel  string // whose code is missing; empty if all kernels are concerned
	Variant string // of the kernel
	Reason  string
}

// Error names the package, the files and what to do.
func (e *CodeError) Error() string {
	in := ""
	if e.Package != "" {
		in = "package " + e.Package + ": "
	}
	return in + e.Reason + "; run go generate, or go tool quern gen"
}

const moduleLine = "//quern:module "

// open checks the text and finds the modules, once.
func (c *Code) open() error {
	c.once.Do(func() {
		c.text = strings.ReplaceAll(c.Text, "\r\n", "\n")
		if c.err = c.verify(); c.err == nil {
			c.modules = modulesOf(c.text)
		}
	})
	return c.err
}

// verify compares the text with its sum.
func (c *Code) verify() error {
	if c.Sum == "" {
		return nil
	}
	sum := sha256.Sum256(unsafe.Slice(unsafe.StringData(c.text), len(c.text)))
	if hex.EncodeToString(sum[:]) == c.Sum {
		return nil
	}
	reason := "quern_gen.go and quern_gen.ptx do not belong together: one of them was edited, merged or left behind"
	switch {
	case c.text == "":
		reason = "quern_gen.ptx is empty"
	case strings.HasPrefix(c.text, "<<<<<<< ") || strings.Contains(c.text, "\n<<<<<<< "):
		reason = "quern_gen.ptx has the conflict markers of a merge"
	}
	return &CodeError{Package: c.Package, Reason: reason}
}

// modulesOf divides a text at the lines that stand before modules.
func modulesOf(text string) map[string]string {
	rest, found := strings.CutPrefix(text, moduleLine)
	if !found {
		_, rest, found = strings.Cut(text, "\n"+moduleLine)
	}
	if !found {
		return nil
	}
	modules := map[string]string{}
	for found {
		var words, module string
		words, rest, _ = strings.Cut(rest, "\n")
		module, rest, found = strings.Cut(rest, "\n"+moduleLine)
		modules[words] = module
	}
	return modules
}

// module returns the module of a variant of a kernel, which errors call shown.
func (c *Code) module(kernel, variant, shown string) (string, error) {
	if c == nil {
		return "", nil // the kernel runs on the CPU only
	}
	if err := c.open(); err != nil {
		return "", err
	}
	if c.modules == nil {
		return c.text, nil
	}
	text, ok := c.modules[kernel+" "+variant]
	if !ok {
		return "", &CodeError{c.Package, shown, variant, fmt.Sprintf("quern_gen.ptx has no code for variant %s of kernel %s: the file is damaged or out of date", variant, shown)}
	}
	return text, nil
}
