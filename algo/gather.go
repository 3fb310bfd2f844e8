package algo

import "quern.dev/gpu"

// Gather writes src[at[i]] to dst[i]. at has as many elements as dst. An index that src does not
// have is a [gpu.KernelError] at the next wait. dst shares no memory with src. T is of any size.
func Gather[T any](s *gpu.Stream, dst, src *gpu.Buffer[T], at *gpu.Buffer[uint32]) error {
	return moveElements("Gather", s, true, dst, src, at)
}

// Scatter writes src[i] to dst[at[i]]. at has as many elements as src, and no index twice. An
// index that dst does not have is a [gpu.KernelError] at the next wait. dst shares no memory with
// src. T is of any size.
func Scatter[T any](s *gpu.Stream, dst, src *gpu.Buffer[T], at *gpu.Buffer[uint32]) error {
	return moveElements("Scatter", s, false, dst, src, at)
}

func moveElements[T any](name string, s *gpu.Stream, gathers bool, dst, src *gpu.Buffer[T], at *gpu.Buffer[uint32]) error {
	if src == nil || dst == nil {
		return invalid(name, "src or dst", "the buffer is nil")
	}
	n := src.Len()
	if gathers {
		n = dst.Len()
	}
	if err := length(name, "at", at, n); err != nil || n == 0 {
		return err
	}
	tmp, err := gpu.OpenScratch(s, nil)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	switch size := sizeOf[T](); {
	case size%8 == 0:
		return failed(name, moveWords[uint64](s, tmp, gathers, n, size/8, dst, src, at))
	case size%4 == 0:
		return failed(name, moveWords[uint32](s, tmp, gathers, n, size/4, dst, src, at))
	case size%2 == 0:
		return failed(name, moveWords[uint16](s, tmp, gathers, n, size/2, dst, src, at))
	default:
		return failed(name, moveWords[uint8](s, tmp, gathers, n, size, dst, src, at))
	}
}

// moveWords moves n elements, which consist of words words.
func moveWords[W chunk, T any](s *gpu.Stream, tmp *gpu.Scratch, gathers bool, n, words int, dst, src *gpu.Buffer[T], at *gpu.Buffer[uint32]) error {
	in, out := gpu.ViewAs[W](tmp, src), gpu.ViewAs[W](tmp, dst)
	if gathers {
		return LaunchGather(s, gpu.Linear(words*n), words, at, in, out)
	}
	return LaunchScatter(s, gpu.Linear(words*n), words, at, in, out)
}
