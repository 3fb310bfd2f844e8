package fuzz

import (
	"fmt"
	"slices"
	"strings"

	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/opt"
	"quern.dev/internal/compiler/ptx"
	"quern.dev/internal/limits"
)

// Mismatch is a program with a wrong result.
type Mismatch struct {
	*Case
	Where string // what is wrong: "sim narrow", "cpu", "compile"
	What  string // how it is wrong
}

func (m *Mismatch) Error() string {
	return fmt.Sprintf("seed %d: %s: %s", m.Seed, m.Where, m.What)
}

// Checker runs programs in this process: in the interpreter and on devices.
type Checker struct {
	Devices []*Device
	// Metamorphic adds other forms of the kernel besides its own variants.
	Metamorphic bool
	AllForms    bool // check all forms, not only one that the seed selects
}

// Check runs the program. It returns the first mismatch, or nil if there is none.
func (ch *Checker) Check(c *Case) *Mismatch {
	_, m := ch.check(c)
	return m
}

// check is Check and also returns the reference, which is nil if the program does not
// compile.
func (ch *Checker) check(c *Case) (*reference, *Mismatch) {
	fail := func(where, format string, args ...any) *Mismatch {
		return &Mismatch{c, where, fmt.Sprintf(format, args...)}
	}
	k, err := lower("p.go", c.Source)
	if err != nil {
		return nil, fail("compile", "%v", err)
	}
	ref, err := c.refer(k)
	if err != nil {
		return nil, fail("reference", "%v", err)
	}
	type module struct{ device, text string }
	checked := map[module]bool{}
	onGPU := false
	for _, form := range ch.forms(c, ref) {
		variants, err := form.compile(k)
		if err != nil {
			return ref, fail("compile", "%s: %v", form.name, err)
		}
		if diff := ref.changed(c, variants[0].written); diff != "" {
			return ref, fail("compile", "%s: %s", form.name, diff)
		}
		// Compilation in the driver takes longer than everything else, so a GPU runs only
		// one of the variants. The seed says where the search for it begins.
		first := int(c.Seed % uint64(len(variants)))
		for _, v := range slices.Concat(variants[first:], variants[:first]) {
			for _, d := range ch.Devices {
				if checked[module{d.Name, v.Text}] {
					continue // a pass that had nothing to do can be omitted
				}
				if onGPU && d.Name != "sim" && !ch.AllForms {
					continue
				}
				where := strings.Join(strings.Fields(d.Name+" "+form.name+" "+v.name), " ")
				out, err := d.run(c, k, &v)
				if err != nil {
					return ref, fail(where, "%v", err)
				}
				if out == nil {
					continue
				}
				checked[module{d.Name, v.Text}] = true
				onGPU = onGPU || d.Name != "sim"
				if diff := ref.compare(out); diff != "" {
					return ref, fail(where, "%s", diff)
				}
			}
		}
	}
	return ref, nil
}

// form is one way to compile a kernel.
type form struct {
	name    string
	options opt.Config
	target  int                // PTX target; 0 for the lowest one that the kernel needs
	change  func(k *ir.Kernel) // runs before the passes; nil for no change
}

type compiled struct {
	name string
	*ptx.Module
	Limits  limits.Program
	coarse  *ir.Coarsening
	written []bool
}

func (f *form) compile(k *ir.Kernel) (_ []compiled, err error) {
	defer frontend.Catch(&err, "p.go", k.Name)
	if f.change != nil {
		k = ir.CloneKernel(k)
		f.change(k)
	}
	variants, err := f.options.PTX(k)
	if err != nil {
		return nil, err
	}
	var out []compiled
	for _, v := range variants {
		m, err := ptx.Emit(v.Kernel, ptx.Options{Target: f.target})
		if err != nil {
			return nil, err
		}
		out = append(out, compiled{v.Name, m, v.Limits.Encode(), v.Coarse, v.Written})
	}
	return out, nil
}

// forms returns the ways to compile that must give the same result: the compiler's own and
// one other that the seed selects, or all with AllForms.
func (ch *Checker) forms(c *Case, ref *reference) []form {
	own := form{options: opt.Config{Small: true}}
	if !ch.Metamorphic {
		return []form{own}
	}
	others := []form{
		{name: "without unroll", options: opt.Config{Without: []string{"unroll", "trips"}}},
		{name: "without fold", options: opt.Config{Without: []string{"fold", "late fold"}}},
		{name: "without strength", options: opt.Config{Without: []string{"strength", "fuse"}}},
		{name: "without gather", options: opt.Config{Without: []string{"gather"}}},
		{name: "without ranges", options: opt.Config{Without: []string{"ranges"}}},
		{name: "plain", options: opt.Config{Without: []string{"unroll", "fold", "late fold", "strength", "fuse", "gather", "ranges", "hoist", "trips", "batch"}}},
		{name: "without batch", options: opt.Config{Without: []string{"hoist", "batch"}}},
		{name: "older", target: 50},
	}
	if len(ref.faults) == 0 {
		others = append(others, form{name: "unchecked", change: func(k *ir.Kernel) { k.Options.Unchecked = true }})
	}
	if ch.AllForms {
		return append([]form{own}, others...)
	}
	if c.Seed%3 > 0 {
		return []form{own}
	}
	return []form{own, others[c.Seed/3%uint64(len(others))]}
}
