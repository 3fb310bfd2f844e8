package compiled

import (
	"fmt"
	"strings"
	"sync"

	"quern.dev/internal/archive"
)

// Code is the content of the quern_gen.zip that quern gen wrote for a package: the
// descriptions and the GPU code of its kernels, which share it.
//
// It is first read when a kernel of the package is used.
type Code struct {
	Package string // import path

	// Archive is the content of quern_gen.zip. Sum identifies it. It is in quern_gen.go, so
	// that a mismatch of the two files is detected.
	Archive *string
	Sum     string

	// Modules are the modules of code without an archive. A module that names no
	// kernel serves every variant.
	Modules []archive.Module

	once   sync.Once
	err    error
	opened *archive.Archive
}

// CodeError means that the files which quern gen wrote for a package cannot be used:
// they do not belong together, or GPU code is missing. Then none of the package's
// kernels runs, on any device.
type CodeError struct {
	Package string // import path
	Kernel  string // the kernel whose code is missing; empty if all kernels are affected
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

// Open reads the directory of the archive and compares it with its sum, once.
func (c *Code) Open() error {
	if c == nil || c.Modules != nil {
		return nil
	}
	c.once.Do(func() {
		opened, err := archive.Open(*c.Archive)
		reason := ""
		switch {
		case *c.Archive == "":
			reason = archive.File + " is empty"
		case strings.HasPrefix(*c.Archive, "<<<<<<< ") || strings.Contains(*c.Archive, "\n<<<<<<< "):
			reason = archive.File + " has the conflict markers of a merge"
		case err != nil:
			reason = fmt.Sprintf("%s is damaged (%v)", archive.File, err)
		case opened.Sum() != c.Sum:
			reason = "quern_gen.go and " + archive.File + " do not belong together: one of them was edited, merged or left behind"
		}
		if reason != "" {
			c.err = &CodeError{Package: c.Package, Reason: reason}
		}
		c.opened = opened
	})
	return c.err
}

// Describe returns the description of the kernel that d declares.
func (c *Code) Describe(d *Declaration) (Kernel, error) {
	if err := c.Open(); err != nil {
		return Kernel{}, err
	}
	info, found, err := c.opened.Info(d.Name)
	if err == nil && !found {
		return Kernel{}, &CodeError{c.Package, d.Name, "", fmt.Sprintf("%s does not describe kernel %s: the file is damaged or out of date", archive.File, d.Name)}
	}
	var k Kernel
	if err == nil {
		k, err = parseInfo(info)
	}
	if err == nil && len(d.Special) > 0 && len(d.Special) != len(k.Special) {
		err = errInfo
	}
	if err != nil {
		return Kernel{}, &CodeError{c.Package, d.Name, "", fmt.Sprintf("%s is damaged (%v)", archive.File, err)}
	}
	k.Name, k.Package, k.Host, k.Plain = d.Name, c.Package, d.Host, d.Plain
	if !k.HostOnly {
		k.Code = c
	}
	for i, host := range d.Special {
		k.Special[i].Host = host
	}
	return k, nil
}

// Module returns the module of a variant of a kernel, or the module for older devices
// if older is set. The text is empty if older devices have none. Errors use shown as
// the name of the kernel.
func (c *Code) Module(kernel, variant string, older bool, shown string) (string, error) {
	if c == nil {
		return "", nil // the kernel runs on the CPU only
	}
	if err := c.Open(); err != nil {
		return "", err
	}
	text, found, err := c.text(kernel, variant, older)
	switch {
	case err != nil:
		return "", &CodeError{c.Package, shown, variant, fmt.Sprintf("%s is damaged (%v)", archive.File, err)}
	case !found && !older:
		return "", &CodeError{c.Package, shown, variant, fmt.Sprintf("%s has no code for variant %s of kernel %s: the file is damaged or out of date", archive.File, variant, shown)}
	}
	return text, nil
}

func (c *Code) text(kernel, variant string, older bool) (text string, found bool, err error) {
	if c.Modules == nil {
		return c.opened.Text(kernel, variant, older)
	}
	for _, m := range c.Modules {
		if m.Older == older && (m.Kernel == "" || m.Kernel == kernel && m.Variant == variant) {
			return m.Text, true, nil
		}
	}
	return "", false, nil
}
