package algebra

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"quern.dev/geo/algebra/internal/kernels"
)

// Expression is a value per pixel. Expressions do not change.
type Expression struct {
	program []kernels.Instruction
	depth   int // of the stack
}

// Band is the value of a band, from 0.
func Band(i int) Expression {
	return Expression{[]kernels.Instruction{{Code: kernels.Load, Arg: i}}, 1}
}

// Constant is the same value everywhere.
func Constant(v float64) Expression {
	return Expression{[]kernels.Instruction{{Code: kernels.Constant, Value: v}}, 1}
}

// of returns an operation on operands. Operands wait on the stack for those that follow.
func of(code int, operands ...Expression) Expression {
	var e Expression
	for i, o := range operands {
		e.program = append(e.program, o.program...)
		e.depth = max(e.depth, o.depth+i)
	}
	e.program = append(e.program, kernels.Instruction{Code: code})
	return e
}

// Add returns e + o.
func (e Expression) Add(o Expression) Expression { return of(kernels.Add, e, o) }

// Sub returns e - o.
func (e Expression) Sub(o Expression) Expression { return of(kernels.Subtract, e, o) }

// Mul returns e * o.
func (e Expression) Mul(o Expression) Expression { return of(kernels.Multiply, e, o) }

// Div returns e / o.
func (e Expression) Div(o Expression) Expression { return of(kernels.Divide, e, o) }

// Min returns the lesser one of e and o.
func (e Expression) Min(o Expression) Expression { return of(kernels.Minimum, e, o) }

// Max returns the greater one of e and o.
func (e Expression) Max(o Expression) Expression { return of(kernels.Maximum, e, o) }

// Neg returns -e.
func (e Expression) Neg() Expression { return of(kernels.Negate, e) }

// Abs returns the absolute value of e.
func (e Expression) Abs() Expression { return of(kernels.Absolute, e) }

// Sqrt returns the square root of e.
func (e Expression) Sqrt() Expression { return of(kernels.Root, e) }

// Less returns 1 where e < o, and 0 elsewhere.
func (e Expression) Less(o Expression) Expression { return of(kernels.Less, e, o) }

// LessOrEqual returns 1 where e <= o, and 0 elsewhere.
func (e Expression) LessOrEqual(o Expression) Expression { return of(kernels.LessOrEqual, e, o) }

// Equal returns 1 where e = o, and 0 elsewhere.
func (e Expression) Equal(o Expression) Expression { return of(kernels.Equal, e, o) }

// NotEqual returns 1 where e is not o, and 0 elsewhere.
func (e Expression) NotEqual(o Expression) Expression { return of(kernels.NotEqual, e, o) }

// And returns 1 where neither e nor o is 0, and 0 elsewhere.
func (e Expression) And(o Expression) Expression { return of(kernels.And, e, o) }

// Or returns 1 where e or o is not 0, and 0 elsewhere.
func (e Expression) Or(o Expression) Expression { return of(kernels.Or, e, o) }

// Not returns 1 where e is 0, and 0 elsewhere.
func (e Expression) Not() Expression { return of(kernels.Not, e) }

// Choose returns yes where e is not 0, and no elsewhere.
func (e Expression) Choose(yes, no Expression) Expression { return of(kernels.Choose, e, yes, no) }

// NormalizedDifference returns (a - b) / (a + b).
func NormalizedDifference(a, b Expression) Expression { return a.Sub(b).Div(a.Add(b)) }

// NDVI is the normalized difference vegetation index of the near infrared and red bands.
func NDVI(nir, red Expression) Expression { return NormalizedDifference(nir, red) }

// bands returns the bands that are used, in increasing order.
func (e Expression) bands() []int {
	var all []int
	for _, p := range e.program {
		if p.Code == kernels.Load {
			all = append(all, p.Arg)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Parse reads an expression of numbers, the bands b1, b2 and so on, parentheses, functions and operators. From the strongest to the
// weakest, operators are
//
//	! - +           not, and signs
//	* /
//	+ -
//	< <= > >= == != 1 or 0; a comparison is no operand of another one without parentheses
//	&&              1 or 0; numbers other than 0 are true
//	||
//
// Functions are min(a, b), max(a, b), abs(a), sqrt(a) and where(condition, yes, no). NumPy's minimum, maximum, logical_and,
// logical_or and logical_not are there too.
func Parse(text string) (Expression, error) {
	p := parser{text: text}
	e, err := p.either(0)
	if err == nil && p.peek() != 0 {
		err = p.unexpected("an operator is expected")
	}
	if err == nil && e.depth > kernels.Depth {
		err = failf(ErrArgument, "the expression needs %d operands at a time; %d are possible", e.depth, kernels.Depth)
	}
	return e, err
}

type parser struct {
	text string
	at   int
}

func (p *parser) fail(format string, args ...any) error {
	text := p.text
	if len(text) > 160 { // what is before the error, and a little after it
		text = text[max(0, p.at-80):min(len(text), p.at+40)]
	}
	return failf(ErrArgument, "the expression %q at character %d: %s", text, p.at+1, fmt.Sprintf(format, args...))
}

// hints say how to write what other languages have.
var hints = []struct{ spelling, hint string }{
	{"&", "&& is the logical and"},
	{"|", "|| is the logical or"},
	{"~", "! is the logical not"},
	{"==", "comparisons are joined by &&, as in b1==b2 && b2==b3"},
	{"=", "== compares"},
	{"<>", "!= compares"},
	{"<", "comparisons are joined by &&, as in b1<b2 && b2<b3"},
	{">", "comparisons are joined by &&, as in b1>b2 && b2>b3"},
	{"!=", "comparisons are joined by &&, as in b1!=b2 && b2!=b3"},
	{"**", "there are no powers; b1*b1 is a square"},
	{"%", "there is no remainder"},
	{"and", "&& is the logical and"},
	{"or", "|| is the logical or"},
	{"not", "! is the logical not"},
	{"numpy.", "functions have no prefix"},
	{"np.", "functions have no prefix"},
}

// hintedWords are spellings that are not the beginning of another word.
var hintedWords = map[string]bool{"and": true, "or": true, "not": true}

// unexpected is fail with a hint, if there is one for what follows.
func (p *parser) unexpected(message string) error {
	p.peek()
	rest := p.text[p.at:]
	for _, h := range hints {
		if strings.HasPrefix(rest, h.spelling) && (p.word() == h.spelling || !hintedWords[h.spelling]) {
			return p.fail("%s; %s", message, h.hint)
		}
	}
	if rest != "" && rest[0] >= 'A' && rest[0] <= 'Z' {
		return p.fail("%s; bands of all sources are b1, b2 and so on", message)
	}
	return p.fail("%s", message)
}

// peek skips spaces and returns the next character, or 0 at the end.
func (p *parser) peek() byte {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

// accept skips a word if it is next.
func (p *parser) accept(word string) bool {
	p.peek()
	if strings.HasPrefix(p.text[p.at:], word) {
		p.at += len(word)
		return true
	}
	return false
}

// mostNested is how deep parentheses may be.
const mostNested = 100

// operator joins two operands.
type operator struct {
	sign string
	make func(a, b Expression) Expression
}

var (
	ors         = []operator{{"||", Expression.Or}}
	ands        = []operator{{"&&", Expression.And}}
	comparisons = []operator{
		{"==", Expression.Equal}, {"!=", Expression.NotEqual},
		{"<=", Expression.LessOrEqual}, {">=", func(a, b Expression) Expression { return b.LessOrEqual(a) }},
		{"<", Expression.Less}, {">", func(a, b Expression) Expression { return b.Less(a) }},
	}
	sums     = []operator{{"+", Expression.Add}, {"-", Expression.Sub}}
	products = []operator{{"*", Expression.Mul}, {"/", Expression.Div}}
)

// joined reads operands with operators between them, which are evaluated from left to right: up to most of them.
func (p *parser) joined(depth, most int, operators []operator, operand func(depth int) (Expression, error)) (Expression, error) {
	a, err := operand(depth)
	for n := 0; n < most && err == nil; n++ {
		i := slices.IndexFunc(operators, func(o operator) bool { return !p.foreign(o.sign) && p.accept(o.sign) })
		if i < 0 {
			break
		}
		var b Expression
		b, err = operand(depth)
		a = operators[i].make(a, b)
	}
	return a, err
}

// foreign reports whether what follows begins with a sign, but is an operator of other languages.
func (p *parser) foreign(sign string) bool {
	p.peek()
	rest := p.text[p.at:]
	return sign == "*" && strings.HasPrefix(rest, "**") || sign == "<" && strings.HasPrefix(rest, "<>")
}

func (p *parser) either(depth int) (Expression, error) {
	return p.joined(depth, math.MaxInt, ors, p.both)
}

func (p *parser) both(depth int) (Expression, error) {
	return p.joined(depth, math.MaxInt, ands, p.comparison)
}

func (p *parser) comparison(depth int) (Expression, error) {
	return p.joined(depth, 1, comparisons, p.sum)
}

func (p *parser) sum(depth int) (Expression, error) {
	return p.joined(depth, math.MaxInt, sums, p.product)
}

func (p *parser) product(depth int) (Expression, error) {
	return p.joined(depth, math.MaxInt, products, p.factor)
}

// functions have their numbers of operands.
var functions = map[string]struct{ code, n int }{
	"min": {kernels.Minimum, 2}, "max": {kernels.Maximum, 2}, "abs": {kernels.Absolute, 1}, "sqrt": {kernels.Root, 1}, "where": {kernels.Choose, 3},
	"minimum": {kernels.Minimum, 2}, "maximum": {kernels.Maximum, 2}, "logical_and": {kernels.And, 2}, "logical_or": {kernels.Or, 2}, "logical_not": {kernels.Not, 1},
}

func (p *parser) factor(depth int) (Expression, error) {
	if depth > mostNested {
		return Expression{}, p.fail("more than %d parentheses", mostNested)
	}
	c := p.peek()
	switch {
	case p.accept("-"):
		e, err := p.factor(depth + 1)
		return e.Neg(), err
	case p.accept("+"):
		return p.factor(depth + 1)
	case !strings.HasPrefix(p.text[p.at:], "!=") && p.accept("!"):
		e, err := p.factor(depth + 1)
		return e.Not(), err
	case c == '(':
		all, err := p.operands(depth, 1)
		if err != nil {
			return Expression{}, err
		}
		return all[0], nil
	case c >= '0' && c <= '9' || c == '.':
		return p.number()
	}
	word := p.word()
	if f, ok := functions[word]; ok {
		p.accept(word)
		all, err := p.operands(depth, f.n)
		if err != nil {
			return Expression{}, err
		}
		return of(f.code, all...), nil
	}
	if digits, ok := strings.CutPrefix(word, "b"); ok {
		n, err := strconv.Atoi(digits)
		if err != nil || n < 1 {
			return Expression{}, p.fail("%s is not a band: b1 is the first one", word)
		}
		p.accept(word)
		return Band(n - 1), nil
	}
	return Expression{}, p.unexpected("a number, a band, a function or a parenthesis is expected")
}

// word returns the letters, digits and underscores that follow.
func (p *parser) word() string {
	rest := p.text[p.at:]
	end := strings.IndexFunc(rest, func(r rune) bool {
		return !(r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	})
	if end < 0 {
		return rest
	}
	return rest[:end]
}

// operands reads expressions in parentheses.
func (p *parser) operands(depth, n int) ([]Expression, error) {
	var all []Expression
	for i := range n {
		open := ","
		if i == 0 {
			open = "("
		}
		if !p.accept(open) {
			return nil, p.unexpected(fmt.Sprintf("%q is expected", open))
		}
		e, err := p.either(depth + 1)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	if !p.accept(")") {
		return nil, p.unexpected(`")" is expected`)
	}
	return all, nil
}

func (p *parser) number() (Expression, error) {
	start := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		sign := (c == '+' || c == '-') && p.at > start && (p.text[p.at-1] == 'e' || p.text[p.at-1] == 'E')
		if !(c >= '0' && c <= '9' || c == '.' || c == 'e' || c == 'E' || sign) {
			break
		}
		p.at++
	}
	v, err := strconv.ParseFloat(p.text[start:p.at], 64)
	if err != nil {
		return Expression{}, p.fail("%q is not a number", p.text[start:p.at])
	}
	return Constant(v), nil
}
