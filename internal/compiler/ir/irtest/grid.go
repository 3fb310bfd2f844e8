package irtest

import (
	"iter"
	"math"

	"quern.dev/internal/compiler/ir"
)

// ThreadFault is a fault and the thread that it stopped.
type ThreadFault struct {
	*Fault
	Block, Thread [3]int64
}

// RunGrid executes the kernel for every thread of a grid: block by block, and within a
// block one thread at a time, each up to where it waits for others. It returns the
// threads that stopped with a fault; the others continue.
func RunGrid(k *ir.Kernel, grid, block [3]int64, args ...Value) []ThreadFault {
	var faults []ThreadFault
	together := waits(k.Func.Body)
	for b := range indices(grid) {
		shared := map[*ir.SharedVar]*Object{}
		var threads []*coroutine
		for t := range indices(block) {
			m := &machine{at: coordinates(grid, block, b, t), shared: shared}
			run := func() {
				if f := m.run(k, args); f != nil {
					faults = append(faults, ThreadFault{f, b, t})
				}
			}
			if !together {
				run()
				continue
			}
			c := &coroutine{}
			c.resume, _ = iter.Pull(func(yield func(*exchange) bool) {
				m.barrier = func() { yield(nil) }
				m.meet = func(x *exchange) { yield(x) }
				run()
			})
			threads = append(threads, c)
		}
		runBlock(threads)
	}
	return faults
}

// coroutine is a thread that can wait for others.
type coroutine struct {
	resume func() (*exchange, bool)
	at     *exchange // the warp operation that it waits at; nil at a barrier
	ended  bool
}

// runBlock runs the threads of a block to their ends: each warp up to the next barrier,
// one after another, then all of them to the following barrier.
func runBlock(threads []*coroutine) {
	for live := len(threads) > 0; live; {
		live = false
		for first := 0; first < len(threads); first += warpSize {
			if runWarp(threads[first:min(first+warpSize, len(threads))]) {
				live = true
			}
		}
	}
}

// runWarp runs the threads of a warp up to the next barrier and reports whether any
// have not finished.
func runWarp(threads []*coroutine) (live bool) {
	for first := true; ; first = false {
		lanes := make([]*exchange, len(threads))
		met := false
		live = false
		for i, c := range threads {
			if !c.ended && (first || c.at != nil) {
				x, more := c.resume()
				c.at, c.ended = x, !more
			}
			live = live || !c.ended
			if lanes[i] = c.at; c.at != nil {
				met = true
			}
		}
		if !met {
			return live
		}
		perform(lanes)
	}
}

// indices returns the positions in a box, with X running fastest.
func indices(box [3]int64) iter.Seq[[3]int64] {
	return func(yield func([3]int64) bool) {
		for z := range box[2] {
			for y := range box[1] {
				for x := range box[0] {
					if !yield([3]int64{x, y, z}) {
						return
					}
				}
			}
		}
	}
}

const warpSize = 32

func coordinates(grid, block, b, t [3]int64) Coordinates {
	linear := t[0] + block[0]*(t[1]+block[1]*t[2])
	return Coordinates{
		ir.ThreadIdxX: t[0], ir.ThreadIdxY: t[1], ir.ThreadIdxZ: t[2],
		ir.BlockIdxX: b[0], ir.BlockIdxY: b[1], ir.BlockIdxZ: b[2],
		ir.BlockDimX: block[0], ir.BlockDimY: block[1], ir.BlockDimZ: block[2],
		ir.GridDimX: grid[0], ir.GridDimY: grid[1], ir.GridDimZ: grid[2],
		ir.LaneID: linear % warpSize, ir.WarpID: linear / warpSize,
	}
}

// waits reports whether statements, or functions that they call, wait for other
// threads.
func waits(list []ir.Stmt) bool {
	found := false
	v := ir.Visitor{Stmt: func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Barrier, *ir.Warp:
			found = true
		case *ir.Call:
			found = found || waits(s.Func.Body)
		}
		return !found
	}}
	v.Body(list)
	return found
}

// Buffer returns a slice of elements with the given contents, little-endian in Go's
// layout.
func Buffer(elem *ir.Type, data []byte) Value {
	n := 0
	if size := elem.Size(); size > 0 {
		n = len(data) / int(size)
	}
	o := &Object{}
	unpack(o, ir.ArrayOf(int64(n), elem), data)
	return Value{Object: o, Len: n, Cap: n}
}

// Scalar returns a number or bool with the given contents.
func Scalar(t *ir.Type, data []byte) Value { return Buffer(t, data).Object.Cells[0] }

// Bytes writes the elements of a buffer to data. Padding is not written.
func Bytes(elem *ir.Type, v Value, data []byte) {
	pack(v.Object.Cells[v.Off:], ir.ArrayOf(int64(v.Len), elem), data)
}

func pack(in []Value, t *ir.Type, data []byte) []Value {
	switch t.Kind {
	case ir.Array:
		for i := range t.Len {
			in = pack(in, t.Elem, data[i*t.Elem.Size():])
		}
		return in
	case ir.Struct:
		for _, f := range t.Fields {
			in = pack(in, f.Type, data[f.Offset:])
		}
		return in
	}
	bits := toBits(t, in[0])
	for i := range t.Size() {
		data[i] = byte(bits >> (8 * i))
	}
	return in[1:]
}

// fma32 returns x*y+z of float32 values, rounded once: the product is exact in float64,
// and a sum rounded to odd keeps what the second rounding needs.
func fma32(x, y, z float64) float64 {
	p := x * y
	s := p + z
	if math.IsInf(s, 0) || math.IsNaN(s) {
		return s
	}
	b := s - p
	if lost := (p - (s - b)) + (z - b); lost != 0 && math.Float64bits(s)&1 == 0 {
		if (lost > 0) == (s > 0) {
			return math.Float64frombits(math.Float64bits(s) + 1)
		}
		return math.Float64frombits(math.Float64bits(s) - 1)
	}
	return s
}
