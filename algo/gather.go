package algo

import (
	"math"

	"quern.dev/gpu"
)

// Gather writes src[at[i]] to dst[i]. at has as many elements as dst. An index that src does not
// have is a [gpu.KernelError] at the next wait. dst shares no memory with src. T is of any size.
func Gather[T any](s *gpu.Stream, dst, src *gpu.Buffer[T], at *gpu.Buffer[uint32]) error {
	const name = "Gather"
	if err := checkMove(name, dst, src, at, dst); err != nil || dst.Len() == 0 {
		return err
	}
	tmp, err := gpu.OpenScratch(s, nil)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	return failed(name, gather(s, tmp, dst.Len(), dst, src, nil, at))
}

// Scatter writes src[i] to dst[at[i]]. at has as many elements as src, and no index twice. An
// index that dst does not have is a [gpu.KernelError] at the next wait. dst shares no memory with
// src. T is of any size.
func Scatter[T any](s *gpu.Stream, dst, src *gpu.Buffer[T], at *gpu.Buffer[uint32]) error {
	const name = "Scatter"
	if err := checkMove(name, dst, src, at, src); err != nil || src.Len() == 0 {
		return err
	}
	tmp, err := gpu.OpenScratch(s, nil)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	switch size := sizeOf[T](); {
	case size%8 == 0:
		err = scatterWords[uint64](s, tmp, size/8, dst, src, at)
	case size%4 == 0:
		err = scatterWords[uint32](s, tmp, size/4, dst, src, at)
	case size%2 == 0:
		err = scatterWords[uint16](s, tmp, size/2, dst, src, at)
	default:
		err = scatterWords[uint8](s, tmp, size, dst, src, at)
	}
	return failed(name, err)
}

// checkMove returns an error if a buffer is nil, at does not have an index for each element of moved,
// or dst shares memory with the others.
func checkMove[T any](name string, dst, src *gpu.Buffer[T], at *gpu.Buffer[uint32], moved *gpu.Buffer[T]) error {
	if err := present(name, "src", src); err != nil {
		return err
	}
	if err := present(name, "dst", dst); err != nil {
		return err
	}
	if err := length(name, "at", at, moved.Len()); err != nil {
		return err
	}
	if err := apart(name, "dst", dst, "src", src); err != nil {
		return err
	}
	return apart(name, "dst", dst, "at", at)
}

// gather writes the elements at the first n indices to dst: those of src, and then, unless it is
// nil, those of more.
func gather[T any](s *gpu.Stream, tmp *gpu.Scratch, n int, dst, src, more *gpu.Buffer[T], at *gpu.Buffer[uint32]) error {
	switch size := sizeOf[T](); {
	case size%8 == 0:
		return gatherWords[uint64](s, tmp, n, size/8, dst, src, more, at)
	case size%4 == 0:
		return gatherWords[uint32](s, tmp, n, size/4, dst, src, more, at)
	case size%2 == 0:
		return gatherWords[uint16](s, tmp, n, size/2, dst, src, more, at)
	default:
		return gatherWords[uint8](s, tmp, n, size, dst, src, more, at)
	}
}

func gatherWords[W chunk, T any](s *gpu.Stream, tmp *gpu.Scratch, n, words int, dst, src, more *gpu.Buffer[T], at *gpu.Buffer[uint32]) error {
	split := words * src.Len()
	if more == nil {
		more, split = src, math.MaxInt
	}
	return LaunchGatherFrom(s, gpu.Linear(words*n), words, split, at, gpu.ViewAs[W](tmp, src), gpu.ViewAs[W](tmp, more), gpu.ViewAs[W](tmp, dst))
}

func scatterWords[W chunk, T any](s *gpu.Stream, tmp *gpu.Scratch, words int, dst, src *gpu.Buffer[T], at *gpu.Buffer[uint32]) error {
	return LaunchScatter(s, gpu.Linear(words*src.Len()), words, at, gpu.ViewAs[W](tmp, src), gpu.ViewAs[W](tmp, dst))
}
