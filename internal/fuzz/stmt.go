package fuzz

import (
	"fmt"
	"slices"
	"strings"
)

// body generates n statements and, if f.digest is set, code that accumulates the variables
// that they declare.
func (f *frame) body(n int) {
	outer := f.inScope()
	for range n {
		if *f.cost > most {
			break
		}
		f.statement()
	}
	for _, v := range f.vars {
		if !outer[v] {
			f.collect(v)
		}
	}
}

// collect generates code that accumulates the value of a variable.
func (f *frame) collect(v *variable) {
	if !f.digest || v.name == "acc" || !f.has("acc") {
		f.line("_ = %s", v.name)
		return
	}
	saved := f.noFaults
	f.noFaults = true
	defer func() { f.noFaults = saved }()
	switch {
	case v.t.isBasic():
		f.line("acc = acc*31 + %s", f.hash(v.name, v.t))
	case v.t.form == array && v.t.elem.isBasic() && f.g.IntN(2) == 0:
		f.line("for _, e := range %s {\nacc = acc*31 + %s\n}", v.name, f.hash("e", v.t.elem))
	case v.t.form == pointer:
		text, t := f.place(v)
		f.line("acc = acc*31 + %s", f.hash(text, t))
	case v.t.form == slice:
		f.line("acc = acc*31 + uint64(len(%s))", v.name)
		if v.length > 0 {
			text, t := f.place(v)
			f.line("acc = acc*31 + %s", f.hash(text, t))
		}
	default:
		for _, leaf := range allLeaves(v.name, v.t, 8) {
			f.line("acc = acc*31 + %s", f.hash(leaf.name, leaf.t))
		}
	}
}

func (f *frame) has(name string) bool {
	for _, v := range f.vars {
		if v.name == name {
			return v.t == tUint64
		}
	}
	return false
}

// allLeaves returns up to n parts of basic type of a variable.
func allLeaves(text string, t *typ, n int) []*variable {
	switch {
	case t.isBasic():
		return []*variable{{name: text, t: t}}
	case t.form == array:
		var out []*variable
		for i := range t.n {
			if len(out) < n {
				out = append(out, allLeaves(fmt.Sprintf("%s[%d]", text, i), t.elem, n-len(out))...)
			}
		}
		return out
	}
	var out []*variable
	for _, x := range t.fields {
		if len(out) < n {
			out = append(out, allLeaves(text+"."+x.name, x.t, n-len(out))...)
		}
	}
	return out
}

// hash returns a value of basic type as a uint64 expression.
func (f *frame) hash(text string, t *typ) string {
	switch t.form {
	case float:
		return fmt.Sprintf("%s(float64(%s))", f.g.helper("image"), text)
	case boolean:
		return fmt.Sprintf("uint64(%s(%s))", f.g.helper("truth"), text)
	}
	return fmt.Sprintf("uint64(%s)", text)
}

func (f *frame) statement() {
	g := f.g
	if f.depth > 2+g.amount(1, 3) {
		f.assignment()
		return
	}
	if g.dense && f.hasSources() && f.depth < 2 && g.IntN(4) > 0 {
		if g.IntN(3) > 0 {
			f.reduction()
		} else {
			f.records()
		}
		return
	}
	switch n := g.IntN(46); {
	case n < 7:
		f.declaration()
	case n < 9:
		v := &variable{name: f.name(), t: g.composite()}
		if g.IntN(3) == 0 {
			f.line("var %s %s", v.name, v.t.text)
		} else {
			f.line("%s := %s", v.name, f.value(v.t))
		}
		f.add(v)
	case n < 13:
		f.branch()
	case n < 19:
		f.loop()
	case n < 21:
		f.switching()
	case n < 23:
		f.jump()
	case n < 26:
		f.callStatement()
	case n < 28:
		f.pointerStatement()
	case n < 30:
		f.sliceStatement()
	case n == 30:
		if g.IntN(2) == 0 {
			f.large()
			return
		}
		f.copyStatement()
	case n == 31:
		f.forward()
	case n == 32:
		f.guarded()
	case n == 33 && f.kernel:
		f.atomic()
	case n == 34 && f.leave:
		f.line("if %s {\n%s\n}", f.unlikely(), f.returning())
	case n == 35 && f.faulty() && f.leave:
		f.line("if %s {\npanic(\"reason %d\")\n}", f.unlikely(), g.IntN(10))
	case n == 36 && f.kernel && f.leave && g.IntN(2) == 0 && f.early():
	case n == 36:
		f.wideStatement()
	case n == 37 && f.nested == 0:
		f.closure()
	case n == 38 || n == 39:
		f.overlap()
	case n == 40 || n == 41:
		f.reduction()
	case n == 42:
		f.records()
	default:
		f.assignment()
	}
}

// unlikely returns a condition that is usually false.
func (f *frame) unlikely() string {
	return fmt.Sprintf("%s && %s", f.condition(1), f.condition(0))
}

// early generates a part for some of the threads, such as those at a border, or for all of them
// in some launches, which writes results and returns. It reports whether that is possible.
func (f *frame) early() bool {
	g := f.g
	named := func(name string) bool {
		return slices.ContainsFunc(f.vars, func(v *variable) bool { return v.name == name })
	}
	if !named("i") || !named("n") {
		return false
	}
	k := g.IntN(9)
	cond := pick(g, []string{
		fmt.Sprintf("i < %d", k), fmt.Sprintf("i >= n-%d", k), fmt.Sprintf("i == 0 || i == n-%d", 1+k),
		fmt.Sprintf("n > %d", 4*k), fmt.Sprintf("n&%d == 0", k),
	})
	f.line("if %s {", cond)
	in := f.scope()
	in.body(g.IntN(3))
	for _, v := range f.vars {
		if v.t.form == slice && !v.read && v.own > 0 && v.base != "" && v.t.elem.isBasic() && g.IntN(2) == 0 {
			in.line("%s[%s] = %s", v.name, in.at(window{v, v.base, v.own}, v.own), in.value(v.t.elem))
		}
	}
	in.line("%s\n}", in.returning())
	return true
}

func (f *frame) declaration() {
	g := f.g
	t := g.basic()
	v := &variable{name: f.name(), t: t}
	switch g.IntN(4) {
	case 0:
		f.line("var %s %s = %s", v.name, t.text, f.operand(t, 3))
	case 1:
		f.line("%s := %s(%s)", v.name, t.text, f.operand(t, 2))
	default:
		f.line("%s := %s", v.name, f.expr(t, 3))
	}
	f.add(v)
}

// assignable returns the variables with assignable parts.
func (f *frame) assignable() []*variable {
	var fit []*variable
	for _, v := range f.vars {
		if v.read || v.fixed && v.t.form != pointer && v.t.form != slice {
			continue
		}
		if v.t.form == slice && v.own == 0 && v.length == 0 {
			continue
		}
		fit = append(fit, v)
	}
	return fit
}

func (f *frame) assignment() {
	fit := f.assignable()
	if len(fit) == 0 {
		f.declaration()
		return
	}
	if f.g.IntN(8) == 0 {
		f.parallel(fit)
		return
	}
	f.assignOf(pick(f.g, fit))
}

// assignOf generates an assignment to v or a part of it.
func (f *frame) assignOf(v *variable) {
	g := f.g
	text, t := f.place(v)
	if t.form == boolean {
		f.line("%s = %s", text, f.expr(t, 2))
		return
	}
	switch n := g.IntN(10); {
	case n == 0 && t.form == integer:
		f.line("%s%s", text, pick(g, []string{"++", "--"}))
	case n < 4 && t.form == integer:
		switch op := pick(g, []string{"+", "-", "*", "&", "|", "^", "&^", "/", "%", "<<", ">>"}); op {
		case "/", "%":
			f.line("%s %s= %s", text, op, f.divisor(t, 1))
		case "<<", ">>":
			f.line("%s %s= %s", text, op, f.count(1))
		default:
			f.line("%s %s= %s", text, op, f.operand(t, 2))
		}
	case n < 3:
		f.line("%s %s= %s", text, pick(g, []string{"+", "-"}), f.operand(t, 2))
	default:
		f.line("%s = %s", text, f.operand(t, 3))
	}
}

// parallel generates an assignment to two places at once.
func (f *frame) parallel(fit []*variable) {
	f.noCalls(func() {
		a, at := f.place(pick(f.g, fit))
		b, bt := f.place(pick(f.g, fit))
		f.line("%s, %s = %s, %s", a, b, f.expr(at, 1), f.expr(bt, 1))
	})
}

// noCalls calls do, which then generates no calls.
func (f *frame) noCalls(do func()) {
	f.nested++
	do()
	f.nested--
}

func (f *frame) branch() {
	g := f.g
	in := f.scope()
	if g.IntN(4) == 0 {
		t := g.basic()
		v := &variable{name: f.name(), t: t}
		f.b.WriteString("if ")
		init := fmt.Sprintf("%s := %s", v.name, f.expr(t, 2))
		in.add(v)
		f.line("%s; %s {", init, in.conditionOn(v))
	} else {
		f.line("if %s {", f.condition(2))
	}
	in.scope().body(1 + g.amount(2, 4))
	if g.IntN(4) == 0 {
		f.line("} else if %s {", in.condition(1))
		in.scope().body(1 + g.IntN(2))
	}
	if g.IntN(2) == 0 {
		f.line("} else {")
		in.scope().body(1 + g.amount(2, 4))
	}
	f.line("}")
}

// conditionOn returns a condition on a variable of basic type.
func (f *frame) conditionOn(v *variable) string {
	if v.t.form == boolean {
		return v.name
	}
	return fmt.Sprintf("%s %s %s", v.name, f.g.comparison(), f.operand(v.t, 1))
}

func (f *frame) switching() {
	g := f.g
	t := g.integerType()
	tagless := g.IntN(3) == 0
	if tagless {
		f.line("switch {")
	} else {
		f.line("switch %s {", f.expr(t, 2))
	}
	used := map[string]bool{}
	n := 2 + g.IntN(3)
	deflt := g.IntN(n + 2)
	for i := range n {
		switch {
		case i == deflt:
			f.line("default:")
		case tagless:
			f.line("case %s:", f.condition(1))
		default:
			var values []string
			for range 1 + g.IntN(2) {
				c := g.constant(t)
				if g.IntN(4) == 0 {
					c = f.expr(t, 1)
				}
				if !used[c] {
					used[c] = true
					values = append(values, c)
				}
			}
			if len(values) == 0 {
				values = append(values, f.expr(t, 1))
			}
			f.line("case %s:", strings.Join(values, ", "))
		}
		in := f.scope()
		in.labels = nil // an unlabeled break would leave the switch
		for _, l := range f.labels {
			if l != "" {
				in.labels = append(in.labels, l)
			}
		}
		in.body(1 + g.IntN(2))
		switch {
		case i < n-1 && g.IntN(5) == 0:
			f.line("fallthrough")
		case g.IntN(8) == 0:
			f.line("break")
		}
	}
	f.line("}")
}

// callStatement generates a call of any function and stores its results.
func (f *frame) callStatement() {
	g := f.g
	var fit []*callable
	for _, c := range g.callables {
		if !c.generic && f.affordable(c) {
			fit = append(fit, c)
		}
	}
	if len(fit) == 0 {
		f.declaration()
		return
	}
	c := pick(g, fit)
	var text string
	ok := false
	f.noCalls(func() { text, ok = f.callText(c, 1) })
	if !ok {
		f.declaration()
		return
	}
	if g.IntN(6) == 0 {
		f.line("%s", text)
		return
	}
	names := make([]string, len(c.results))
	for i := range names {
		*f.fresh++
		names[i] = fmt.Sprintf("v%d", *f.fresh)
	}
	f.line("%s := %s", strings.Join(names, ", "), text)
	for i, n := range names {
		f.add(&variable{name: n, t: c.results[i]})
	}
}

// pointerStatement declares a pointer and sometimes reassigns it.
func (f *frame) pointerStatement() {
	g := f.g
	var fit []*variable
	for _, v := range f.vars {
		if !v.fixed && !v.read && v.name != "acc" && (v.t.isBasic() || v.t.form == array || v.t.form == structure) {
			fit = append(fit, v)
		}
	}
	if len(fit) == 0 {
		f.assignment()
		return
	}
	v := pick(g, fit)
	text, t := v.name, v.t
	if !t.isBasic() && g.IntN(2) == 0 {
		text, t = f.place(v)
	}
	p := &variable{name: f.name(), t: pointerTo(t), fixed: true}
	hides := slices.ContainsFunc(f.vars, func(w *variable) bool { return w.name == p.name })
	switch n := g.IntN(6); {
	case n > 1 || hides:
		f.line("%s := &%s", p.name, text)
	case n == 0 && f.faulty():
		f.line("var %s %s\nif %s {\n%s = &%s\n}", p.name, p.t.text, f.condition(1), p.name, text)
	default:
		f.line("var %s %s\nif %s {\n%s = &%s\n} else {\n%s = &%s\n}", p.name, p.t.text, f.condition(1), p.name, text, p.name, text)
	}
	f.add(p)
	if g.IntN(3) == 0 {
		for _, w := range fit {
			if w != v && w.t.text == t.text && w.name != p.name {
				f.line("if %s {\n%s = &%s\n}", f.condition(1), p.name, w.name)
				break
			}
		}
	}
	f.assignOf(p)
}

// sliceStatement slices an array or a slice.
func (f *frame) sliceStatement() {
	g := f.g
	var fit []*variable
	for _, v := range f.vars {
		switch {
		case v.t.form == array && !v.fixed && v.t.n >= 2, v.t.form == slice && v.own == 0 && v.length >= 2:
			fit = append(fit, v)
		}
	}
	if len(fit) == 0 {
		f.assignment()
		return
	}
	v := pick(g, fit)
	n := v.t.n
	if v.t.form == slice {
		n = v.length
	}
	s := &variable{name: f.name(), t: sliceOf(v.t.elem), fixed: true, read: v.read}
	switch lo := g.IntN(n); g.IntN(6) {
	case 0:
		f.line("%s := %s[:]", s.name, v.name)
		s.length = n
	case 1:
		f.line("%s := %s[%d:]", s.name, v.name, lo)
		s.length = n - lo
	case 2:
		f.line("%s := %s[:%s]", s.name, v.name, fmt.Sprint(lo+1))
		s.length = lo + 1
	case 3:
		hi := lo + g.IntN(n-lo) + 1
		f.line("%s := %s[%d:%d:%d]", s.name, v.name, lo, hi, hi)
		s.length = hi - lo
	case 4:
		if f.faulty() && !f.shares(v) {
			f.line("%s := %s[%s:]", s.name, v.name, f.expr(tInt, 1))
			break
		}
		f.line("%s := %s[%s:]", s.name, v.name, f.index(n))
		s.length = 1
	default:
		at := f.index(n)
		f.line("%s := %s[%s:%d]", s.name, v.name, at, n)
		s.length = 1
	}
	f.add(s)
}

// shares reports whether a slice also has elements of other threads.
func (f *frame) shares(v *variable) bool { return v.t.form == slice && v.read }

// copyStatement copies a value of composite type.
func (f *frame) copyStatement() {
	a, b := f.twoOf(func(t *typ) bool { return t.form == array || t.form == structure })
	if a == nil || a.fixed {
		f.assignment()
		return
	}
	if a == b {
		f.line("%s = %s", a.name, f.value(a.t))
		return
	}
	f.line("%s = %s", a.name, b.name)
}

// forward generates a forward jump with goto.
func (f *frame) forward() {
	*f.fresh++
	label := fmt.Sprintf("G%d", *f.fresh)
	f.line("if %s {\ngoto %s\n}\n{", f.condition(1), label)
	f.scope().body(1 + f.g.IntN(2))
	f.line("}\n%s:\n{", label)
	f.scope().body(1)
	f.line("}")
}

// guarded generates a use of an index under a condition that makes it valid.
func (f *frame) guarded() {
	g := f.g
	var fit []*variable
	for _, v := range f.vars {
		if v.t.form == slice && v.own == 0 {
			fit = append(fit, v)
		}
	}
	if len(fit) == 0 {
		f.branch()
		return
	}
	s := pick(g, fit)
	t := g.integerType()
	i := &variable{name: f.name(), t: t, within: s, fixed: true}
	if i.name == s.name {
		i.name = "guard"
	}
	f.line("%s := %s", i.name, f.expr(t, 2))
	var cond string
	switch g.IntN(3) {
	case 0:
		cond = fmt.Sprintf("uint64(%s) < uint64(len(%s))", i.name, s.name)
	case 1:
		cond = fmt.Sprintf("int64(%s) >= 0 && %s < %s", i.name, f.convert(i.name, t, tInt64), "int64(len("+s.name+"))")
	default:
		cond = fmt.Sprintf("!(int64(%s) < 0 || len(%s) <= int(%s))", i.name, s.name, i.name)
	}
	f.line("if %s {", cond)
	in := f.scope()
	in.add(i)
	if s.read {
		in.declaration()
		in.collect(in.vars[len(in.vars)-1])
	} else {
		in.assignOf(s)
	}
	in.body(1 + g.IntN(2))
	f.line("}")
	f.add(&variable{name: i.name, t: t})
}

// wideStatement calls a function of math/bits with two results.
func (f *frame) wideStatement() {
	g := f.g
	*f.fresh += 2
	a, b := fmt.Sprintf("v%d", *f.fresh-1), fmt.Sprintf("v%d", *f.fresh)
	t := pick(g, []*typ{tUint32, tUint64})
	name := strings.TrimPrefix(t.text, "uint")
	switch g.IntN(3) {
	case 0:
		f.line("%s, %s := bits.Mul%s(%s, %s)", a, b, name, f.expr(t, 2), f.expr(t, 2))
	case 1:
		f.line("%s, %s := bits.Add%s(%s, %s, %s&1)", a, b, name, f.expr(t, 2), f.expr(t, 2), f.expr(t, 1))
	default:
		f.line("%s, %s := bits.Sub%s(%s, %s, %s&1)", a, b, name, f.expr(t, 2), f.expr(t, 2), f.expr(t, 1))
	}
	f.add(&variable{name: a, t: t})
	f.add(&variable{name: b, t: t})
}
