package fuzz

import (
	"encoding/binary"
	"fmt"
	"math"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/ir/irtest"
	"quern.dev/internal/driver"
	"quern.dev/kernel"
)

// Outcome is the result of running a program.
type Outcome struct {
	Args [][]byte // contents of the arguments after the run

	// Fault is the failed check that was reported; nil if there was none.
	Fault *Fault
}

// Fault is a failed check and the thread that it stopped.
type Fault struct {
	Kind          driver.Kind
	Line          int
	Block, Thread kernel.Dim3
	Text          string
}

func (f *Fault) String() string {
	return fmt.Sprintf("%s at line %d in thread %v of block %v", f.Text, f.Line, f.Thread, f.Block)
}

// reference is the expected outcome, with every thread that must fail.
type reference struct {
	kernel *ir.Kernel
	args   [][]byte
	faults []irtest.ThreadFault
}

// maxSteps is more than any generated program needs. A minimized candidate that needs more
// is rejected.
const maxSteps = 1_000_000

// refer interprets the program.
func (c *Case) refer(k *ir.Kernel) (*reference, error) {
	r := &reference{kernel: k, args: c.arguments(k)}
	values := make([]irtest.Value, len(r.args))
	for i, p := range k.Func.Params {
		switch {
		case p.Type.Kind == ir.Slice:
			values[i] = irtest.Buffer(p.Type.Elem, r.args[i])
		case p.Type.IsAggregate():
			values[i] = irtest.Buffer(p.Type, r.args[i])
		default:
			values[i] = irtest.Scalar(p.Type, r.args[i])
		}
	}
	box := func(d kernel.Dim3) [3]int64 { return [3]int64{int64(d.X), int64(d.Y), int64(d.Z)} }
	irtest.MaxSteps = maxSteps
	r.faults = irtest.RunGrid(k, box(c.Grid), box(c.Block), values...)
	for _, f := range r.faults {
		if f.Kind == "steps" {
			return nil, fmt.Errorf("the program does not end")
		}
	}
	for i, p := range k.Func.Params {
		if p.Type.Kind == ir.Slice {
			irtest.Bytes(p.Type.Elem, values[i], r.args[i])
		}
	}
	return r, nil
}

// compare describes how an outcome differs from the reference; "" if it does not.
func (r *reference) compare(got *Outcome) string {
	switch {
	case got.Fault == nil && len(r.faults) > 0:
		return fmt.Sprintf("no fault, want %s", r.expected())
	case got.Fault != nil && len(r.faults) == 0:
		return fmt.Sprintf("%s, want no fault", got.Fault)
	case got.Fault != nil:
		for _, f := range r.faults {
			if sameThread(f.Block, got.Fault.Block) && sameThread(f.Thread, got.Fault.Thread) {
				return ""
			}
		}
		return fmt.Sprintf("%s, want %s", got.Fault, r.expected())
	}
	bound := r.values("bound")
	for i, p := range r.kernel.Func.Params {
		if p.Type.Kind != ir.Slice {
			continue
		}
		t := p.Type.Elem
		for j := range int64(len(r.args[i])) / t.Size() {
			want, have := r.args[i][j*t.Size():][:t.Size()], got.Args[i][j*t.Size():][:t.Size()]
			if p.Name == "fused" {
				if !same(t, want, have) && !near(t, want, have, bound[j]) {
					return fmt.Sprintf("%s[%d] = %v, want %v within %g of %g", p.Name, j, number(t, have), number(t, want), tolerance(t), bound[j])
				}
				continue
			}
			if !same(t, want, have) {
				return fmt.Sprintf("%s[%d] = %s, want %s", p.Name, j, show(t, have), show(t, want))
			}
		}
	}
	return ""
}

// changed describes a change of a slice that the kernel does not write according to the
// compiler; "" if there is none.
func (r *reference) changed(c *Case, written []bool) string {
	before := c.arguments(r.kernel)
	for i, p := range r.kernel.Func.Params {
		if p.Type.Kind != ir.Slice || written[i] {
			continue
		}
		t := p.Type.Elem
		for j := range int64(len(before[i])) / t.Size() {
			was, is := before[i][j*t.Size():][:t.Size()], r.args[i][j*t.Size():][:t.Size()]
			if !same(t, was, is) {
				return fmt.Sprintf("%s is read-only for the compiler, but %s[%d] was %s and is %s", p.Name, p.Name, j, show(t, was), show(t, is))
			}
		}
	}
	return ""
}

func sameThread(a [3]int64, b kernel.Dim3) bool {
	return a == [3]int64{int64(b.X), int64(b.Y), int64(b.Z)}
}

func (r *reference) expected() string {
	f := r.faults[0]
	return fmt.Sprintf("%s at line %d in thread %v of block %v, or one of %d others", f.Kind, f.Pos.Line, f.Thread, f.Block, len(r.faults)-1)
}

// values returns the numbers of a slice of floats.
func (r *reference) values(name string) []float64 {
	for i, p := range r.kernel.Func.Params {
		if p.Name != name {
			continue
		}
		var out []float64
		size := p.Type.Elem.Size()
		for b := r.args[i]; len(b) > 0; b = b[size:] {
			out = append(out, number(p.Type.Elem, b))
		}
		return out
	}
	return nil
}

// same reports whether two values are equal bit for bit, ignoring NaN payloads and
// padding.
func same(t *ir.Type, a, b []byte) bool {
	switch {
	case t.Kind == ir.Array:
		for i := range t.Len {
			if !same(t.Elem, a[i*t.Elem.Size():], b[i*t.Elem.Size():]) {
				return false
			}
		}
		return true
	case t.Kind == ir.Struct:
		for _, f := range t.Fields {
			if !same(f.Type, a[f.Offset:], b[f.Offset:]) {
				return false
			}
		}
		return true
	}
	if string(a[:t.Size()]) == string(b[:t.Size()]) {
		return true
	}
	return t.IsFloat() && math.IsNaN(number(t, a)) && math.IsNaN(number(t, b))
}

func number(t *ir.Type, b []byte) float64 {
	if t.Kind == ir.Float32 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// tolerance returns the largest error of a sum of products that may be fused, relative to
// the sum of their magnitudes.
func tolerance(t *ir.Type) float64 {
	if t.Kind == ir.Float32 {
		return 0x1p-20
	}
	return 0x1p-48
}

// near compares sums of products. If the magnitudes overflow, it accepts any result.
func near(t *ir.Type, want, got []byte, bound float64) bool {
	largest, least := math.MaxFloat64, 0x1p-1060
	if t.Kind == ir.Float32 {
		largest, least = math.MaxFloat32, 0x1p-140
	}
	if !(bound < largest/4) {
		return true
	}
	return math.Abs(number(t, want)-number(t, got)) <= bound*tolerance(t)+least
}

// show formats a value.
func show(t *ir.Type, b []byte) string {
	switch {
	case t.IsFloat():
		return fmt.Sprint(number(t, b))
	case t.IsInteger():
		v := uint64(0)
		for i := range t.Size() {
			v |= uint64(b[i]) << (8 * i)
		}
		if v = ir.WrapBits(t.Kind, v); t.IsSigned() {
			return fmt.Sprint(int64(v))
		}
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("%x", b[:t.Size()])
}
