package gpu_test

import (
	"errors"
	"strings"
	"testing"

	"quern.dev/gpu"
)

const faultySource = `package faulty

import "quern.dev/kernel"

type Pair struct{ A, B float32 }

type Row struct {
	N     int8
	Pairs [3]Pair
}

//quern:kernel
func raceOnField(t kernel.Thread, rows []Row) {
	rows[2].Pairs[1].B = float32(t.Global())
}

//quern:kernel
func raceOnArray(t kernel.Thread, x [][4]int32) {
	x[1][3] = int32(t.Global())
}

//quern:kernel
func readOfField(t kernel.Thread, rows []Row, out []float32) {
	out[0] = rows[1].Pairs[2].A
}

//quern:kernel unchecked
func beyond(t kernel.Thread, by int, in, out []int32) {
	out[by] = in[0]
}

//quern:kernel
func raceOfTwo(t kernel.Thread, x, y []int32) {
	if t.Global() == 0 {
		x[4] = 1
	} else {
		y[2] = 2
	}
}
`

type faultyPair struct{ A, B float32 }

type faultyRow struct {
	N     int8
	Pairs [3]faultyPair
}

// Faults that only the simulator detects name the kernel's parameters.
func TestFaultsNameParameterAndElement(t *testing.T) {
	d := must[*gpu.Device](t)(gpu.Open(gpu.Config{Device: "sim"}))
	s := d.DefaultStream()
	rows := must[*gpu.Buffer[faultyRow]](t)(gpu.Alloc[faultyRow](d, 4))
	arrays := must[*gpu.Buffer[[4]int32]](t)(gpu.Alloc[[4]int32](d, 2))
	floats := must[*gpu.Buffer[float32]](t)(gpu.Alloc[float32](d, 1))
	whole := must[*gpu.Buffer[int32]](t)(gpu.Upload(s, make([]int32, 16)))
	unwritten := must[*gpu.Buffer[int32]](t)(gpu.Alloc[int32](d, 16))
	for _, c := range []struct {
		kernel string
		args   []any
		want   string // in Reason
		param  string
		index  int64
		length int64
	}{
		{"raceOnField", []any{rows}, "data race in global memory: global store of 4 bytes: rows[2].Pairs[1].B (the other access: ", "rows", 2, 4},
		{"raceOnArray", []any{arrays}, "data race in global memory: global store of 4 bytes: x[1][3] (the other access: ", "x", 1, 2},
		{"readOfField", []any{rows, floats}, "read of uninitialised memory: global load of 4 bytes: rows[1].Pairs[2].A", "rows", 1, 4},
		{"beyond", []any{20, whole, whole}, "out-of-bounds access: global store of 4 bytes: out[20] of 16 elements", "out", 20, 16},
		{"beyond", []any{-3, whole, whole}, "out-of-bounds access: global store of 4 bytes: out[-3] of 16 elements", "out", -3, 16},
		{"beyond", []any{20, whole.Slice(0, 4), whole.Slice(8, 12)}, "out-of-bounds access: global store of 4 bytes: out[20] of 4 elements", "out", 20, 4},
		{"beyond", []any{-3, unwritten.Slice(8, 12), whole}, "read of uninitialised memory: global load of 4 bytes: in[0]", "in", 0, 4},
		{"raceOfTwo", []any{whole.Slice(0, 8), whole.Slice(2, 8)}, "data race in global memory: global store of 4 bytes: x[4] (the same memory as y[2]) (the other access: kernel.go:35 in block (0,0,0) thread (0,0,0))", "x", 4, 8},
	} {
		k := must[*gpu.Kernel](t)(d.Compile(t.Context(), faultySource, c.kernel))
		if err := k.Launch(s, gpu.Linear(2), c.args...); err != nil {
			t.Fatal(err)
		}
		fault, ok := errors.AsType[*gpu.KernelError](s.Synchronize(t.Context()))
		if !ok {
			t.Errorf("%s: no fault", c.kernel)
			continue
		}
		if !strings.HasPrefix(fault.Reason, c.want) || fault.Param != c.param || fault.Index != c.index || fault.Length != c.length {
			t.Errorf("%s:\ngot  %s (%s[%d] of %d)\nwant %s", c.kernel, fault.Reason, fault.Param, fault.Index, fault.Length, c.want)
		}
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, b := range []interface{ Close() error }{rows, arrays, floats, whole, unwritten, d} {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}
