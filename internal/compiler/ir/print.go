package ir

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// String prints the kernel as Go-like text. Variables are numbered in the order of the
// function's lists, labels in order of appearance. A ? marks what may stop the thread
// (x[?i], a /? b), a ! an operation that must not be fused. Constants have their type
// as a suffix unless it is int or float64.
func (k *Kernel) String() string {
	p := newPrinter(k.Func)
	for _, v := range k.Shared {
		p.line("shared %s.%d %s", v.Name, v.ID, v.Type)
	}
	for _, l := range k.Limits {
		p.line("limit %s <= %d", l.X, l.Max)
	}
	p.function("kernel "+k.Name, k.Func)
	return p.out.String()
}

// String prints the function like Kernel.String.
func (f *Func) String() string {
	p := newPrinter(f)
	p.function("func "+f.Name, f)
	return p.out.String()
}

var constSuffixes = [...]string{Int8: "i8", Int16: "i16", Int32: "i32", Int64: "i64", Uint8: "u8", Uint16: "u16",
	Uint32: "u32", Uint64: "u64", Uint: "u", Float32: "f32", Float64: ""}

func (x *Const) String() string {
	switch {
	case x.T.Kind == Bool:
		return strconv.FormatBool(x.Bits != 0)
	case x.T.IsHalf():
		return fmt.Sprintf("%v(%v)", x.T.Kind, x.Half())
	case x.T.IsFloat():
		bits := 64
		if x.T.Kind == Float32 {
			bits = 32
		}
		s := strconv.FormatFloat(x.Float, 'g', -1, bits)
		if !strings.ContainsAny(s, ".eIN") {
			s += ".0"
		}
		if math.IsNaN(x.Float) {
			s = "NaN"
		}
		return s + constSuffixes[x.T.Kind]
	case x.T.IsSigned():
		return strconv.FormatInt(int64(x.Bits), 10) + constSuffixes[x.T.Kind]
	case x.T.IsInteger():
		return strconv.FormatUint(x.Bits, 10) + constSuffixes[x.T.Kind]
	}
	return fmt.Sprintf("%s(%#x)", x.T, x.Bits)
}

// printer prints one function.
type printer struct {
	out    strings.Builder
	depth  int
	vars   map[*Local]string
	labels map[*Label]string
}

func newPrinter(f *Func) *printer {
	p := &printer{vars: map[*Local]string{}, labels: map[*Label]string{}}
	for _, list := range [...][]*Local{f.Params, f.Results, f.Locals} {
		for _, v := range list {
			n := fmt.Sprintf("v%d", len(p.vars))
			if v.Name != "" {
				n += "." + v.Name
			}
			p.vars[v] = n
		}
	}
	return p
}

func (p *printer) line(format string, args ...any) {
	p.out.WriteString(strings.Repeat("\t", p.depth))
	fmt.Fprintf(&p.out, format, args...)
	p.out.WriteByte('\n')
}

func (p *printer) function(head string, f *Func) {
	p.line("%s(%s)%s {", head, p.declare(f.Params), resultList(p.declare(f.Results)))
	p.depth++
	for _, v := range f.Locals {
		p.line("var %s %s", p.local(v), v.Type)
	}
	p.depth--
	p.body(f.Body)
	p.line("}")
}

func resultList(list string) string {
	if list == "" {
		return ""
	}
	return " (" + list + ")"
}

func (p *printer) declare(list []*Local) string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = p.local(v) + " " + v.Type.String()
	}
	return strings.Join(out, ", ")
}

func (p *printer) local(v *Local) string {
	if v == nil {
		return "_"
	}
	if n, ok := p.vars[v]; ok {
		return n
	}
	return "foreign." + v.Name
}

func (p *printer) label(l *Label) string {
	if l == nil {
		return "L?"
	}
	n, ok := p.labels[l]
	if !ok {
		n = fmt.Sprintf("L%d", len(p.labels))
		if l.Name != "" {
			n += "." + l.Name
		}
		p.labels[l] = n
	}
	return n
}

func (p *printer) body(list []Stmt) {
	p.depth++
	for _, s := range list {
		p.stmt(s)
	}
	p.depth--
}

func (p *printer) stmt(s Stmt) {
	switch s := s.(type) {
	case *Assign:
		p.line("%s = %s", p.place(s.Dst), p.expr(s.Src))
	case *If:
		p.line("if %s {", p.expr(s.Cond))
		p.body(s.Then)
		if len(s.Else) > 0 {
			p.line("} else {")
			p.body(s.Else)
		}
		p.line("}")
	case *Loop:
		p.loop(s)
	case *Block:
		p.line("block %s {", p.label(s.Label))
		p.body(s.Body)
		p.line("}")
	case *Break:
		p.line("break %s", p.label(s.Label))
	case *Continue:
		p.line("continue %s", p.label(s.Label))
	case *Return:
		p.line("%s", strings.TrimSpace("return "+p.exprs(s.Results)))
	case *Call:
		p.line("%s%s(%s)", p.gives(s.Dst), s.Func.Name, p.exprs(s.Args))
	case operation:
		s.print(p)
	case *Barrier:
		if s.Of != OfBlock {
			p.line("barrier of the %s", s.Of)
			return
		}
		p.line("barrier")
	case *Fence:
		if s.Scope != DeviceScope {
			p.line("fence %s", s.Scope)
			break
		}
		p.line("fence")
	case *Panic:
		p.line("panic(%q)", s.Reason)
	case *Check:
		p.line("check %s", p.place(s.Place))
	default:
		p.line("unknown statement %T", s)
	}
}

// gives prints the destinations of a statement, before the operation.
func (p *printer) gives(dst []*Local) string {
	if len(dst) == 0 {
		return ""
	}
	out := make([]string, len(dst))
	for i, v := range dst {
		out[i] = p.local(v)
	}
	return strings.Join(out, ", ") + " = "
}

func (p *printer) loop(s *Loop) {
	switch s.Unroll {
	case UnrollAsWorthwhile:
	case UnrollAll:
		p.line("unroll")
	default:
		p.line("unroll %d", s.Unroll)
	}
	cond := ""
	if s.Cond != nil {
		cond = " " + p.expr(s.Cond)
	}
	if len(s.Pre) > 0 {
		p.line("pre %s {", p.label(s.Label))
		p.body(s.Pre)
		p.line("} for %s%s {", p.label(s.Label), cond)
	} else {
		p.line("for %s%s {", p.label(s.Label), cond)
	}
	p.body(s.Body)
	if len(s.Post) > 0 {
		p.line("} post {")
		p.body(s.Post)
	}
	p.line("}")
}

func (p *printer) exprs(list []Expr) string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = p.expr(e)
	}
	return strings.Join(out, ", ")
}

func (p *printer) expr(e Expr) string {
	switch e := e.(type) {
	case nil:
		return ""
	case *Const:
		return e.String()
	case *Zero:
		return "zero(" + e.T.String() + ")"
	case *Load:
		return p.place(e.Place)
	case *Unary:
		return e.Op.String() + p.operand(e.X)
	case *Binary:
		return fmt.Sprintf("%s %s%s%s %s", p.operand(e.X), e.Op, mark("?", e.Check), mark("!", e.Strict), p.operand(e.Y))
	case *Convert:
		return fmt.Sprintf("%s(%s)", e.T, p.expr(e.X))
	case *Len:
		return "len(" + p.expr(e.X) + ")"
	case *Cap:
		return "cap(" + p.expr(e.X) + ")"
	case *SliceExpr:
		return p.slice(e)
	case *Addr:
		return "&" + p.place(e.Place)
	case *ThreadValue:
		return e.Op.String()
	case *Intrinsic:
		name := e.Op.String()
		if e.Op == Bitcast {
			name += " " + e.T.String()
		}
		return fmt.Sprintf("%s%s(%s)", name, mark("!", e.Strict), p.exprs(e.Args))
	case *Composite:
		return e.T.String() + "{" + p.exprs(e.Elems) + "}"
	case *Select:
		return fmt.Sprintf("select(%s, %s, %s)", p.expr(e.Cond), p.expr(e.X), p.expr(e.Y))
	}
	return fmt.Sprintf("unknown expression %T", e)
}

func (p *printer) operand(e Expr) string {
	if _, ok := e.(*Binary); ok {
		return "(" + p.expr(e) + ")"
	}
	return p.expr(e)
}

func (p *printer) slice(e *SliceExpr) string {
	of := ""
	if e.Array != nil {
		of = p.place(e.Array)
	} else {
		of = p.operand(e.X)
	}
	bounds := p.expr(e.Lo) + ":" + p.expr(e.Hi)
	if e.Max != nil {
		bounds += ":" + p.expr(e.Max)
	}
	return fmt.Sprintf("%s[%s%s]", of, mark("?", e.Check), bounds)
}

func mark(s string, on bool) string {
	if on {
		return s
	}
	return ""
}

func (p *printer) place(pl Place) string {
	switch pl := pl.(type) {
	case *VarPlace:
		return p.local(pl.Var)
	case *SharedPlace:
		return fmt.Sprintf("shared %s.%d", pl.Var.Name, pl.Var.ID)
	case *TablePlace:
		return pl.Table.Name
	case *DerefPlace:
		return "(*" + mark("?", pl.Check) + p.expr(pl.Ptr) + ")"
	case *FieldPlace:
		t := pl.X.Type()
		if t != nil && t.Kind == Struct && pl.Field < len(t.Fields) {
			return p.place(pl.X) + "." + t.Fields[pl.Field].Name
		}
		return fmt.Sprintf("%s.field%d", p.place(pl.X), pl.Field)
	case *IndexPlace:
		return fmt.Sprintf("%s[%s%s]", p.place(pl.X), mark("?", pl.Check), p.expr(pl.Index))
	case *ArrayPlace:
		return fmt.Sprintf("%s[%s:%d]", p.operand(pl.Slice), mark("?", pl.Check), pl.T.Len)
	case *ElemPlace:
		return fmt.Sprintf("%s[%s%s]", p.operand(pl.Slice), mark("?", pl.Check), p.expr(pl.Index))
	}
	return fmt.Sprintf("unknown place %T", pl)
}
