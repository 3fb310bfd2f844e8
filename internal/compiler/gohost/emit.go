package gohost

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/opt"
)

const (
	kernelPath = "quern.dev/kernel"
	hostPath   = "quern.dev/kernel/host"
)

// Error says why a kernel cannot be converted to Go.
type Error struct {
	Kernel string
	Msg    string
}

func (e *Error) Error() string { return fmt.Sprintf("kernel %s: %s", e.Kernel, e.Msg) }

// FuncName returns the name of the function that Emit generates for a kernel.
func FuncName(kernel string) string {
	return "quernHost" + strings.ToUpper(kernel[:1]) + ir.Identifier(kernel)[1:]
}

// Emit returns the declaration of the function that runs a kernel on the CPU. k is the
// kernel as the front end built it; Emit does not change it. Packages that the
// declaration uses are added to imports. The error is an *Error.
func Emit(k *ir.Kernel, imports *Imports) (string, error) { return emit(k, imports, false) }

// EmitBlock is like Emit, but the function runs only the current block of its Run. It
// takes the kernel's parameters as Go parameters after the Run.
func EmitBlock(k *ir.Kernel, imports *Imports) (string, error) { return emit(k, imports, true) }

func emit(k *ir.Kernel, imports *Imports, block bool) (string, error) {
	k = opt.Host(k)
	flatten(k.Func)
	keepParams(k.Func)
	if err := predicate(k); err != nil {
		return "", err
	}
	f := newFacts(k)
	p := newPlan(k, f)
	if conditions(k.Func, f, p.block) {
		f = newFacts(k)
		p = newPlan(k, f)
	}
	if snapshots(k, p) {
		f = newFacts(k)
		p = newPlan(k, f)
	}
	if opt.Jam(k.Func, p.inner, jamCopies) {
		f = newFacts(k)
		p = newPlan(k, f)
	}
	wide := !block && isWide(k)
	// The first run collects the package-level names that local names must not hide.
	var reserved map[string]bool
	for range 2 {
		e := newEmitter(k, f, p, imports, reserved)
		e.oneBlock, e.wide = block, wide
		e.functions = &functions{opt.NewTruncations(imports.pkg), map[*ir.Func]string{}, nil}
		text := e.function()
		if e.err != nil {
			return "", e.err
		}
		if reserved != nil {
			return text, nil
		}
		reserved = e.reserved
	}
	panic("unreachable")
}

// keepParams makes the body assign to copies of its parameters, so that the parameters
// keep their launch values.
func keepParams(f *ir.Func) {
	facts := newFacts(&ir.Kernel{Func: f})
	var copies []ir.Stmt
	for i, v := range f.Params {
		if !facts.reassigned(v) {
			continue
		}
		param := &ir.Local{Name: v.Name, Type: v.Type, Pos: v.Pos}
		f.Params[i] = param
		f.Locals = append(f.Locals, v)
		copies = append(copies, &ir.Assign{Dst: &ir.VarPlace{Var: v}, Src: ir.Get(param), Pos: v.Pos})
	}
	f.Body = append(copies, f.Body...)
}

// emitter generates the code of one kernel.
type emitter struct {
	kernel   *ir.Kernel
	imports  *Imports
	facts    *facts
	plan     *plan
	names    *names
	reserved map[string]bool // package-level and import names in use
	err      *Error

	out     *text // current output
	targets []target
	scopes  *scopes

	// sections hold declarations that are made when first needed, by the level at which
	// they are computed; root is the section of the launch. current is the level of the
	// current code: values of lower levels are computed outside it.
	sections [perThread + 1]*section
	root     *section
	dims     [ir.GridDimZ + 1]bool // coordinates of the launch and the block in use
	current  level
	params   map[*ir.Local]bool // in use
	read     map[*ir.Local]bool // block variables that the text reads
	rows     []*text            // functions that run rows of threads
	warp     *warpNames         // set while code for one warp is generated
	avoid    map[string]bool    // package-level names that local ones must not hide

	functions *functions
	copied    *ir.Func // the function being copied; nil: the kernel
	oneBlock  bool     // the kernel's function runs one block and has the kernel's parameters
	wide      bool     // a row of threads continues through several blocks
	allRows   bool     // the current function runs all rows of the block

	// State of the current region: the thread coordinates that it reads, the parameters
	// of its function, and the parts of slices that it indexes from 0.
	axes    [3]bool
	free    *arguments
	windows *windows
	edges   *edges
	beside  *abreastLoops // while code for several threads is printed
	rowDone *label
	dead    map[*ir.Local]bool // variables whose value the region does not need
	grouped map[ir.Expr]bool   // sums that get a variable
}

func newEmitter(k *ir.Kernel, f *facts, p *plan, imports *Imports, reserved map[string]bool) *emitter {
	e := &emitter{
		kernel: k, imports: imports, facts: f, plan: p,
		names: newNames(reserved), avoid: reserved, reserved: map[string]bool{},
		scopes: newScopes(), params: map[*ir.Local]bool{}, read: map[*ir.Local]bool{}, grouped: map[ir.Expr]bool{},
	}
	e.root = e.newSection(perLaunch)
	e.sections[perLaunch] = e.root
	e.sections[perBlock] = e.newSection(perBlock)
	return e
}

func (e *emitter) failf(format string, args ...any) {
	if e.err == nil {
		e.err = &Error{Kernel: e.kernel.Name, Msg: fmt.Sprintf(format, args...)}
	}
}

func (e *emitter) reserve(name string) { e.reserved[name] = true }

// function generates the function.
func (e *emitter) function() string {
	// Parameters keep their names if possible.
	for _, v := range e.kernel.Func.Params {
		e.names.name(v, v.Name)
	}
	host := e.member(hostPath, "Run")
	blocks := target{label: e.newLabel("blocks"), loop: true, returns: true}
	body := &text{}
	e.out, e.current, e.targets = body, perBlock, []target{blocks}
	e.items(e.plan.items)
	e.keepUnread()

	whole := &text{}
	if e.oneBlock {
		whole.add("func %s(r *%s%s) {", FuncName(e.kernel.Name), host, e.parameters())
		whole.depth++
		for op := ir.BlockIdxX; op <= ir.GridDimZ; op++ {
			e.declareCoordinate(whole, op)
		}
		whole.splice(e.root.text)
		whole.splice(e.sections[perBlock].text)
		whole.splice(body)
	} else {
		e.blocks(whole, host, blocks.label, body)
	}
	whole.depth--
	whole.add("}")
	s := whole.String()
	for _, f := range slices.Concat(e.rows, e.functionCopies()) {
		s += "\n" + f.String()
	}
	return s
}

// parameters prints the parameters of a function that runs one block.
func (e *emitter) parameters() string {
	var b strings.Builder
	for _, v := range e.kernel.Func.Params {
		fmt.Fprintf(&b, ", %s %s", e.names.name(v, v.Name), e.typ(v.Type))
	}
	return b.String()
}

// blocks generates a function that runs all blocks that its Run hands out. Its
// parameters are the launch arguments.
func (e *emitter) blocks(whole *text, host string, blocks *label, body *text) {
	whole.add("func %s(r *%s) {", FuncName(e.kernel.Name), host)
	whole.depth++
	var names, values []string
	for i, v := range e.kernel.Func.Params {
		if !e.params[v] {
			continue
		}
		get, t := "Value", v.Type
		if v.Type.Kind == ir.Slice && v.Type.Name == "" {
			get, t = "Slice", v.Type.Elem
		}
		s := fmt.Sprintf("%s[%s](r, %d)", e.member(hostPath, get), e.typ(t), i)
		if v.Type.Kind == ir.Slice && v.Type.Name != "" {
			s = e.conversion(v.Type, fmt.Sprintf("%s[%s](r, %d)", e.member(hostPath, "Slice"), e.typ(t.Elem), i))
		}
		names, values = append(names, e.names.name(v, v.Name)), append(values, s)
	}
	if len(names) > 0 {
		whole.add("%s := %s", strings.Join(names, ", "), strings.Join(values, ", "))
	}
	for op := ir.BlockDimX; op <= ir.GridDimZ; op++ {
		e.declareCoordinate(whole, op)
	}
	whole.splice(e.root.text.joined(e.imports.Name(hostPath) + "."))
	whole.label(blocks)
	e.nextBlocks(whole)
	whole.depth++
	for op := ir.BlockIdxX; op <= ir.BlockIdxZ; op++ {
		e.declareCoordinate(whole, op)
	}
	whole.splice(e.sections[perBlock].text)
	whole.splice(body)
	whole.depth--
	whole.add("}")
}

// declareCoordinate declares a block or launch coordinate that is used.
func (e *emitter) declareCoordinate(t *text, op ir.ThreadOp) {
	if !e.dims[op] {
		return
	}
	field := [...]string{ir.BlockIdxX: "BlockIdx", ir.BlockDimX: "BlockDim", ir.GridDimX: "GridDim"}[op-op%3]
	t.add("%s := r.%s.%c", e.names.of[op], field, "XYZ"[op%3])
}

// section is a list of declarations. Each is made when first requested.
type section struct {
	e    *emitter
	text *text
	temp map[string]string // name by value
	has  map[any]bool

	// For a loop around rows of threads, outer is the section of the code around the
	// loop. Declarations that do not depend on names of this section belong there.
	outer *section
	names map[string]bool

	inFunction bool // of a region
}

func (e *emitter) newSection(l level) *section {
	return &section{
		e: e, text: &text{}, temp: map[string]string{}, has: map[any]bool{}, names: map[string]bool{},
		inFunction: e.inFunction(l),
	}
}

// value declares a variable for a value of the printed type and returns its name; equal
// texts share one variable.
func (s *section) value(want, typ, value string) string {
	here := s.inFunction
	s = s.outermost(value)
	name, ok := s.temp[value]
	if !ok {
		name = s.e.names.fresh(want)
		s.temp[value] = name
		s.declare(name, name+" := "+value)
	}
	if here {
		return name
	}
	return s.e.outer(name, typ)
}

// once calls declare if the section does not have key.
func (s *section) once(key any, declare func(t *text)) {
	if !s.has[key] {
		s.has[key] = true
		declare(s.text)
	}
}

// outermost returns the outermost section in which the text means the same.
func (s *section) outermost(text string) *section {
	for s.outer != nil && !slices.ContainsFunc(identifiers(text), func(name string) bool { return s.names[name] }) {
		s = s.outer
	}
	return s
}

func (s *section) declare(name, text string) {
	s.names[name] = true
	s.text.add("%s", text)
}

// identifiers returns the words of a line of Go.
func identifiers(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) })
}

// at runs f at a level.
func (e *emitter) at(l level, f func()) {
	current, free := e.current, e.free
	e.current = l
	if !e.inFunction(l) {
		e.free = nil
	}
	f()
	e.current, e.free = current, free
}

// inFunction reports whether code of a level is in the function of a region: that of the
// thread and, if the function runs all rows, that of the row and the region.
func (e *emitter) inFunction(l level) bool { return l >= perThread || e.allRows && l >= perRegion }

// hoist returns the name of a variable with the value of x, computed at an outer level,
// or "" if x is to be computed in place.
func (e *emitter) hoist(x ir.Expr) string {
	if b, ok := x.(*ir.Binary); ok && (b.Op.IsComparison() || b.Op.IsLogical()) || x.Type().IsAggregate() {
		return ""
	}
	const least = 2
	if weight(x, least) < least && !e.grouped[x] {
		return ""
	}
	l := e.facts.level(x)
	if l >= e.current || l == perThread && !e.isReady(x) {
		return ""
	}
	want := "value"
	if x.Type().IsInteger() {
		want = [...]string{perLaunch: "size", perBlock: "base", perRegion: "start", perRow: "start", perThread: "at"}[l]
	}
	s := ""
	e.at(l, func() { s, _ = e.tree(x) })
	return e.sections[l].value(want, e.typ(goType(x)), s)
}

// weight returns the approximate cost of computing x, in additions. It stops counting at
// most: a long sum is asked for the weight of each of its parts.
func weight(x ir.Expr, most int) int {
	n := 0
	v := ir.Visitor{Expr: func(x ir.Expr) bool {
		switch x := x.(type) {
		case *ir.Binary:
			n++
			switch x.Op {
			case ir.Mul:
				n++
			case ir.Div, ir.Rem:
				n += 4
			}
		case *ir.Unary:
			n++
		case *ir.Intrinsic:
			n += 2
		case *ir.Composite:
			n += len(x.Elems)
		}
		return n < most
	}}
	v.Value(x)
	return n
}

// coordinate returns the variable with a thread coordinate.
func (e *emitter) coordinate(op ir.ThreadOp) string {
	if op >= ir.BlockDimX && op <= ir.BlockDimZ {
		if n := e.kernel.Options.Block[op-ir.BlockDimX]; n > 0 {
			return strconv.Itoa(n) // declared by the kernel
		}
	}
	name := e.names.name(op, threadNames[op])
	switch {
	case op >= ir.BlockIdxX && op <= ir.GridDimZ:
		e.dims[op] = true
	case e.current <= perBlock && e.warp != nil:
		return e.warpCoordinate(op)
	case e.current <= perBlock:
		return noCoordinate // uniform only because it is the only one
	default:
		e.axes[op] = true
		if op == ir.ThreadIdxX || e.allRows {
			return name
		}
	}
	return e.outer(name, "int")
}

// noCoordinate is the coordinate of the only thread along an axis. It is not a
// constant, because Go rejects division by a constant zero.
const noCoordinate = "(0 * r.BlockDim.X)"

// firstOfRow returns the number in the block of the row's first thread.
func (e *emitter) firstOfRow() string {
	if e.current <= perBlock || e.isOneRow() {
		return "0"
	}
	s := ""
	e.at(perRow, func() { s = e.rowNumber() + "*" + e.coordinate(ir.BlockDimX) })
	return e.sections[perRow].value("first", "int", s)
}

// rowNumber prints the number of the row in its block.
func (e *emitter) rowNumber() string {
	switch dims := e.kernel.Options.Block; {
	case dims[0] == 0 && e.warp == nil:
		return e.names.name(rowNumber{}, "rowIdx")
	case dims[0] > 0 && dims[2] <= 1:
		return e.coordinate(ir.ThreadIdxY)
	case dims[0] > 0 && dims[1] <= 1:
		return e.coordinate(ir.ThreadIdxZ)
	}
	z, y := e.coordinate(ir.ThreadIdxZ), e.coordinate(ir.ThreadIdxY)
	return fmt.Sprintf("(%s*%s+%s)", z, e.coordinate(ir.BlockDimY), y)
}

// shared returns the pointer to a shared variable, or the slice for dynamic shared
// memory.
func (e *emitter) shared(v *ir.SharedVar) string {
	want := v.Name
	for p, s := range e.facts.shared {
		if s == v && (want == v.Name || p.Name < want) {
			want = p.Name // the kernel's name for the pointer
		}
	}
	name := e.names.name(v, want)
	get, elem, typ := "Shared", v.Type, "*"+e.typ(v.Type)
	if v.Type.Kind == ir.Slice {
		get, elem, typ = "Dynamic", v.Type.Elem, e.typ(v.Type)
	}
	e.root.once(v, func(t *text) {
		t.add("%s := %s[%s](r, %d)", name, e.member(hostPath, get), e.typ(elem), v.ID)
	})
	return e.outer(name, typ)
}

// wants reports whether the value of a variable, which may be nil, is needed.
func (e *emitter) wants(v *ir.Local) bool { return v != nil && e.facts.read[v] && !e.dead[v] }

// isHoisted reports whether a variable's value is computed elsewhere than at its
// assignment.
func (e *emitter) isHoisted(v *ir.Local) bool {
	if e.facts.params[v] || e.facts.rows[v] {
		return false
	}
	if e.facts.shared[v] != nil {
		return true
	}
	switch l := e.facts.local(v); {
	case l < perThread:
		return true
	case l == perThread:
		return e.plan.spread[v] || e.windows != nil || e.isCopy(v) || e.facts.isCheap(v)
	}
	return false
}

// isCopy reports whether a variable is another name for a value computed outside the
// thread's statements.
func (e *emitter) isCopy(v *ir.Local) bool {
	switch src := e.facts.source[v].(type) {
	case *ir.ThreadValue:
		return identical(v.Type, ir.TInt) && src.Op != ir.LaneID && src.Op != ir.WarpID
	case *ir.Load:
		p, ok := src.Place.(*ir.VarPlace)
		return ok && identical(p.Var.Type, v.Type) && e.facts.local(p.Var) < varying && e.isReady(src)
	}
	return false
}

// isReady reports whether everything that an expression reads is computed outside the
// thread's statements.
func (e *emitter) isReady(x ir.Expr) bool {
	for v := range readsOf(x).reads {
		if e.facts.local(v) == perThread && !e.isHoisted(v) {
			return false
		}
	}
	return true
}

// variable prints a variable. The text starts with * if the name is a pointer to the
// variable.
func (e *emitter) variable(v *ir.Local) string {
	if s := e.facts.shared[v]; s != nil {
		return e.shared(s)
	}
	if !e.facts.params[v] && e.isHoisted(v) && e.isCopy(v) {
		return e.expr(e.facts.source[v], precOr)
	}
	name := e.names.name(v, v.Name)
	switch {
	case e.facts.params[v]:
		e.params[v] = true
		return e.outerVariable(name, v.Type)
	case e.facts.rows[v] && e.allRows:
	case e.facts.rows[v]:
		return e.outer(name, e.typ(v.Type))
	case e.isHoisted(v):
		l := e.facts.local(v)
		if e.current <= perBlock && l > perBlock {
			// Uniform because its axis has a single thread.
			return "(" + e.expr(e.facts.source[v], precOr) + ")"
		}
		e.define(v, name, l)
		if !e.inFunction(l) {
			return e.outerVariable(name, v.Type)
		}
	case e.plan.block[v]:
		e.root.once(v, func(t *text) { t.add("var %s %s", name, e.typ(v.Type)) })
		e.read[v] = true
		return e.outerVariable(name, v.Type)
	case e.plan.spread[v]:
		if e.current <= perBlock && e.warp != nil {
			return e.scratch(v) + "[" + e.warp.first + "]"
		}
		if e.current <= perBlock {
			return e.scratch(v) + "[0]"
		}
		if e.inPlace(v) {
			return "*" + name
		}
	}
	return name
}

// assigned prints a variable as the target of an assignment, which Go does not count as
// a use.
func (e *emitter) assigned(v *ir.Local) string {
	read := e.read[v]
	s := e.variable(v)
	e.read[v] = read
	return s
}

// keepUnread generates uses of block variables that are read only by code omitted from
// the regions.
func (e *emitter) keepUnread() {
	for _, v := range e.kernel.Func.Locals {
		if e.plan.block[v] && e.root.has[v] && !e.read[v] {
			e.root.text.add("_ = %s", e.names.of[v])
		}
	}
}

// define declares a variable whose value is computed at level l.
func (e *emitter) define(v *ir.Local, name string, l level) {
	for s := e.sections[l]; s != nil; s = s.outer {
		if s.has[v] {
			return
		}
	}
	d := ""
	e.at(l, func() { d = e.definition(v, name, e.facts.source[v]) })
	s := e.sections[l]
	_, value, _ := strings.Cut(d, "=")
	s = s.outermost(value)
	s.has[v] = true
	s.declare(name, d)
}

// scratch returns the slice with the values of a variable for each thread of the block.
func (e *emitter) scratch(v *ir.Local) string {
	name := e.names.name(scratchOf{v}, v.Name+"s")
	e.root.once(scratchOf{v}, func(t *text) {
		size := "r.BlockDim.Count()"
		if e.wide {
			size = fmt.Sprintf("max(%d, r.BlockDim.X)", maxWidth)
		}
		t.add("%s := %s[%s](r, %d, %s)", name, e.member(hostPath, "Scratch"), e.typ(v.Type), e.plan.scratchID[v], size)
	})
	return e.outer(name, "[]"+e.typ(v.Type))
}

type scratchOf struct{ v *ir.Local }

// inPlace reports whether a variable is used where it is stored and not copied: it does
// not fit in registers, or a pointer to it exists.
func (e *emitter) inPlace(v *ir.Local) bool {
	return v.Type.IsAggregate() && !isSmallStruct(v.Type) || e.facts.addressed[v]
}

// isSmallStruct reports whether the Go compiler keeps variables of a type in registers.
func isSmallStruct(t *ir.Type) bool {
	isAggregate := func(f ir.Field) bool { return !f.Type.IsScalar() }
	return t.Kind == ir.Struct && len(t.Fields) <= 4 && !slices.ContainsFunc(t.Fields, isAggregate)
}
