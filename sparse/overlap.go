package sparse

import (
	"unsafe"

	"quern.dev/gpu"
	"quern.dev/internal/engine"
)

// extent is the memory of a buffer.
type extent struct {
	start *gpu.Buffer[byte] // only its address
	bytes int
}

func extentOf[T any](b *gpu.Buffer[T]) extent {
	var element T
	return extent{engine.Bytes(b), b.Len() * int(unsafe.Sizeof(element))}
}

// overlap returns whether two buffers have elements in common, and the distance of their first
// ones.
func (a extent) overlap(b extent) (distance int, ok bool) {
	d, ok := gpu.Distance(a.start, b.start)
	return d, ok && d < a.bytes && -d < b.bytes
}

// storage is the memory of a matrix: two buffers of indices (ELL has one, listed twice) and the values.
type storage [3]extent

func (a CSR[T]) storage() storage {
	return storage{extentOf(a.Start), extentOf(a.Index), extentOf(a.Value)}
}

func (a CSC[T]) storage() storage { return a.Transpose().storage() }

func (a COO[T]) storage() storage {
	return storage{extentOf(a.Row), extentOf(a.Col), extentOf(a.Value)}
}

func (a ELL[T]) storage() storage {
	return storage{extentOf(a.Index), extentOf(a.Index), extentOf(a.Value)}
}

func (a BSR[T]) storage() storage {
	return storage{extentOf(a.Start), extentOf(a.Index), extentOf(a.Value)}
}

// checkResult returns an error if a vector that is written shares memory with a matrix or with
// another vector, which it may be if same is true.
func checkResult[T Float](op, arg string, y *gpu.Buffer[T], a storage, other string, x *gpu.Buffer[T], same bool) error {
	written := extentOf(y)
	if distance, ok := written.overlap(extentOf(x)); ok && (distance != 0 || !same) {
		return invalid(op, arg, "overlaps %s; the result needs memory of its own", other)
	}
	for _, e := range a {
		if _, ok := written.overlap(e); ok {
			return invalid(op, arg, "overlaps a; the result needs memory of its own")
		}
	}
	return nil
}

// checkConversion returns an error if the matrices of a conversion share memory.
func checkConversion(op string, dst, src storage) error {
	for _, d := range dst {
		for _, e := range src {
			if _, ok := d.overlap(e); ok {
				return invalid(op, "dst", "overlaps src; the result needs memory of its own")
			}
		}
	}
	return nil
}
