package compiler

import (
	"context"
	"fmt"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"quern.dev/internal/archive"
	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/opt"
	"quern.dev/internal/compiler/ptx"
	"quern.dev/internal/limits"
)

// Kernel is a kernel compiled to PTX.
type Kernel struct {
	IR       *ir.Kernel // from the front end
	Variants []Variant  // fastest first; the last one has no launch conditions

	// Written says for each parameter whether it is a slice whose elements the kernel
	// may write.
	Written []bool

	// Special lists the forms for parameter values in the directive.
	Special []*Special
}

// Special is a form of a kernel in which parameters are constants.
type Special struct {
	*Kernel
	Name   string         // radius=1
	Limits limits.Program // the arguments have these values
}

// Variant is a module that is exact for launches that meet its limits.
type Variant struct {
	Name string // proven, narrow or wide
	*ptx.Module
	// Older is the module for devices that lack instructions of Module for which there
	// are replacements; nil if there are none.
	Older  *ptx.Module
	Limits limits.Program
	// Threads is the number of the kernel's threads, along X, that one thread of the
	// module runs; Adjacent says which. See ir.Coarsening.
	Threads  int
	Adjacent bool
}

// Compile compiles one kernel. The error describes an error in the kernel, or is a
// *frontend.Fault or the cause of ctx's cancellation.
func Compile(ctx context.Context, k *ir.Kernel) (_ *Kernel, err error) {
	defer frontend.Catch(&err, k.Func.Go.Package, k.Name)
	k.Func.Context = ctx
	variants, err := opt.PTX(k)
	if err != nil {
		return nil, err
	}
	out := &Kernel{IR: k, Written: variants[0].Written}
	for _, f := range k.Choices() {
		form, err := Compile(ctx, k.Specialised(f))
		if err != nil {
			return nil, err
		}
		out.Special = append(out.Special, &Special{form, k.FixedName(f), k.Conditions(f).Encode()})
	}
	for _, v := range variants {
		module, err := ptx.Emit(v.Kernel, ptx.Options{})
		if err != nil {
			return nil, err
		}
		older, err := replacement(v.Kernel, module)
		if err != nil {
			return nil, err
		}
		w := Variant{Name: v.Name, Module: module, Older: older, Limits: v.Limits.Encode(), Threads: 1}
		if c := v.Coarse; c != nil {
			w.Threads, w.Adjacent = c.Threads, c.Adjacent
		}
		out.Variants = append(out.Variants, w)
	}
	// A form with conditions that equals the one without is useless.
	wide := out.Variants[len(out.Variants)-1]
	out.Variants = slices.DeleteFunc(out.Variants, func(v Variant) bool {
		return v.Name != wide.Name && v.Threads == wide.Threads && v.Text == wide.Text
	})
	return out, nil
}

// oldest is the compute capability, times ten, of the oldest supported devices.
const oldest = 50

// replacement returns the module for devices older than those of m, nil if it would be
// the same.
func replacement(k *ir.Kernel, m *ptx.Module) (*ptx.Module, error) {
	if !m.Replaceable {
		return nil, nil
	}
	older, err := ptx.Emit(k, ptx.Options{Target: oldest})
	if err != nil || older.Target == m.Target {
		return nil, err
	}
	if _, only := strings.CutSuffix(m.Target, "a"); !only {
		return older, nil
	}
	// Newer devices use it too: it may have all that its own target has.
	need, err := strconv.Atoi(strings.TrimPrefix(older.Target, "sm_"))
	if err != nil {
		return nil, err
	}
	return ptx.Emit(k, ptx.Options{Target: need})
}

// Text compiles the named kernel in one Go source file. The name of an instance of a
// generic kernel includes its type arguments, as in scale[float32]; the kernel's
// directive need not list them. An empty name means the only kernel of the file.
//
// When ctx ends, Text soon returns its cause. Exceeding a size limit is an error.
func Text(ctx context.Context, file, src, name string) (_ *Kernel, err error) {
	defer frontend.Catch(&err, file, "")
	if len(src) > maxText {
		return nil, fmt.Errorf("%s has %d bytes; the limit is %d", file, len(src), maxText)
	}
	p, err := frontend.Text(ctx, file, src)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	var wanted []string
	if name != "" {
		wanted = []string{name}
	}
	prog, err := p.Lower(wanted...)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, k := range prog.Kernels {
		if k.Name == strings.ReplaceAll(name, " ", "") || name == "" && len(prog.Kernels) == 1 {
			if err := checkSize(k); err != nil {
				return nil, err
			}
			return Compile(ctx, k)
		}
		names = append(names, k.Name)
	}
	switch {
	case len(names) == 0 && slices.Contains(p.GenericKernels(), name):
		return nil, fmt.Errorf("%s: kernel %s is generic; name an instance with its type arguments, such as %s[float32]", file, name, name)
	case len(names) == 0:
		return nil, fmt.Errorf("%s has no kernels; mark one with //quern:kernel", file)
	case name == "":
		return nil, fmt.Errorf("%s has several kernels (%v); name one", file, names)
	}
	return nil, fmt.Errorf("%s has no kernel %s; it has %v", file, name, names)
}

// Limits of what Text compiles, so that untrusted source takes at most seconds and some
// hundred megabytes.
const (
	maxText  = 1 << 20 // bytes
	maxNodes = 1 << 18 // statements and expressions in all special forms together
	maxLoops = 1 << 12 // the same for loops; each loop repeats the analysis of values
)

// checkSize returns Diagnostics if a kernel is too large for Text.
func checkSize(k *ir.Kernel) error {
	nodes, loops := 0, 0
	counted := map[*ir.Func]bool{}
	var count func(f *ir.Func)
	count = func(f *ir.Func) {
		if counted[f] {
			return
		}
		counted[f] = true
		v := ir.Visitor{
			Stmt: func(s ir.Stmt) bool {
				nodes++
				switch s := s.(type) {
				case *ir.Call:
					count(s.Func)
				case *ir.Loop:
					loops++
				}
				return true
			},
			Expr: func(ir.Expr) bool { nodes++; return true },
		}
		v.Body(f.Body)
	}
	count(k.Func)
	tables := 0
	for _, t := range k.Tables {
		tables += len(t.Data)
	}
	forms := 1 + len(k.Choices())
	var what string
	switch {
	case nodes*forms > maxNodes:
		what = fmt.Sprintf("it has %d statements and expressions in %d forms; the limit is %d in all", nodes, forms, maxNodes)
	case loops*forms > maxLoops:
		what = fmt.Sprintf("it has %d loops in %d forms; the limit is %d in all", loops, forms, maxLoops)
	case tables*forms > frontend.MaxTableBytes:
		what = fmt.Sprintf("it reads package-level variables and constant strings of %d bytes in %d forms; the limit is %d in all", tables, forms, frontend.MaxTableBytes)
	default:
		return nil
	}
	pos := k.Func.Pos
	return frontend.Diagnostics{{
		Pos:    token.Position{Filename: pos.File, Line: pos.Line, Column: pos.Col},
		Kernel: k.Name,
		Msg:    "the kernel is too large: " + what,
	}}
}

// Modules returns the modules of the kernel and its special forms.
func (k *Kernel) Modules() []archive.Module {
	if k.IR.Options.Only == "cpu" {
		return nil
	}
	var modules []archive.Module
	for _, v := range k.Variants {
		modules = append(modules, archive.Module{Kernel: k.IR.Name, Variant: v.Name, Text: v.Text})
		if v.Older != nil {
			modules = append(modules, archive.Module{Kernel: k.IR.Name, Variant: v.Name, Older: true, Text: v.Older.Text})
		}
	}
	for _, s := range k.Special {
		modules = append(modules, s.Modules()...)
	}
	return modules
}
