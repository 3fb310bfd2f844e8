package limits

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
)

// Program is a conjunction of conditions; see the package comment.
type Program []int64

// Operations of a Program. Const, Arg, Dim, AtMost and Address are followed by
// one operand.
const (
	Const   int64 = iota // push the operand
	Arg                  // push the value of an integer parameter or the length of a slice parameter, by index; the index after the last is the size of dynamic shared memory in bytes
	Dim                  // push a dimension: 0..2 GridDim.XYZ, 3..5 BlockDim.XYZ
	Add                  // pop y, pop x, push x+y
	Sub                  // x-y
	Mul                  // x*y
	Min                  // the lesser of x and y
	Max                  // the greater of x and y
	Div                  // x/y truncated; 0 when y is 0
	AtMost               // pop x; fail unless x <= operand
	Address              // push the address of a slice parameter, by index, modulo 16
)

// Depth is the maximum stack depth of a valid program.
const Depth = 16

// addressModulus is the largest alignment that a condition can require.
const addressModulus = 16

// dims is the number of dimensions that Dim can push.
const dims = 6

// Hold reports whether all conditions hold. args has one element per kernel
// parameter: the value of an integer (sign-extended if its type is signed,
// zero-extended otherwise), the length of a slice, and any value for other
// parameters. The next element is the size of dynamic shared memory in bytes; if
// it is missing, conditions on it do not hold. dim is GridDim.XYZ, BlockDim.XYZ.
// Hold assumes that the addresses of slices are multiples of 16.
func (p Program) Hold(args []int64, dim *[6]int64) bool { return p.HoldAt(args, nil, dim) }

// HoldAt is Hold for slices at the given addresses, one per parameter.
func (p Program) HoldAt(args []int64, addresses []uint64, dim *[6]int64) bool {
	var stack [Depth]int64
	sp := 0
	for i := 0; i < len(p); i++ {
		op := p[i]
		if hasOperand(op) {
			i++
			if i >= len(p) {
				return false
			}
			v := p[i]
			switch op {
			case Const:
			case Arg:
				if uint64(v) >= uint64(len(args)) {
					return false
				}
				v = args[v]
			case Dim:
				if uint64(v) >= dims {
					return false
				}
				v = dim[v]
			case Address:
				if uint64(v) >= uint64(len(args)) {
					return false
				}
				if addresses == nil {
					v = 0
					break
				}
				v = int64(addresses[v] % addressModulus)
			case AtMost:
				if sp != 1 || stack[0] > v {
					return false
				}
				sp = 0
				continue
			default:
				return false
			}
			if sp >= Depth {
				return false
			}
			stack[sp] = v
			sp++
			continue
		}
		if sp < 2 || sp > Depth {
			return false
		}
		sp--
		v, ok := apply(op, stack[sp-1], stack[sp])
		if !ok {
			return false
		}
		stack[sp-1] = v
	}
	return sp == 0
}

func hasOperand(op int64) bool { return op <= Dim || op >= AtMost }

// apply computes x op y. ok is false if the result does not fit or op is not an
// operation.
func apply(op, x, y int64) (v int64, ok bool) {
	switch op {
	case Add:
		v = x + y
		return v, (x^v)&(y^v) >= 0
	case Sub:
		v = x - y
		return v, (x^y)&(x^v) >= 0
	case Mul:
		return multiply(x, y)
	case Min:
		return min(x, y), true
	case Max:
		return max(x, y), true
	case Div:
		if y == 0 {
			return 0, true
		}
		return x / y, y != -1 || x != math.MinInt64
	}
	return 0, false
}

func multiply(x, y int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(x), uint64(y))
	signed := int64(hi) - x>>63&y - y>>63&x // the signed product's high half
	return int64(lo), signed == int64(lo)>>63
}

// Validate returns an error if the program is not valid for a kernel with nargs
// parameters.
func (p Program) Validate(nargs int) error {
	sp := 0
	for i := 0; i < len(p); i++ {
		op, at := p[i], i
		switch {
		case op < Const || op > Address:
			return &ProgramError{at, fmt.Sprintf("unknown operation %d", op)}
		case hasOperand(op):
			i++
			if i == len(p) {
				return &ProgramError{at, "operand missing"}
			}
			if op == AtMost {
				sp--
				if sp != 0 {
					return &ProgramError{at, "a condition compares one value"}
				}
				continue
			}
			if op == Arg && uint64(p[i]) > uint64(nargs) || op == Address && uint64(p[i]) >= uint64(nargs) {
				return &ProgramError{at, fmt.Sprintf("argument %d of %d", p[i], nargs)}
			}
			if op == Dim && uint64(p[i]) >= dims {
				return &ProgramError{at, fmt.Sprintf("dimension %d of %d", p[i], dims)}
			}
			sp++
			if sp > Depth {
				return &ProgramError{at, "stack overflow"}
			}
		default:
			sp--
			if sp < 1 {
				return &ProgramError{at, "stack underflow"}
			}
		}
	}
	if sp != 0 {
		return &ProgramError{len(p), "value without a condition"}
	}
	return nil
}

// ProgramError reports where a program is invalid.
type ProgramError struct {
	Offset int // index in the program
	Reason string
}

func (e *ProgramError) Error() string {
	return fmt.Sprintf("limits: damaged program at %d: %s", e.Offset, e.Reason)
}

var dimNames = [dims]string{"GridDim.X", "GridDim.Y", "GridDim.Z", "BlockDim.X", "BlockDim.Y", "BlockDim.Z"}

// String formats the conditions as Go-like text, one per line. Parameters are
// named arg0, arg1 and so on.
func (p Program) String() string {
	if err := p.Validate(math.MaxInt); err != nil {
		return err.Error()
	}
	type text struct {
		s     string
		level int // 0 sum, 1 product, 2 operand
	}
	var lines []string
	var stack []text
	at := func(t text, level int) string {
		if t.level < level {
			return "(" + t.s + ")"
		}
		return t.s
	}
	for i := 0; i < len(p); i++ {
		switch op := p[i]; op {
		case Const:
			i++
			stack = append(stack, text{fmt.Sprint(p[i]), 2})
		case Arg:
			i++
			stack = append(stack, text{fmt.Sprintf("arg%d", p[i]), 2})
		case Dim:
			i++
			stack = append(stack, text{dimNames[p[i]], 2})
		case Address:
			i++
			stack = append(stack, text{fmt.Sprintf("&arg%d%%%d", p[i], addressModulus), 2})
		case AtMost:
			i++
			lines = append(lines, fmt.Sprintf("%s <= %d", stack[0].s, p[i]))
			stack = stack[:0]
		default:
			x, y := stack[len(stack)-2], stack[len(stack)-1]
			stack = stack[:len(stack)-2]
			var t text
			switch op {
			case Add:
				t = text{at(x, 0) + " + " + at(y, 1), 0}
			case Sub:
				t = text{at(x, 0) + " - " + at(y, 1), 0}
			case Mul:
				t = text{at(x, 1) + "*" + at(y, 2), 1}
			case Div:
				t = text{at(x, 1) + "/" + at(y, 2), 1}
			case Min:
				t = text{"min(" + x.s + ", " + y.s + ")", 2}
			case Max:
				t = text{"max(" + x.s + ", " + y.s + ")", 2}
			}
			stack = append(stack, t)
		}
	}
	return strings.Join(lines, "\n")
}
