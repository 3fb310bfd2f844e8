package lint

import (
	"cmp"
	"fmt"
	"slices"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/opt"
	"quern.dev/internal/compiler/ptx"
	"quern.dev/internal/ptxas"
)

// Finding is something that makes a kernel slow.
type Finding struct {
	Kernel  string
	Handler bool // Kernel is the handler of an actor; Check does not know
	Pos     ir.Pos
	Rule    string // "uncoalesced", "bank conflict", ...
	Text    string // what was found
	Advice  string // what to try
}

func (f Finding) String() string {
	what := "kernel"
	if f.Handler {
		what = "handler"
	}
	return fmt.Sprintf("%s: %s %s: %s: %s; %s", f.Pos, what, f.Kernel, f.Rule, f.Text, f.Advice)
}

// Architecture is the one that spills are looked for on, with ptxas.
const Architecture = "sm_90"

// Check returns what it finds in a kernel, as the front end made it, in source
// order. The error is the compiler's.
func Check(k *ir.Kernel) ([]Finding, error) {
	variants, err := opt.PTX(k)
	if err != nil {
		return nil, err
	}
	final := variants[0].Kernel
	for _, v := range variants {
		if v.Coarse == nil { // the coarse form is of several threads
			final = v.Kernel
			break
		}
	}
	c := &checker{kernel: final, seen: map[string]bool{}}
	w := walk(final)
	c.coalescing(w.accesses)
	c.banks(w.accesses)
	c.divergence(w)
	c.wide(final.Func.Body)
	c.bounds(k)
	if err := c.memory(final); err != nil {
		return nil, err
	}
	slices.SortStableFunc(c.found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col))
	})
	return c.found, nil
}

type checker struct {
	kernel *ir.Kernel
	found  []Finding
	seen   map[string]bool
}

// report adds a finding, once for each rule and place.
func (c *checker) report(pos ir.Pos, rule, advice, format string, args ...any) {
	key := rule + pos.String()
	if c.seen[key] {
		return
	}
	c.seen[key] = true
	c.found = append(c.found, Finding{Kernel: c.kernel.Name, Pos: pos, Rule: rule, Text: fmt.Sprintf(format, args...), Advice: advice})
}

// memory reports variables that live in local memory, and spills where the
// assembler is there to tell.
func (c *checker) memory(k *ir.Kernel) error {
	m, err := ptx.Emit(k, ptx.Options{OmitLines: true})
	if err != nil {
		return err
	}
	if m.LocalBytes > 0 {
		v := c.local(k)
		c.report(v.Pos, "local memory", "index it by constants (loops with constant bounds are unrolled), or keep it in shared memory",
			"%s is indexed by a variable, so that %d bytes a thread live in memory", v.Name, m.LocalBytes)
	}
	if _, err := ptxas.Find(); err != nil || len(c.found) > 0 && m.LocalBytes > 0 {
		return nil
	}
	info, err := ptxas.Assemble(m.Text, Architecture)
	if err != nil {
		return nil // the target may be beyond what the assembler knows
	}
	if spilled := info.SpillLoads + info.SpillStores; spilled > 0 {
		c.report(k.Func.Pos, "spills", "declare a smaller block= or fewer minblocks=, or let a thread hold fewer values at once",
			"%d registers are not enough: %d bytes are written to and read from memory", info.Registers, spilled)
	}
	return nil
}

// local is the largest variable that is left in memory.
func (c *checker) local(k *ir.Kernel) *ir.Local {
	best := &ir.Local{Name: "a variable", Type: ir.TBool, Pos: k.Func.Pos}
	for _, v := range k.Func.Locals {
		if v.Type.IsAggregate() && v.Type.Size() >= best.Type.Size() {
			best = v
		}
	}
	if best.Pos.Line == 0 {
		best = &ir.Local{Name: best.Name, Type: best.Type, Pos: k.Func.Pos}
	}
	if best.Hidden {
		best = &ir.Local{Name: "a value", Type: best.Type, Pos: best.Pos}
	}
	return best
}

// bounds reports kernels that assume a block and do not declare it.
func (c *checker) bounds(k *ir.Kernel) {
	if k.Options.Block[0] > 0 || len(k.Shared) == 0 {
		return
	}
	at, found := k.Func.Pos, false
	v := ir.Visitor{Place: func(p ir.Place) bool {
		i, ok := p.(*ir.IndexPlace)
		if !ok || found {
			return !found
		}
		if _, shared := ir.Root(i).(*ir.SharedPlace); shared && readsThread(i.Index) {
			at, found = i.Pos, true
		}
		return !found
	}}
	v.Body(c.kernel.Func.Body)
	if found {
		c.report(at, "launch bounds", "declare the block that the array is made for, as in //quern:kernel block=256",
			"shared memory is indexed by the thread's place in a block whose size is not declared")
	}
}

func readsThread(e ir.Expr) bool {
	found := false
	v := ir.Visitor{Expr: func(e ir.Expr) bool {
		if t, ok := e.(*ir.ThreadValue); ok && t.Op <= ir.ThreadIdxZ {
			found = true
		}
		return !found
	}}
	v.Value(e)
	return found
}
