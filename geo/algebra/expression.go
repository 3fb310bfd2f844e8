package algebra

import (
	"fmt"
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

// Equal returns 1 where e = o, and 0 elsewhere.
func (e Expression) Equal(o Expression) Expression { return of(kernels.Equal, e, o) }

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

// Parse reads an expression: numbers, bands b1, b2 and so on, + - * / < > ==, parentheses, and the functions min, max, abs, sqrt
// and where(condition, yes, no). Comparisons are 1 or 0.
func Parse(text string) (Expression, error) {
	p := parser{text: text}
	e, err := p.comparison(0)
	if err == nil && p.peek() != 0 {
		err = p.fail("an operator is expected")
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
	return failf(ErrArgument, "the expression %q at character %d: %s", p.text, p.at+1, fmt.Sprintf(format, args...))
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

func (p *parser) comparison(depth int) (Expression, error) {
	a, err := p.sum(depth)
	if err != nil {
		return a, err
	}
	for _, c := range []struct {
		sign string
		make func(a, b Expression) Expression
	}{{"==", Expression.Equal}, {"<", Expression.Less}, {">", func(a, b Expression) Expression { return b.Less(a) }}} {
		if p.accept(c.sign) {
			b, err := p.sum(depth)
			return c.make(a, b), err
		}
	}
	return a, nil
}

func (p *parser) sum(depth int) (Expression, error) {
	a, err := p.product(depth)
	for err == nil {
		var b Expression
		switch {
		case p.accept("+"):
			b, err = p.product(depth)
			a = a.Add(b)
		case p.accept("-"):
			b, err = p.product(depth)
			a = a.Sub(b)
		default:
			return a, nil
		}
	}
	return a, err
}

func (p *parser) product(depth int) (Expression, error) {
	a, err := p.factor(depth)
	for err == nil {
		var b Expression
		switch {
		case p.accept("*"):
			b, err = p.factor(depth)
			a = a.Mul(b)
		case p.accept("/"):
			b, err = p.factor(depth)
			a = a.Div(b)
		default:
			return a, nil
		}
	}
	return a, err
}

// functions have their numbers of operands.
var functions = []struct {
	name    string
	code, n int
}{{"min", kernels.Minimum, 2}, {"max", kernels.Maximum, 2}, {"abs", kernels.Absolute, 1}, {"sqrt", kernels.Root, 1}, {"where", kernels.Choose, 3}}

func (p *parser) factor(depth int) (Expression, error) {
	if depth > mostNested {
		return Expression{}, p.fail("more than %d parentheses", mostNested)
	}
	c := p.peek()
	switch {
	case p.accept("-"):
		e, err := p.factor(depth + 1)
		return e.Neg(), err
	case c == '(':
		all, err := p.operands(depth, 1)
		if err != nil {
			return Expression{}, err
		}
		return all[0], nil
	case c >= '0' && c <= '9' || c == '.':
		return p.number()
	}
	for _, f := range functions {
		if p.accept(f.name) {
			all, err := p.operands(depth, f.n)
			if err != nil {
				return Expression{}, err
			}
			return of(f.code, all...), nil
		}
	}
	if p.accept("b") {
		start := p.at
		for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
			p.at++
		}
		n, err := strconv.Atoi(p.text[start:p.at])
		if err != nil || n < 1 {
			return Expression{}, p.fail("a band has a number from 1")
		}
		return Band(n - 1), nil
	}
	return Expression{}, p.fail("a number, a band, a function or a parenthesis is expected")
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
			return nil, p.fail("%q is expected", open)
		}
		e, err := p.comparison(depth + 1)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	if !p.accept(")") {
		return nil, p.fail(`")" is expected`)
	}
	return all, nil
}

func (p *parser) number() (Expression, error) {
	start := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		sign := (c == '+' || c == '-') && p.at > start && p.text[p.at-1] == 'e'
		if !(c >= '0' && c <= '9' || c == '.' || c == 'e' || sign) {
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
