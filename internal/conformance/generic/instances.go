package generic

import "quern.dev/kernel"

// Celsius is a numeric type with methods.
type Celsius float32

// Scaled returns c multiplied by by.
func (c Celsius) Scaled(by float32) Celsius { return Celsius(float32(c) * by) }

// Point has two coordinates.
type Point struct{ X, Y float64 }

// Sum returns the sum of the coordinates.
func (p Point) Sum() float64 { return p.X + p.Y }

// Pair is a struct with type parameters.
type Pair[A, B any] struct {
	First  A
	Second B
}

// scale multiplies the elements of x by a.
//
//quern:kernel instantiate=float32,float64,int16,uint64,Celsius
func scale[T kernel.Number](t kernel.Thread, a T, x []T) {
	if i := t.Global(); i < len(x) {
		x[i] *= a
	}
}

// fill is instantiated with non-numeric types.
//
//quern:kernel instantiate=bool,Point,[3]int8,Pair[uint8,float64]
func fill[T any](t kernel.Thread, v T, x []T) {
	for i := t.Global(); i < len(x); i += t.Stride() {
		x[i] = v
	}
}

// convert has two type parameters. Each instance names one pair.
//
//quern:kernel instantiate=float32:int32,float64:int64,int8:uint16
func convert[From, To kernel.Number](t kernel.Thread, from []From, to []To) {
	if i := t.Global(); i < len(from) {
		to[i] = To(from[i])
	}
}

// pack has an instance for each combination of its type arguments.
//
//quern:kernel instantiate=uint8:float32,uint8:float64,int64:float32,int64:float64
func pack[A, B kernel.Number](t kernel.Thread, a []A, b []B, out []Pair[A, B]) {
	if i := t.Global(); i < len(out) {
		out[i] = Pair[A, B]{First: a[i], Second: b[i]}
	}
}

// summer is a constraint with a method.
type summer interface{ Sum() float64 }

// total calls a method of the type parameter.
//
//quern:kernel instantiate=Point
func total[T summer](t kernel.Thread, values []T, out []float64) {
	if i := t.Global(); i < len(values) {
		out[i] = values[i].Sum()
	}
}

// reverse uses a shared variable of the type parameter, and barriers.
//
//quern:kernel instantiate=int32,float64,Point block=64
func reverse[T any](t kernel.Thread, x []T) {
	tile := kernel.Shared[[64]T](t)
	i := t.Global()
	if i < len(x) {
		tile[t.ThreadIdx.X] = x[i]
	}
	t.Sync()
	if i < len(x) {
		x[i] = tile[63-t.ThreadIdx.X]
	}
}
