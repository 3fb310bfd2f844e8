package lint

import (
	"cmp"
	"fmt"
	"slices"

	"quern.dev/internal/compiler"
	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/opt"
)

// Finding is a cause of slowness in a kernel.
type Finding struct {
	Kernel  string
	Handler bool // Kernel is the handler of an actor; Check does not set this
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

// Check returns its findings in a kernel of a package, in source order. Slow code in
// functions of other packages is not reported, because the kernel cannot change it. The
// error is the compiler's.
func Check(p *frontend.Package, k *compiler.Kernel) ([]Finding, error) {
	// Divisions are analysed in their source form.
	variants, err := opt.Config{Without: []string{"strength"}}.PTX(k.IR)
	if err != nil {
		return nil, err
	}
	final := variants[0].Kernel
	for _, v := range variants {
		if v.Coarse == nil { // a thread of the coarse form is several threads
			final = v.Kernel
			break
		}
	}
	c := &checker{kernel: final, source: p, work: cost(final.Func.Body), seen: map[string]bool{}}
	w := walk(final)
	c.coalescing(w.accesses)
	c.banks(w.accesses)
	c.contention(w.atomics)
	c.divergence(w)
	c.wide(final.Func.Body)
	c.bounds(k.IR)
	c.registers(k.Variants, final, variants[len(variants)-1].Kernel)
	slices.SortStableFunc(c.found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col))
	})
	return c.found, nil
}

type checker struct {
	kernel *ir.Kernel
	source *frontend.Package
	work   int // cost of the kernel
	found  []Finding
	seen   map[string]bool
}

// report adds a finding, once per rule and position.
func (c *checker) report(pos ir.Pos, rule, advice, format string, args ...any) {
	key := rule + pos.String()
	if c.seen[key] || !c.source.Owns(pos) {
		return
	}
	c.seen[key] = true
	c.found = append(c.found, Finding{Kernel: c.kernel.Name, Pos: pos, Rule: rule, Text: fmt.Sprintf(format, args...), Advice: advice})
}

// bounds reports kernels that assume a block size but do not declare it.
func (c *checker) bounds(k *ir.Kernel) {
	if k.Options.Block[0] > 0 || len(k.Shared) == 0 {
		return
	}
	at, found := c.source.Declared(k), false
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
