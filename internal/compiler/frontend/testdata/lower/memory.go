package p

import "quern.dev/kernel"

type pixel struct {
	R, G, B uint8
	Weight  float32
}

type palette struct {
	Colors [2]pixel
	Count  int
}

// Struct and array values are built, copied, compared and taken apart.
//
//quern:kernel
func structs(t kernel.Thread, in, out []pixel, n []int32) {
	p := pixel{R: 1, Weight: 2}
	q := in[0]
	q.G = p.R
	out[0] = q
	if p == q {
		n[0] = 1
	}
	if in[1] != (pixel{1, 2, 3, 4}) {
		n[1] = 1
	}
	a := [4]int32{2: 7, 8}
	b := a
	b[n[2]&3] = 1
	if a != b {
		n[3] = a[2]
	}
	c := [...]pixel{{R: 1}, {G: 2}}
	out[1] = c[1]
}

// A struct may be a parameter, by value, with arrays and structs inside.
//
//quern:kernel
func nested(t kernel.Thread, p palette, out []pixel) {
	i := t.Global() % p.Count
	p.Colors[1].R = 9
	out[i] = p.Colors[i]
}

// Pointers name variables, elements and fields.
//
//quern:kernel
func pointers(t kernel.Thread, i int, out []pixel) {
	x := 1
	p := &x
	*p += 2
	q := &out[i+x]
	q.R++
	w := &q.Weight
	*w *= 2
	r := &out[0]
	if i > 3 {
		r = q
	}
	r.B = 4
	set(&out[1].G, 5)
	(*q).R = 6
	s := &pixel{R: 1}
	out[2] = *s
}

func set(p *uint8, v uint8) { *p = v }

// Slicing of slices, arrays and pointers to arrays.
//
//quern:kernel
func slicing(t kernel.Thread, n int, x []int32) {
	a := x[2:n]
	b := x[: n : n+1]
	var local [8]int32
	c := local[1:5]
	tile := kernel.Shared[[16]int32](t)
	d := tile[:]
	fill(a, 1)
	fill(b, 2)
	fill(c, 3)
	fill(d, 4)
	for i, v := range local[n:] {
		x[i] = v
	}
}

func fill(x []int32, v int32) {
	for i := range x {
		x[i] = v
	}
}

var kernelWeights = [3]float32{0.25, 0.5, 0.25}

var origin = struct {
	X, Y int32
}{Y: 3}

var scale float32 = 2

// Package-level variables with constants are tables.
//
//quern:kernel
func tables(t kernel.Thread, i int, out []float32) {
	out[0] = kernelWeights[i] * scale
	out[1] = float32(origin.Y)
	for k, w := range kernelWeights {
		out[k] = w
	}
}

type block struct {
	Sum   [32]float32
	Count int32
}

// Shared variables are numbered; each call of a function has its own.
//
//quern:kernel block=32
func shared(t kernel.Thread, out []float32) {
	b := kernel.Shared[block](t)
	i := t.ThreadIdx.X
	b.Sum[i] = out[i]
	if i == 0 {
		b.Count = 32
	}
	t.Sync()
	out[i] = b.Sum[31-i] + reduced(t, out[i]) + reduced(t, 1)
}

func reduced(t kernel.Thread, v float32) float32 {
	s := kernel.Shared[[32]float32](t)
	s[t.ThreadIdx.X] = v
	t.Sync()
	return s[0]
}

// Atomics are statements; a result that is not used has no variable.
//
//quern:kernel
func atomics(t kernel.Thread, x []int32, u []uint64, f []float32) {
	kernel.AtomicAdd(&x[0], 1)
	old := kernel.AtomicMax(&x[1], 7)
	x[2] = kernel.AtomicCompareAndSwap(&x[3], old, 5) + 1
	kernel.AtomicExchange(&u[0], 1<<63)
	kernel.AtomicSub(&f[0], 0.5)
	count := kernel.Shared[uint32](t)
	kernel.AtomicOr(count, 4)
	kernel.Fence()
	if kernel.AtomicAnd(&x[4], 1) == 0 && kernel.AtomicXor(&x[5], 1) == 0 {
		x[6] = 1
	}
}

// Dynamic shared memory is one variable per element type.
//
//quern:kernel
func dynamic(t kernel.Thread, out []int32) {
	s := kernel.Dynamic[int32](t)
	s[t.ThreadIdx.X] = int32(len(kernel.Dynamic[float64](t)))
	t.Sync()
	out[0] = kernel.Dynamic[int32](t)[1]
}

// Ordered accesses and clocks are statements.
//
//quern:kernel
func ordered(t kernel.Thread, x []int32) {
	v := kernel.LoadAcquire(&x[0], kernel.SystemScope)
	kernel.StoreRelease(&x[1], v+kernel.LoadRelaxed(&x[2]))
	kernel.StoreRelaxed(&x[3], int32(kernel.Clock()))
	kernel.Fence(kernel.BlockScope)
	kernel.AtomicMax(&x[4], v, kernel.BlockScope)
}

// Copies are statements with places; the length of slices that become arrays is checked.
//
//quern:kernel
func copies(t kernel.Thread, x []float32, n int) {
	arrived := kernel.Shared[[2]kernel.CopyBarrier](t)
	s := kernel.Shared[[2][64]float32](t)
	kernel.AsyncCopy(t, (*[4]float32)(s[0][4*t.ThreadIdx.X:]), (*[4]float32)(x[n:]))
	kernel.AsyncCommit(t)
	kernel.AsyncWait(t, 1)
	kernel.BulkCopy(t, &arrived[n], s[n][:], x)
	kernel.BulkWait(t, &arrived[n])
	x[0] = s[1][0]
}

type wordy struct {
	on   bool
	n    int16
	wide float64
	last uint8
}

// The words of a message are stored by a function that is generated for its type.
//
//quern:kernel
func putsWords(t kernel.Thread, n uint8, out []uint64) {
	m := wordy{n > 1, int16(n), 0.5, n}
	kernel.PutWords(out, int(n), 1<<32, &m, kernel.SystemScope)
}

// An unchecked function does not affect the checks of others.
//
//quern:kernel
func callsUnchecked(t kernel.Thread, x []float32, i int) {
	x[i] = apply(x, i, func(v float32) float32 { return v + x[i+1] })
	swap(x[i:], i)
}

// apply is lowered into its caller.
//
//quern:unchecked
func apply(x []float32, i int, f func(float32) float32) float32 { return f(x[i+2]) + doubled(x, i) }

//quern:unchecked
func swap(x []float32, i int) {
	y := x[1:i]
	y[0], y[i] = y[i], y[0]
}

func doubled(x []float32, i int) float32 { return 2 * x[i+3] }
