package compiler

import (
	"fmt"

	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/opt"
	"quern.dev/internal/compiler/ptx"
	"quern.dev/internal/limits"
)

// Kernel is a kernel compiled to PTX.
type Kernel struct {
	IR *ir.Kernel // as the front end made it

	// Narrow is exact for launches that meet Limits, Wide for all. Wide is nil
	// when there are no limits.
	Narrow, Wide *ptx.Module
	Limits       limits.Program
}

// Compile compiles one kernel. The error says what is wrong with the kernel, or
// is a fault of the compiler.
func Compile(k *ir.Kernel) (*Kernel, error) {
	narrow, wide, err := opt.PTX(k)
	if err != nil {
		return nil, err
	}
	out := &Kernel{IR: k}
	if out.Narrow, err = ptx.Emit(narrow, ptx.Options{}); err != nil {
		return nil, err
	}
	if wide == nil {
		return out, nil
	}
	if out.Wide, err = ptx.Emit(wide, ptx.Options{}); err != nil {
		return nil, err
	}
	out.Limits = opt.EncodeLimits(narrow.Limits)
	return out, nil
}

// Text compiles the kernel with that name in one file of Go source text. An
// empty name means the only kernel of the file.
func Text(file, src, name string) (*Kernel, error) {
	p, err := frontend.Text(file, src)
	if err != nil {
		return nil, err
	}
	prog, err := p.Lower()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, k := range prog.Kernels {
		if k.Name == name || name == "" && len(prog.Kernels) == 1 {
			return Compile(k)
		}
		names = append(names, k.Name)
	}
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("%s has no kernels; mark one with //quern:kernel", file)
	case name == "":
		return nil, fmt.Errorf("%s has several kernels (%v); name one", file, names)
	}
	return nil, fmt.Errorf("%s has no kernel %s; it has %v", file, name, names)
}

// Section is the line that stands before a module in a file of several.
func Section(kernel string, wide bool) string {
	variant := "narrow"
	if wide {
		variant = "wide"
	}
	return "//quern:module " + kernel + " " + variant + "\n"
}

// PTX is the text of the kernel's modules, each behind its section line.
func (k *Kernel) PTX() string {
	text := Section(k.IR.Name, false) + k.Narrow.Text
	if k.Wide != nil {
		text += "\n" + Section(k.IR.Name, true) + k.Wide.Text
	}
	return text
}
