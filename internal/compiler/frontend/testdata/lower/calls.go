package p

import "quern.dev/kernel"

type vec struct{ X, Y float32 }

func (v vec) dot(o vec) float32 { return v.X*o.X + v.Y*o.Y }
func (v *vec) scale(f float32)  { v.X *= f; v.Y *= f }

type particle struct {
	vec
	Mass float32
}

// Methods take the receiver first: its value, or its address for a pointer receiver.
//
//quern:kernel
func methods(t kernel.Thread, in []vec, out []float32) {
	v := in[0]
	v.scale(2)
	in[1].scale(3)
	out[0] = v.dot(in[1])
	p := &in[2]
	p.scale(4)
	out[1] = p.dot(v)
}

// Methods of an embedded struct are called on that part.
//
//quern:kernel
func embedded(t kernel.Thread, in []particle, out []float32) {
	in[0].scale(2)
	out[0] = in[0].dot(in[1].vec) + in[0].X
}

func larger[T int32 | float32](a, b T) T {
	if a > b {
		return a
	}
	return b
}

type pair[T any] struct{ A, B T }

func (p pair[T]) swapped() pair[T] { return pair[T]{p.B, p.A} }

// A generic function is lowered once per list of type arguments.
//
//quern:kernel
func generics(t kernel.Thread, x []int32, y []float32) {
	x[0] = larger(x[1], x[2])
	x[3] = larger(x[4], 5)
	y[0] = larger(y[1], 1)
	p := pair[float32]{y[1], y[2]}.swapped()
	y[3] = p.A
}

type shape interface{ area() float32 }

type square struct{ Side float32 }

func (s square) area() float32 { return s.Side * s.Side }

func total[S shape](s []S) float32 {
	sum := float32(0)
	for _, v := range s {
		sum += v.area()
	}
	return sum
}

// A method of a type parameter is that of the type argument.
//
//quern:kernel
func constraint(t kernel.Thread, in []square, out []float32) {
	out[0] = total(in)
}

func divmod(a, b int32) (q, r int32) {
	q = a / b
	r = a - q*b
	return
}

func swap(a, b int32) (int32, int32) { return b, a }

// Several results are assigned in order, blanks skipped, and can be all the arguments of a call.
//
//quern:kernel
func results(t kernel.Thread, x []int32) {
	q, r := divmod(x[0], x[1])
	x[2], _ = swap(divmod(q, r))
	var a, b = swap(q, r)
	x[3] = a - b
}

func global(t kernel.Thread) int { return t.Global() }

// A function that takes the thread uses the kernel's thread; its Go parameter disappears.
//
//quern:kernel
func threads(t kernel.Thread, out []int32) {
	x, y := t.Global2()
	_, _, z := t.Global3()
	d := t.BlockDim
	out[global(t)] = int32(x + y*d.X + z*t.Stride() + t.Lane()<<t.Warp())
}

func add(x []int32, i int, v int32) int32 { x[i] += v; return x[i] }

// Calls in arguments and operands are evaluated from left to right.
//
//quern:kernel
func order(t kernel.Thread, x []int32) {
	x[0] = add(x, 1, 2) + add(x, 1, add(x, 2, 3))
}

// A new variable next to an existing one: each call is evaluated once.
//
//quern:kernel
func redeclared(t kernel.Thread, x []int32) {
	a, b := add(x, 0, 1), add(x, 1, 1)
	c, a := add(x, 2, 1), add(x, 3, 1)
	x[4] = a + b + c
}

// An unused result is dropped; the call stays.
//
//quern:kernel
func dropped(t kernel.Thread, x []int32) {
	add(x, 0, 1)
	_ = add(x, 1, 1)
	_ = x[2]
}

// A kernel may call another kernel, in the same thread.
//
//quern:kernel
func callsKernel(t kernel.Thread, x []int32) {
	dropped(t, x)
}
