package ir

import (
	"regexp"
	"strconv"
)

// Effect is an action of a thread other than computing values and changing places. It
// happens once each time the statement is reached, in order. Arguments and results are
// scalars; a nil destination drops a result.
type Effect struct {
	Op   EffectOp
	Dst  []*Local
	Args []Expr

	Format *Format // of a Print
	Func   *Func   // of an Inline, with the instructions in Func.Assembly

	Pos Pos
}

func (s *Effect) parts(p parts) {
	p.pos(&s.Pos)
	values(p, &s.Args)
	results(p, &s.Dst)
}

// EffectOp is the kind of an effect.
type EffectOp uint8

// Effects.
const (
	Print  EffectOp = iota // Format with the arguments
	Inline                 // the instructions of Func
	Sample                 // (texture object uint64, u, v float32): the four components of a texel
)

var effectNames = [...]string{Print: "print", Inline: "inline", Sample: "sample"}

func (op EffectOp) String() string { return name(effectNames[:], int(op)) }

// Format is a call of kernel.Printf.
type Format struct {
	ID   int // index in Kernel.Formats
	Text string
	Args []FormatArg
}

// FormatArg is an argument of a Format: a constant string, or a value of a type. The
// type stays int if the value is narrowed.
type FormatArg struct {
	Type *Type // nil for a string
	Text string
}

// String returns the argument's type, or a constant string as a Go literal.
func (a FormatArg) String() string {
	if a.Type == nil {
		return strconv.Quote(a.Text)
	}
	return a.Type.Kind.String()
}

// values returns the number of arguments that are not constant.
func (f *Format) values() int {
	n := 0
	for _, a := range f.Args {
		if a.Type != nil {
			n++
		}
	}
	return n
}

// Assembly is the GPU instructions that implement a function.
type Assembly struct {
	Lines   []string // "$name" is a parameter or result of the function
	Version int      // lowest PTX version times ten, 0 for any
	Target  int      // lowest compute capability times ten, 0 for any
}

// OperandName matches the name of a parameter or result in a line of an Assembly.
var OperandName = regexp.MustCompile(`\$[A-Za-z_][A-Za-z0-9_]*`)

func (s *Effect) print(p *printer) {
	dst := p.gives(s.Dst)
	switch s.Op {
	case Print:
		p.line("%sprint %q(%s)", dst, s.Format.Text, p.exprs(s.Args))
	case Inline:
		p.line("%sinline %s(%s)", dst, s.Func.Name, p.exprs(s.Args))
	default:
		p.line("%s%s(%s)", dst, s.Op, p.exprs(s.Args))
	}
}

func (s *Effect) verify(v *verifier) {
	for i, e := range s.Args {
		if !e.Type().IsScalar() {
			v.fail("argument %d of %s has type %s", i, s.Op, e.Type())
		}
	}
	switch s.Op {
	case Print:
		if s.Format == nil || len(s.Args) != s.Format.values() || len(s.Dst) > 0 {
			v.fail("print does not fit its format")
		}
	case Inline:
		if s.Func == nil || s.Func.Assembly == nil || len(s.Args) != len(s.Func.Params) || len(s.Dst) != len(s.Func.Results) {
			v.fail("inline instructions do not fit their function")
		}
	case Sample:
		if len(s.Args) != 3 || len(s.Dst) != 4 {
			v.fail("sample with %d arguments and %d results", len(s.Args), len(s.Dst))
		}
	}
}
