package ranges

import "quern.dev/internal/compiler/ir"

// Variant is a form of a kernel. It says what a launch must promise.
type Variant uint8

// The variants.
const (
	Narrow Variant = iota // exact if the launch meets Kernel.Limits
	Wide                  // exact for every launch
	Proven                // Narrow, and the limits also promise that most checks hold
)

func (v Variant) String() string { return [...]string{"narrow", "wide", "proven"}[v] }

// Apply computes the ranges of integers, removes checks that cannot fail, and gives int
// values that fit 32 bits the type int32. Except for the wide variant, it may set
// launch conditions for this in Kernel.Limits, including that every slice has fewer
// than 1<<31 elements.
func Apply(k *ir.Kernel, v Variant) {
	FreezeParams(k.Func)
	w := newWalker(k, v)
	w.list(k.Func.Body)
	w.settleConditions() // while checks that a launch must promise to pass are still present
	for check, sure := range w.proven {
		if sure {
			*check = false
		}
	}
	k.Limits = w.launchConditions()
	n := narrower{walk: w, narrow: map[*ir.Local]bool{}}
	n.kernel(k.Func)
}

// settleConditions replaces a statement whose condition is decided by the branch that
// runs. The other branch stays, behind a constant condition, if it contains all
// assignments to a variable that is read elsewhere, even in code that never runs.
func (w *walker) settleConditions() {
	all := newOccurrences(w.kernel.Func)
	r := ir.Rewriter{Stmt: func(st ir.Stmt) []ir.Stmt {
		s, ok := st.(*ir.If)
		d := w.decisions[s]
		if !ok || !d.always && !d.never || ir.MayFault(s.Cond) {
			return []ir.Stmt{st}
		}
		run, dropped := s.Then, s.Else
		if d.never {
			run, dropped = s.Else, s.Then
		}
		if all.drop(dropped) {
			return run
		}
		s.Cond = ir.BoolConst(d.always)
		return []ir.Stmt{s}
	}}
	w.kernel.Func.Body = r.Body(w.kernel.Func.Body)
}

// occurrences counts the uses of variables: all uses, and assignments.
type occurrences struct{ mentions, writes map[*ir.Local]int }

func newOccurrences(f *ir.Func) *occurrences {
	o := &occurrences{map[*ir.Local]int{}, map[*ir.Local]int{}}
	for _, v := range f.Params {
		o.writes[v]++
		o.mentions[v]++
	}
	o.add(f.Body)
	return o
}

func (o *occurrences) add(list []ir.Stmt) {
	v := ir.Visitor{Place: func(p ir.Place) bool {
		if p, ok := p.(*ir.VarPlace); ok {
			o.mentions[p.Var]++
		}
		return true
	}, Stmt: func(s ir.Stmt) bool {
		if a, ok := s.(*ir.Assign); ok {
			if p, ok := ir.Root(a.Dst).(*ir.VarPlace); ok {
				o.writes[p.Var]++
			}
		}
		for v := range ir.Defined(s) {
			o.writes[v]++
			o.mentions[v]++
		}
		return true
	}}
	v.Body(list)
}

// drop removes a list from the counts. It returns false, and removes nothing, if a
// variable is assigned only in the list and read outside it.
func (o *occurrences) drop(list []ir.Stmt) bool {
	gone := occurrences{map[*ir.Local]int{}, map[*ir.Local]int{}}
	gone.add(list)
	reads := func(c *occurrences, v *ir.Local) int { return c.mentions[v] - c.writes[v] }
	for v, n := range gone.writes {
		if o.writes[v] <= n && reads(o, v) > reads(&gone, v) {
			return false
		}
	}
	for v, n := range gone.mentions {
		o.mentions[v] -= n
		o.writes[v] -= gone.writes[v]
	}
	return true
}

// FreezeParams copies assigned parameters to variables, so that a parameter's name
// always means the launch argument.
func FreezeParams(f *ir.Func) {
	isParam := map[*ir.Local]bool{}
	for _, p := range f.Params {
		isParam[p] = true
	}
	copies := map[*ir.Local]*ir.Local{}
	var init []ir.Stmt
	assign := func(v *ir.Local) {
		t := v.Type
		if isParam[v] && copies[v] == nil && (t.IsInteger() || t.Kind == ir.Bool || t.Kind == ir.Slice) {
			copies[v] = &ir.Local{Name: v.Name, Type: t, Pos: v.Pos, Hidden: v.Hidden, Path: v.Path}
			f.Locals = append(f.Locals, copies[v])
			init = append(init, &ir.Assign{Dst: &ir.VarPlace{Var: copies[v]}, Src: ir.Get(v), Pos: v.Pos})
		}
	}
	find := ir.Visitor{Stmt: func(s ir.Stmt) bool {
		if a, ok := s.(*ir.Assign); ok {
			if v, ok := a.Dst.(*ir.VarPlace); ok {
				assign(v.Var)
			}
		}
		for v := range ir.Defined(s) {
			assign(v)
		}
		return true
	}}
	find.Body(f.Body)
	if init == nil {
		return
	}
	ir.Rename(f.Body, copies)
	f.Body = append(init, f.Body...)
}
