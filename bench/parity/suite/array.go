package suite

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"sync"
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

	bytes() (in, out int64)
	send(s *gpu.Stream) error
	receive(ctx context.Context, s *gpu.Stream) error
}

// Array is the argument for a slice. Its elements are numbers, or structs or arrays of
// one type of number.
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
	if a.role == output {
		a.buffer, err = gpu.Alloc[T](s.Device(), len(a.Host))
	} else {
		a.buffer, err = gpu.Upload(s, a.Host)
	}
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
	workers := runtime.GOMAXPROCS(0)
	first, count := make([]int, workers), make([]int, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w * want.length / workers; i < (w+1)*want.length/workers; i++ {
				g, x := got.at(i), want.at(i)
				if !(math.Abs(g-x) <= a.Tolerance*max(1, math.Abs(x))) {
					if count[w] == 0 {
						first[w] = i
					}
					count[w]++
				}
			}
		})
	}
	wg.Wait()
	total := 0
	for _, n := range count {
		total += n
	}
	if float64(total) <= a.Outliers*float64(want.length) {
		return nil
	}
	i := first[slices.IndexFunc(count, func(n int) bool { return n > 0 })]
	return fmt.Errorf("%d of %d numbers differ, the first is number %d: %v, want %v", total, want.length, i, got.at(i), want.at(i))
}

// sequence is a view of an array as numbers.
type sequence struct {
	length int
	at     func(i int) float64
}

type number interface {
	~int8 | ~uint8 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64
}

// numbers returns a view of all numbers of an array.
func numbers[T any](v []T) sequence {
	element := reflect.TypeFor[T]()
	number := element
	for number.Kind() == reflect.Array || number.Kind() == reflect.Struct {
		if number.Kind() == reflect.Array {
			number = number.Elem()
		} else {
			number = number.Field(0).Type
		}
	}
	first, n := unsafe.Pointer(unsafe.SliceData(v)), len(v)*int(element.Size()/number.Size())
	switch number.Kind() {
	case reflect.Int8:
		return view((*int8)(first), n)
	case reflect.Uint8:
		return view((*uint8)(first), n)
	case reflect.Int32:
		return view((*int32)(first), n)
	case reflect.Uint32:
		return view((*uint32)(first), n)
	case reflect.Int64:
		return view((*int64)(first), n)
	case reflect.Uint64:
		return view((*uint64)(first), n)
	case reflect.Float32:
		return view((*float32)(first), n)
	case reflect.Float64:
		return view((*float64)(first), n)
	default:
		panic(fmt.Sprintf("suite: elements of type %v cannot be compared", element))
	}
}

func view[E number](first *E, n int) sequence {
	v := unsafe.Slice(first, n)
	return sequence{n, func(i int) float64 { return float64(v[i]) }}
}
