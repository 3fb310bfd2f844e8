package kernels

import (
	"math"

	"quern.dev/kernel"
)

// Codes of instructions. Operands are on a stack.
const (
	Load     = iota // the band Arg
	Constant        // Value
	Add
	Subtract
	Multiply
	Divide
	Minimum
	Maximum
	Negate
	Absolute
	Root
	Less // 1 or 0, as the following ones
	LessOrEqual
	Equal
	NotEqual
	And
	Or
	Not
	Choose // of three operands, the second one if the first is not 0, and else the third one
)

// Depth is how many operands the stack has room for.
const Depth = 16

// Instruction is a step of a program.
type Instruction struct {
	Code, Arg int
	Value     float64
}

// evaluate runs a program for each of n pixels. values has one band after the other, with NaN where there is no data. It writes
// none there, and where a result is not finite.
//
//quern:kernel
func evaluate(t kernel.Thread, n int, program []Instruction, values []float32, none float32, out []float32) {
	i := t.Global()
	if i >= n {
		return
	}
	var stack [Depth]float64
	top := 0
	missing := false
	for k := range program {
		p := &program[k]
		switch p.Code {
		case Load:
			v := float64(values[p.Arg*n+i])
			missing = missing || v != v
			stack[top] = v
			top++
			continue
		case Constant:
			stack[top] = p.Value
			top++
			continue
		case Negate:
			stack[top-1] = -stack[top-1]
			continue
		case Absolute:
			stack[top-1] = math.Abs(stack[top-1])
			continue
		case Root:
			stack[top-1] = math.Sqrt(stack[top-1])
			continue
		case Not:
			if stack[top-1] == 0 {
				stack[top-1] = 1
			} else {
				stack[top-1] = 0
			}
			continue
		case Choose:
			top -= 2
			if stack[top-1] == 0 {
				stack[top-1] = stack[top+1]
			} else {
				stack[top-1] = stack[top]
			}
			continue
		}
		top--
		a, b := stack[top-1], stack[top]
		v := 0.0
		switch p.Code {
		case Add:
			v = a + b
		case Subtract:
			v = a - b
		case Multiply:
			v = float64(a * b)
		case Divide:
			v = a / b
		case Minimum:
			v = min(a, b)
		case Maximum:
			v = max(a, b)
		case Less:
			if a < b {
				v = 1
			}
		case LessOrEqual:
			if a <= b {
				v = 1
			}
		case Equal:
			if a == b {
				v = 1
			}
		case NotEqual:
			if a != b {
				v = 1
			}
		case And:
			if a != 0 && b != 0 {
				v = 1
			}
		case Or:
			if a != 0 || b != 0 {
				v = 1
			}
		}
		stack[top-1] = v
	}
	v := float32(stack[0])
	if missing || v-v != 0 {
		v = none
	}
	out[i] = v
}
