package ptx

import (
	"math"
	"strconv"

	"quern.dev/internal/compiler/ir"
)

// class is a class of virtual registers.
type class uint8

const (
	noClass class = iota
	predClass
	b32Class
	b64Class
	f32Class
	f64Class
	b16Class // 16-bit floats only: narrow integers are in 32-bit registers
	numClasses
)

// classPrefix and classType are the register name prefix and the declared type of a
// class.
var (
	classPrefix = [numClasses]string{predClass: "%p", b32Class: "%r", b64Class: "%rd", f32Class: "%f", f64Class: "%fd", b16Class: "%h"}
	classType   = [numClasses]string{predClass: ".pred", b32Class: ".b32", b64Class: ".b64", f32Class: ".f32", f64Class: ".f64", b16Class: ".b16"}
)

// bits returns the type of a class in instructions that move values.
func (c class) bits() string {
	return [numClasses]string{predClass: "pred", b32Class: "b32", b64Class: "b64", f32Class: "f32", f64Class: "f64", b16Class: "b16"}[c]
}

// classOf returns the class of the register for a scalar of type t. Pointers are 64-bit
// here, except those to shared memory (see space.go).
func classOf(t *ir.Type) class {
	switch t.Kind {
	case ir.Bool:
		return predClass
	case ir.Float32:
		return f32Class
	case ir.Float64:
		return f64Class
	case ir.Float16, ir.BFloat16:
		return b16Class
	case ir.Int64, ir.Uint64, ir.Int, ir.Uint, ir.Pointer:
		return b64Class
	}
	return b32Class
}

// operand is a register or an immediate; the zero operand is none. Compare operands
// with ==.
type operand struct {
	class     class
	immediate bool
	n         uint64 // register number; integer bits as in ir.Const; float bits
}

func (o operand) isNone() bool     { return o.class == noClass }
func (o operand) isRegister() bool { return o.class != noClass && !o.immediate }

// isZero reports whether o is the integer immediate 0.
func (o operand) isZero() bool {
	return o.immediate && o.n == 0 && (o.class == b32Class || o.class == b64Class)
}

// intOperand returns an integer immediate; v is extended to 64 bits.
func intOperand(c class, v uint64) operand { return operand{c, true, v} }

func constOperand(c *ir.Const) operand {
	switch c.T.Kind {
	case ir.Float32:
		return operand{f32Class, true, uint64(math.Float32bits(float32(c.Float)))}
	case ir.Float64:
		return operand{f64Class, true, math.Float64bits(c.Float)}
	}
	return operand{classOf(c.T), true, c.Bits}
}

func zeroOperand(c class) operand { return operand{c, true, 0} }

func (o operand) append(b []byte) []byte {
	if !o.immediate {
		b = append(b, classPrefix[o.class]...)
		return strconv.AppendUint(b, o.n, 10)
	}
	switch o.class {
	case f32Class:
		return appendHex(append(b, "0f"...), o.n, 8)
	case f64Class:
		return appendHex(append(b, "0d"...), o.n, 16)
	}
	if int64(o.n) < math.MinInt32 {
		return appendHex(append(b, "0x"...), o.n, 16)
	}
	return strconv.AppendInt(b, int64(o.n), 10)
}

func appendHex(b []byte, v uint64, digits int) []byte {
	for shift := 4 * (digits - 1); shift >= 0; shift -= 4 {
		b = append(b, "0123456789ABCDEF"[v>>shift&15])
	}
	return b
}

// condition is a predicate register or its complement.
type condition struct {
	pred    operand
	negated bool
}

func (c condition) not() condition { return condition{c.pred, !c.negated} }

// width returns the number of bits of scalar kind k in memory.
func width(k ir.Kind) int {
	switch k {
	case ir.Int8, ir.Uint8, ir.Bool:
		return 8
	case ir.Int16, ir.Uint16, ir.Float16, ir.BFloat16:
		return 16
	case ir.Int32, ir.Uint32, ir.Float32:
		return 32
	}
	return 64
}

// arithmeticType returns the instruction type for arithmetic on kind k in its register:
// 32 bits for narrower integers.
func arithmeticType(k ir.Kind) string {
	switch k {
	case ir.Float32:
		return "f32"
	case ir.Float64:
		return "f64"
	case ir.Int8, ir.Int16, ir.Int32:
		return "s32"
	case ir.Int64, ir.Int:
		return "s64"
	case ir.Uint64, ir.Uint, ir.Pointer:
		return "u64"
	}
	return "u32"
}

// bitType returns arithmeticType without the sign.
func bitType(k ir.Kind) string {
	if width(k) == 64 {
		return "b64"
	}
	return "b32"
}

// memoryType returns the type for loads and stores of kind k.
func memoryType(k ir.Kind) string {
	switch k {
	case ir.Int8:
		return "s8"
	case ir.Uint8, ir.Bool:
		return "u8"
	case ir.Int16:
		return "s16"
	case ir.Uint16:
		return "u16"
	case ir.Float16, ir.BFloat16:
		return "b16"
	case ir.Float32:
		return "f32"
	case ir.Float64:
		return "f64"
	case ir.Int32, ir.Uint32:
		return "u32"
	}
	return "u64"
}
