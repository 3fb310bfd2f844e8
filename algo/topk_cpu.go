package algo

import (
	mathbits "math/bits"

	"quern.dev/gpu"
)

// A CPU finds the first ones of selected times as many elements before it sorts them. If more are
// wanted, it sorts all.
const selected = 16

func selects(n, k int) bool { return k > 0 && k <= n/selected }

// selectOnCPU writes the first k keys of each line to dst, sorted, and their indices to index,
// unless that is nil.
func selectOnCPU[K Key](name string, s *gpu.Stream, tmp *gpu.Scratch, r Radix, axis Axis, k int, dst *gpu.Buffer[K], index *gpu.Buffer[uint32], src *gpu.Buffer[K]) error {
	switch sizeOf[K]() {
	case 1:
		return selectShort(name, s, tmp, r, axis, k, dst, index, src, LaunchWiden[uint8], LaunchNarrow[uint8])
	case 2:
		return selectShort(name, s, tmp, r, axis, k, dst, index, src, LaunchWiden[uint16], LaunchNarrow[uint16])
	case 4:
		return selectWords[K](name, s, tmp, r, axis, k, gpu.ViewAs[uint32](tmp, dst), index, gpu.ViewAs[uint32](tmp, src))
	default:
		return selectWords[K](name, s, tmp, r, axis, k, gpu.ViewAs[uint64](tmp, dst), index, gpu.ViewAs[uint64](tmp, src))
	}
}

// selectShort is [selectOnCPU] for keys whose bits are of type W. They are copied to words.
func selectShort[K Key, W uint8 | uint16](name string, s *gpu.Stream, tmp *gpu.Scratch, r Radix, axis Axis, k int, dst *gpu.Buffer[K], index *gpu.Buffer[uint32], src *gpu.Buffer[K],
	widen func(*gpu.Stream, gpu.Grid, *gpu.Buffer[W], *gpu.Buffer[uint32]) error,
	narrow func(*gpu.Stream, gpu.Grid, *gpu.Buffer[uint32], *gpu.Buffer[W]) error) error {
	m, n := dst.Len(), src.Len()
	first, words := gpu.Take[uint32](tmp, m), gpu.Take[uint32](tmp, n)
	if err := step(name, tmp, n, func() error { return widen(s, gpu.Linear(n), gpu.ViewAs[W](tmp, src), words) }); err != nil {
		return err
	}
	if err := selectWords[K](name, s, tmp, r, axis, k, first, index, words); err != nil {
		return err
	}
	return step(name, tmp, n, func() error { return narrow(s, gpu.Linear(m), first, gpu.ViewAs[W](tmp, dst)) })
}

// selectWords is [selectOnCPU] for keys of type K whose bits are words. A thread finds the first keys
// of a line. A single line is divided into parts, and the first keys are those of the first ones of
// the parts.
func selectWords[K Key, W word](name string, s *gpu.Stream, tmp *gpu.Scratch, r Radix, axis Axis, k int, dst *gpu.Buffer[W], index *gpu.Buffer[uint32], src *gpu.Buffer[W]) error {
	o, passes, last, err := orderOf[K, W](name, r)
	if err != nil {
		return err
	}
	if axis.size() > maxKeys {
		return invalid(name, "src", "%d elements; at most %d are possible", axis.size(), maxKeys)
	}
	bits := digitBits*(passes-1) + mathbits.Len32(last)
	lines, parts := axis.lines(), 1
	if lines == 1 {
		const smallest, most = 1 << 14, 64
		parts = min(max(axis.N/max(smallest, selected*k), 1), most)
	}
	positions, none := gpu.Take[uint32](tmp, lines*k), gpu.Take[uint32](tmp, 0)
	kept, keptAt := gpu.Take[W](tmp, 2*lines*parts*k), gpu.Take[uint32](tmp, 2*lines*parts*k)
	found, foundAt := dst, positions
	if parts > 1 {
		found, foundAt = gpu.Take[W](tmp, parts*k), gpu.Take[uint32](tmp, parts*k)
	}
	if err := step(name, tmp, lines, func() error {
		err := LaunchFirstOfParts(s, gpu.Blocks(gpu.Dim3{X: lines * parts}, oneThread), o, bits, k, axis.N/parts, axis.Inner, src, none, kept, keptAt, found, foundAt)
		if err == nil && parts > 1 {
			err = LaunchFirstOfParts(s, gpu.Blocks(oneThread, oneThread), o, bits, k, parts*k, 1, found, foundAt, kept, keptAt, dst, positions)
		}
		return err
	}); err != nil {
		return err
	}
	p, err := planSort[K](name, s, tmp, r, Axis{axis.Outer, k, axis.Inner}, dst, positions)
	if err != nil {
		return err
	}
	return step(name, tmp, lines, func() error {
		sorted, err := p.run(s)
		if err == nil && sorted != dst {
			err = gpu.Copy(s, dst, sorted)
		}
		if err != nil || index == nil {
			return err
		}
		return LaunchIndicesInLines(s, gpu.Linear(lines*k), uint32(axis.N), uint32(axis.Inner), positions, index)
	})
}
