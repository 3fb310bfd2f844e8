package algo

import (
	mathbits "math/bits"

	"quern.dev/algo/internal/template"
	"quern.dev/gpu"
)

// TopK writes the first elements of src in the order of r to dst, sorted, as many as dst has: those
// that [SortRadix] would put first. With Radix{Descending: true} these are the largest ones. A GPU
// reads src once per 11 bits to find the last one of them, and once more to copy them. A CPU reads
// src once if dst has up to a sixteenth of its elements, and sorts a copy otherwise. Results share no memory with src.
func TopK[K Key](s *gpu.Stream, r Radix, dst, src *gpu.Buffer[K], work ...*gpu.Workspace) error {
	return topK("TopK", s, r, dst, nil, src, work)
}

// TopKIndices is [TopK], and writes to index where the elements are in src.
func TopKIndices[K Key](s *gpu.Stream, r Radix, dst *gpu.Buffer[K], index *gpu.Buffer[uint32], src *gpu.Buffer[K], work ...*gpu.Workspace) error {
	const name = "TopKIndices"
	if err := present(name, "dst", dst); err != nil {
		return err
	}
	if err := length(name, "index", index, dst.Len()); err != nil {
		return err
	}
	return topK(name, s, r, dst, index, src, work)
}

func topK[K Key](name string, s *gpu.Stream, r Radix, dst *gpu.Buffer[K], index *gpu.Buffer[uint32], src *gpu.Buffer[K], work []*gpu.Workspace) error {
	if err := present(name, "dst", dst); err != nil {
		return err
	}
	if err := present(name, "src", src); err != nil {
		return err
	}
	if dst.Len() > src.Len() {
		return invalid(name, "dst", "%d elements, but src has %d", dst.Len(), src.Len())
	}
	if err := checkFirst(name, dst, index, src); err != nil {
		return err
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	if s.Device().Backend() == gpu.CPU {
		if selects(src.Len(), dst.Len()) {
			return selectOnCPU(name, s, tmp, r, allOf(src), dst.Len(), dst, index, src)
		}
		return sortFirst(name, s, tmp, r, dst, index, src)
	}
	if index == nil {
		index = gpu.Take[uint32](tmp, dst.Len())
	}
	switch sizeOf[K]() {
	case 1:
		return findShort(name, s, tmp, r, dst, index, src, LaunchWiden[uint8], LaunchNarrow[uint8])
	case 2:
		return findShort(name, s, tmp, r, dst, index, src, LaunchWiden[uint16], LaunchNarrow[uint16])
	case 4:
		return findFirst[K](name, s, tmp, r, dst.Len(), gpu.ViewAs[uint32](tmp, dst), index, src.Len(), gpu.ViewAs[uint32](tmp, src), nothing, nothing)
	default:
		return findFirst[K](name, s, tmp, r, dst.Len(), gpu.ViewAs[uint64](tmp, dst), index, src.Len(), gpu.ViewAs[uint64](tmp, src), nothing, nothing)
	}
}

// checkFirst returns an error if a result shares memory with src.
func checkFirst[K Key](name string, dst *gpu.Buffer[K], index *gpu.Buffer[uint32], src *gpu.Buffer[K]) error {
	if err := apart(name, "dst", dst, "src", src); err != nil {
		return err
	}
	return apartFrom(name, "index", index, "src", src, "dst", dst)
}

func nothing() error { return nil }

// sortFirst sorts a copy of all elements.
func sortFirst[K Key](name string, s *gpu.Stream, tmp *gpu.Scratch, r Radix, dst *gpu.Buffer[K], index *gpu.Buffer[uint32], src *gpu.Buffer[K]) error {
	n, k := src.Len(), dst.Len()
	positions, err := orderLines(name, s, tmp, r, allOf(src), src, gpu.Take[K](tmp, n))
	if err != nil {
		return err
	}
	return step(name, tmp, k, func() error {
		if err := gather(s, tmp, k, dst, src, nil, positions); err != nil || index == nil {
			return err
		}
		return LaunchIndicesInLines(s, gpu.Linear(k), uint32(n), 1, positions, index)
	})
}

// findShort is [findFirst] for keys whose bits are of type W. They are copied to words.
func findShort[K Key, W uint8 | uint16](name string, s *gpu.Stream, tmp *gpu.Scratch, r Radix, dst *gpu.Buffer[K], index *gpu.Buffer[uint32], src *gpu.Buffer[K],
	widen func(*gpu.Stream, gpu.Grid, *gpu.Buffer[W], *gpu.Buffer[uint32]) error,
	narrow func(*gpu.Stream, gpu.Grid, *gpu.Buffer[uint32], *gpu.Buffer[W]) error) error {
	k, n := dst.Len(), src.Len()
	first, words := gpu.Take[uint32](tmp, k), gpu.Take[uint32](tmp, n)
	return findFirst[K](name, s, tmp, r, k, first, index, n, words,
		func() error { return widen(s, gpu.Linear(n), gpu.ViewAs[W](tmp, src), words) },
		func() error { return narrow(s, gpu.Linear(k), first, gpu.ViewAs[W](tmp, dst)) })
}

// findFirst writes the first k of n elements of type K, whose bits are words. It calls before and
// after when src is needed and dst is complete.
func findFirst[K Key, W word](name string, s *gpu.Stream, tmp *gpu.Scratch, r Radix, k int, dst *gpu.Buffer[W], index *gpu.Buffer[uint32], n int, src *gpu.Buffer[W], before, after func() error) error {
	o, passes, last, err := orderOf[K, W](name, r)
	if err != nil {
		return err
	}
	if n > maxKeys {
		return invalid(name, "src", "%d elements; at most %d are possible", n, maxKeys)
	}
	bits := uint32(digitBits*(passes-1) + mathbits.Len32(last))
	levels := int(bits+limitBits-1) / limitBits
	tiles := (n + template.Tile - 1) / template.Tile
	// The counts of each digit, the limit, and the look-back.
	counts, limit := gpu.Take[uint32](tmp, limitDigits), gpu.Take[uint64](tmp, 2)
	status := takeStatus(tmp, tiles, 8)
	p, err := planSort[K](name, s, tmp, r, Axis{Outer: 1, N: k, Inner: 1}, dst, index)
	if err != nil {
		return err
	}
	if run, err := tmp.Ready(); !run || k == 0 {
		return failed(name, err)
	}
	if err := before(); err != nil {
		return failed(name, err)
	}
	block := gpu.Dim3{X: sortThreads}
	if err := LaunchSetRank(s, gpu.Linear(2), uint32(k), limit); err != nil {
		return failed(name, err)
	}
	const most, each = 1024, 16 * sortThreads // blocks, keys of a block at least
	grid := gpu.Blocks(gpu.Dim3{X: min((n+each-1)/each, most)}, block)
	mask, left := ^W(0)>>(uint32(8*sizeOf[W]())-bits), bits
	for i := range levels {
		l := limitLevel{Bits: (left + uint32(levels-i) - 1) / uint32(levels-i)}
		left -= l.Bits
		l.Shift = left
		if err := gpu.Zero(s, counts); err != nil {
			return failed(name, err)
		}
		if err := LaunchLimitCount(s, grid, o, mask, l, src, limit, counts); err != nil {
			return failed(name, err)
		}
		if err := LaunchLimitDigit(s, gpu.Blocks(oneThread, block), l.Bits, counts, limit); err != nil {
			return failed(name, err)
		}
	}
	if err := gpu.Zero(s, status); err != nil {
		return failed(name, err)
	}
	if err := LaunchKeepFirst(s, gpu.Blocks(gpu.Dim3{X: tiles}, gpu.Dim3{X: template.Threads}), o, mask, limit, src, dst, index, status); err != nil {
		return failed(name, err)
	}
	sorted, err := p.run(s)
	if err == nil && sorted != dst {
		err = gpu.Copy(s, dst, sorted)
	}
	if err == nil {
		err = after()
	}
	return failed(name, err)
}
