package fuzz

import (
	"fmt"
	"slices"
	"strings"
)

// callable is a function or method of the generated program.
type callable struct {
	name    string
	recv    *typ // of a method: a struct or a pointer to one
	generic bool
	params  []*typ
	results []*typ
	pure    bool // writes only its own variables
	thread  bool // takes the thread as a parameter
	cost    int  // of one call, in statements
}

// frame is the function being generated and the variables visible at the current position.
type frame struct {
	g        *generator
	b        *strings.Builder
	vars     []*variable
	labels   []string // of enclosing loops; "" for those without a label
	breaks   int      // number of enclosing statements that break leaves
	results  []*typ
	named    bool // the results have names
	thread   bool // t is a kernel.Thread
	noFaults bool // the code that follows must not fail
	leave    bool // may return or panic
	digest   bool // acc accumulates the values of variables
	kernel   bool
	trips    int // product of the trip counts of the enclosing loops
	cost     *int
	depth    int // nesting depth of statements
	nested   int // nesting depth of indices
	fresh    *int
	atomics  []*variable
	closures []*callable
	declared map[string]bool // short names declared in this block

	// For reductions:
	row     string      // the thread's own number below rows
	rows    int         // 0 if there are no sources
	counts  []*variable // numbers of iterations
	ends    *variable   // where each row ends, in a slice of total elements; nil if there is none
	total   int
	width   int       // number of elements per row
	threads int       // of a block along X, 0 if reductions do not depend on it
	tile    *variable // shared memory that is not written now
}

// most is the approximate maximum number of statements that a thread executes.
const most = 700

func (f *frame) line(format string, args ...any) {
	fmt.Fprintf(f.b, format, args...)
	f.b.WriteByte('\n')
	*f.cost += f.trips
}

// scope returns a frame for a nested block that writes to b.
func (f *frame) scope() *frame {
	in := *f
	in.vars = f.vars[:len(f.vars):len(f.vars)]
	in.labels = f.labels[:len(f.labels):len(f.labels)]
	in.closures = f.closures[:len(f.closures):len(f.closures)]
	in.depth++
	in.declared = map[string]bool{}
	return &in
}

// name returns a name for a variable: a new one or, as in code written by people, a short
// one that may shadow another variable.
func (f *frame) name() string {
	if f.depth > 0 && f.g.IntN(8) == 0 {
		name := pick(f.g, []string{"r", "l", "s", "g", "j", "err", "ok", "host", "run", "k", "e", "block", "thread"})
		if !f.declared[name] {
			f.declared[name] = true
			return name
		}
	}
	*f.fresh++
	return fmt.Sprintf("v%d", *f.fresh)
}

// add makes a variable visible. It shadows others with its name.
func (f *frame) add(v *variable) *variable {
	kept := make([]*variable, 0, len(f.vars)+1)
	for _, w := range f.vars {
		if w.name != v.name {
			kept = append(kept, w)
		}
	}
	f.vars = append(kept, v)
	return v
}

// inScope returns the set of visible variables.
func (f *frame) inScope() map[*variable]bool {
	set := map[*variable]bool{}
	for _, v := range f.vars {
		set[v] = true
	}
	return set
}

// callExpr returns a call of a pure function with one result.
func (f *frame) callExpr(t *typ, d int) string {
	g := f.g
	if f.nested > 0 {
		return f.leaf(t)
	}
	var fit []*callable
	for _, c := range slices.Concat(g.callables, f.closures) {
		if c.pure && len(c.results) == 1 && c.results[0].isBasic() && f.affordable(c) {
			fit = append(fit, c)
		}
	}
	if len(fit) == 0 {
		return f.leaf(t)
	}
	c := pick(g, fit)
	if c.generic {
		at := g.integerType()
		if c.params[0].form == float {
			at = pick(g, floats)
		}
		*f.cost += f.trips * c.cost
		explicit := ""
		if g.IntN(2) == 0 {
			explicit = "[" + at.text + "]"
		}
		return f.convert(fmt.Sprintf("%s%s(%s, %s)", c.name, explicit, f.expr(at, d), f.expr(at, d)), at, t)
	}
	text, ok := f.callText(c, d)
	if !ok {
		return f.leaf(t)
	}
	return f.convert(text, c.results[0], t)
}

func (f *frame) affordable(c *callable) bool {
	return (!c.thread || f.thread) && *f.cost+f.trips*c.cost < most
}

// callText returns a call of c. ok is false if there are no suitable arguments.
func (f *frame) callText(c *callable, d int) (text string, ok bool) {
	var args []string
	if c.thread {
		args = append(args, "t")
	}
	for _, p := range c.params {
		if p.form == slice || p.form == pointer {
			d = 0 // the order of evaluation of the arguments matters
		}
	}
	for _, p := range c.params {
		a, ok := f.argument(p, d)
		if !ok {
			return "", false
		}
		args = append(args, a)
	}
	*f.cost += f.trips * c.cost
	call := c.name + "(" + strings.Join(args, ", ") + ")"
	if c.recv == nil {
		return call, true
	}
	x := f.operandOf(c.recv)
	if x == "" {
		return "", false
	}
	return x + "." + call, true
}

// operandOf returns a variable or part of one that has type t, or points to a t. It
// returns "" if there is none.
func (f *frame) operandOf(t *typ) string {
	var fit []string
	for _, v := range f.vars {
		switch {
		case v.t.text == t.text, v.t.form == pointer && v.t.elem.text == t.text && t.form == structure:
			fit = append(fit, v.name)
		case t.form == pointer && !v.fixed && v.t.text == t.elem.text:
			fit = append(fit, v.name)
		case v.t.form == array && v.t.elem.text == t.text:
			fit = append(fit, fmt.Sprintf("%s[%s]", v.name, f.index(v.t.n)))
		}
	}
	if len(fit) == 0 {
		return ""
	}
	return pick(f.g, fit)
}

// argument returns an argument for a parameter of type t.
func (f *frame) argument(t *typ, d int) (string, bool) {
	g := f.g
	if t.isBasic() {
		return f.expr(t, d), true
	}
	var fit []string
	for _, v := range f.vars {
		switch {
		case v.t.text == t.text && (t.form != slice || !v.read && v.own == 0 && v.length >= 3):
			fit = append(fit, v.name)
		case t.form == pointer && v.t.text == t.elem.text && !v.fixed:
			fit = append(fit, "&"+v.name)
		case t.form == pointer && v.t.form == array && !v.fixed && v.t.elem.text == t.elem.text:
			fit = append(fit, fmt.Sprintf("&%s[%d]", v.name, g.IntN(v.t.n)))
		case t.form == slice && v.t.form == array && !v.fixed && v.t.elem.text == t.elem.text && v.t.n >= 3:
			fit = append(fit, v.name+"[:]")
			if v.t.n > 3 {
				fit = append(fit, v.name+"[1:]")
			}
		}
	}
	if len(fit) == 0 {
		return "", false
	}
	return pick(g, fit), true
}

// function declares a function or method.
func (g *generator) function() {
	cost, fresh := 0, 0
	f := &frame{g: g, b: &strings.Builder{}, trips: 1, cost: &cost, fresh: &fresh, leave: true}
	c := &callable{}
	switch n := g.IntN(8); {
	case n == 0:
		g.genericFunction(f, c)
	case n < 3:
		g.scalarFunction(f, c)
	case n < 5 && len(g.structs) > 0 && !strings.Contains(g.structs[0].text, "."):
		g.method(f, c)
	default:
		g.memoryFunction(f, c)
	}
	c.cost = cost + 1
	g.callables = append(g.callables, c)
	g.decls = append(g.decls, f.b.String())
}

// genericFunction declares func f[T constraint](x, y T) T.
func (g *generator) genericFunction(f *frame, c *callable) {
	c.name, c.generic, c.pure = g.global("gen"), true, true
	t := &typ{form: integer, text: "T", bits: 8, small: true}
	constraint := "kernel.Integer"
	if g.IntN(3) == 0 && !g.noFloats {
		t, constraint = &typ{form: float, text: "T", bits: 32, small: true}, "kernel.Float"
	}
	c.params, c.results = []*typ{t, t}, []*typ{t}
	f.results, f.noFaults = c.results, true
	f.line("func %s[T %s](x, y T) T {", c.name, constraint)
	f.add(&variable{name: "x", t: t})
	f.add(&variable{name: "y", t: t})
	for range g.IntN(3) {
		f.assignOf(f.vars[g.IntN(2)])
	}
	if g.IntN(2) == 0 {
		f.line("if %s {\nreturn %s\n}", f.condition(1), f.expr(t, 2))
	}
	f.line("return %s\n}", f.expr(t, 2))
}

// scalarFunction declares func f(numbers) number.
func (g *generator) scalarFunction(f *frame, c *callable) {
	c.name, c.pure, c.results = g.global("fun"), true, []*typ{g.basic()}
	var params []string
	if g.thread && g.IntN(4) == 0 {
		c.thread, f.thread = true, true
		params = append(params, "t kernel.Thread")
	}
	for i := range 1 + g.IntN(3) {
		v := f.add(&variable{name: string(rune('p' + i)), t: g.basic()})
		c.params = append(c.params, v.t)
		params = append(params, v.name+" "+v.t.text)
	}
	f.results = c.results
	result := c.results[0].text
	if g.IntN(3) == 0 {
		f.named = true
		result = "(res " + result + ")"
	}
	f.line("func %s(%s) %s {", c.name, strings.Join(params, ", "), result)
	if f.named {
		f.add(&variable{name: "res", t: c.results[0]})
	}
	f.body(1 + g.amount(3, 6))
	f.line("%s\n}", f.returning())
}

// method declares a method with a value or pointer receiver.
func (g *generator) method(f *frame, c *callable) {
	t := g.structs[0] // the program's own; there is at least one
	for range 3 {
		if other := pick(g, g.structs); !strings.Contains(other.text, ".") {
			t = other
		}
	}
	c.name, c.recv, c.pure, c.results = g.global("met"), t, true, []*typ{g.basic()}
	if g.IntN(2) == 0 {
		c.recv, c.pure = pointerTo(t), false
	}
	f.add(&variable{name: "q", t: c.recv, fixed: c.recv.form == pointer})
	v := f.add(&variable{name: "p", t: g.basic()})
	c.params, f.results = []*typ{v.t}, c.results
	f.line("func (q %s) %s(p %s) %s {", c.recv.text, c.name, v.t.text, c.results[0].text)
	f.body(1 + g.amount(2, 5))
	f.line("%s\n}", f.returning())
	t.methods = append(t.methods, c)
}

// memoryFunction declares a function that takes pointers, slices, structs and arrays and
// has one or two results.
func (g *generator) memoryFunction(f *frame, c *callable) {
	c.name = g.global("mem")
	var params []string
	for i := range 1 + g.IntN(4) {
		v := &variable{name: string(rune('p' + i))}
		switch g.IntN(4) {
		case 0:
			v.t = g.basic()
		case 1:
			v.t, v.length = sliceOf(g.basic()), 3
		case 2:
			v.t = g.composite()
		case 3:
			v.t, v.fixed = pointerTo(g.basic()), true
			if g.IntN(2) == 0 {
				v.t = pointerTo(g.composite())
			}
		}
		f.add(v)
		c.params = append(c.params, v.t)
		params = append(params, v.name+" "+v.t.text)
	}
	results := make([]string, 1+g.IntN(2))
	for i := range results {
		t := g.basic()
		if g.IntN(4) == 0 {
			t = g.composite()
		}
		c.results = append(c.results, t)
		results[i] = t.text
	}
	f.results = c.results
	f.line("func %s(%s) (%s) {", c.name, strings.Join(params, ", "), strings.Join(results, ", "))
	f.body(1 + g.amount(3, 7))
	f.line("%s\n}", f.returning())
}

// returning returns a return statement for the function.
func (f *frame) returning() string {
	if f.named && f.g.IntN(2) == 0 && f.visible("res") {
		return "return"
	}
	values := make([]string, len(f.results))
	for i, t := range f.results {
		values[i] = f.value(t)
	}
	return strings.TrimSpace("return " + strings.Join(values, ", "))
}

// visible reports whether the variable with that name is the function's result.
func (f *frame) visible(name string) bool {
	for _, v := range f.vars {
		if v.name == name {
			return v.t == f.results[0]
		}
	}
	return false
}

// value returns an expression of any type except slices and pointers.
func (f *frame) value(t *typ) string {
	g := f.g
	if t.isBasic() {
		return f.expr(t, 2)
	}
	if x := f.operandOf(t); x != "" && g.IntN(2) == 0 && !f.pointed(x, t) {
		return x
	}
	var elems []string
	switch {
	case t.form == structure && g.IntN(2) == 0:
		for _, x := range t.fields {
			if g.IntN(3) > 0 {
				elems = append(elems, x.name+": "+f.value(x.t))
			}
		}
	case t.form == structure:
		for _, x := range t.fields {
			elems = append(elems, f.value(x.t))
		}
	case g.IntN(3) == 0:
		i := g.IntN(t.n)
		elems = append(elems, fmt.Sprintf("%d: %s", i, f.value(t.elem)))
	default:
		for range 1 + g.IntN(t.n) {
			elems = append(elems, f.value(t.elem))
		}
	}
	return t.text + "{" + strings.Join(elems, ", ") + "}"
}

// pointed reports whether the variable is a pointer to a t, not a t.
func (f *frame) pointed(name string, t *typ) bool {
	for _, v := range f.vars {
		if v.name == name {
			return v.t.form == pointer && v.t.text != t.text
		}
	}
	return false
}

// closure declares a closure that reads the variables around it.
func (f *frame) closure() {
	g := f.g
	*f.fresh++
	c := &callable{name: fmt.Sprintf("fn%d", *f.fresh), pure: true, results: []*typ{g.basic()}, cost: 2}
	in := f.scope()
	in.labels, in.digest, in.kernel, in.leave = nil, false, false, false
	var params []string
	for i := range 1 + g.IntN(2) {
		p := &variable{name: fmt.Sprintf("%c%d", 'a'+rune(i), *f.fresh), t: g.basic()}
		c.params = append(c.params, p.t)
		params = append(params, p.name+" "+p.t.text)
		in.add(p)
	}
	in.results = c.results
	f.line("%s := func(%s) %s {", c.name, strings.Join(params, ", "), c.results[0].text)
	if g.IntN(3) == 0 {
		in.line("if %s {\nreturn %s\n}", in.condition(1), in.expr(c.results[0], 1))
	}
	in.line("return %s\n}", in.expr(c.results[0], 2))
	f.closures = append(f.closures, c)
	args := make([]string, len(c.params))
	for i, p := range c.params {
		args[i] = f.expr(p, 1)
	}
	*f.fresh++
	v := &variable{name: fmt.Sprintf("v%d", *f.fresh), t: c.results[0]}
	f.line("%s := %s(%s)", v.name, c.name, strings.Join(args, ", "))
	f.add(v)
}
