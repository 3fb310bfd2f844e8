package suite

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"unsafe"

	"quern.dev/gpu"
)

// Argument is implemented by *Array for any element type.
type Argument interface {
	bind(s *gpu.Stream) (buffer any, err error)
	reset(s *gpu.Stream) error
	compare(ctx context.Context, s *gpu.Stream) error
	keep(ctx context.Context, s *gpu.Stream) error
	release() error
}

// Array is the argument for a slice. Its elements are numbers, or structs or arrays of only
// float32 or only float64.
type Array[T any] struct {
	Host []T // before a launch
	Hand []T // after a launch, computed by the hand-written version; nil if the kernel only reads

	role   role
	agree  Agreement
	buffer *gpu.Buffer[T]
}

type role int

const (
	input role = iota
	output
	both
)

// Agreement is how closely results must agree: numbers within Tolerance, relative to the
// larger of the correct number and 1, except for a share of Outliers.
type Agreement struct {
	Tolerance, Outliers float64
}

// exact is the agreement of integers.
var exact = Agreement{}

func in[T any](host []T) *Array[T] { return &Array[T]{Host: host} }

// out returns an array of n elements that a launch writes without reading it.
func out[T any](n int, a Agreement) *Array[T] {
	return &Array[T]{Host: make([]T, n), Hand: make([]T, n), role: output, agree: a}
}

// inOut returns an array that a launch reads and writes.
func inOut[T any](host []T, a Agreement) *Array[T] {
	return &Array[T]{Host: host, Hand: slices.Clone(host), role: both, agree: a}
}

func (a *Array[T]) bind(s *gpu.Stream) (any, error) {
	var err error
	a.buffer, err = gpu.Upload(s, a.Host)
	return a.buffer, err
}

func (a *Array[T]) release() error {
	b := a.buffer
	a.buffer = nil
	return b.Close()
}

// poison is a byte value. Four such bytes are not a plausible number of any type.
const poison = 0xA5

func (a *Array[T]) reset(s *gpu.Stream) error {
	switch a.role {
	case output:
		var v T
		for i := range unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v)) {
			unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v))[i] = poison
		}
		return gpu.Fill(s, a.buffer, v)
	case both:
		return gpu.CopyIn(s, a.buffer, a.Host)
	default:
		return nil
	}
}

func (a *Array[T]) keep(ctx context.Context, s *gpu.Stream) error {
	if a.role == input {
		return nil
	}
	return gpu.Download(ctx, s, a.Hand, a.buffer)
}

func (a *Array[T]) compare(ctx context.Context, s *gpu.Stream) error {
	if a.role == input {
		return nil
	}
	got := make([]T, len(a.Hand))
	if err := gpu.Download(ctx, s, got, a.buffer); err != nil {
		return err
	}
	return a.agree.check(numbers(got), numbers(a.Hand))
}

// check returns an error with the first difference if there are too many.
func (a Agreement) check(got, want sequence) error {
	first, count := -1, 0
	for i := range want.length {
		g, w := got.at(i), want.at(i)
		if !(math.Abs(g-w) <= a.Tolerance*max(1, math.Abs(w))) {
			if count == 0 {
				first = i
			}
			count++
		}
	}
	if float64(count) > a.Outliers*float64(want.length) {
		return fmt.Errorf("%d of %d numbers differ, the first is number %d: %v, want %v", count, want.length, first, got.at(first), want.at(first))
	}
	return nil
}

// sequence is a view of an array as numbers.
type sequence struct {
	length int
	at     func(i int) float64
}

type number interface {
	~int32 | ~uint32 | ~uint8 | ~int64 | ~uint64 | ~float32 | ~float64
}

func view[E number](v []E) sequence {
	return sequence{len(v), func(i int) float64 { return float64(v[i]) }}
}

func numbers[T any](v []T) sequence {
	switch v := any(v).(type) {
	case []uint8:
		return view(v)
	case []int32:
		return view(v)
	case []uint32:
		return view(v)
	case []uint64:
		return view(v)
	case []float32:
		return view(v)
	}
	if parts(reflect.TypeFor[T]()) == reflect.Float64 {
		return view(as[float64](v))
	}
	return view(as[float32](v))
}

// parts returns the kind of the numbers of which a type consists.
func parts(t reflect.Type) reflect.Kind {
	switch t.Kind() {
	case reflect.Struct:
		return parts(t.Field(0).Type)
	case reflect.Array:
		return parts(t.Elem())
	default:
		return t.Kind()
	}
}

// as returns the numbers of which the elements of v consist.
func as[E, T any](v []T) []E {
	var number E
	var element T
	return unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(element)/unsafe.Sizeof(number)))
}
