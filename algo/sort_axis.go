package algo

import (
	"math/bits"

	"quern.dev/gpu"
)

// SortAxis sorts lines of keys along an axis, each by itself, in the order of r. Keys that are
// equal keep their order. A GPU sorts lines of up to 4224 keys in shared memory, each with a
// block. Longer lines are sorted together, with the temporary memory of [SortPairs].
func SortAxis[K Key](s *gpu.Stream, r Radix, axis Axis, keys *gpu.Buffer[K], work ...*gpu.Workspace) error {
	const name = "SortAxis"
	if keys == nil {
		return invalid(name, "keys", "the buffer is nil")
	}
	if err := axis.check(name, "keys", keys.Len()); err != nil {
		return err
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	lines := axis.Outer * axis.Inner
	if s.Device().Backend() == gpu.CPU || axis.N <= mostInLine || lines <= 1 {
		return sortWords(name, s, tmp, r, axis, keys, nil)
	}
	return sortLongLines(name, s, tmp, r, axis, keys)
}

// sortLongLines sorts all keys, and then, because that keeps their order, by line.
func sortLongLines[K Key](name string, s *gpu.Stream, tmp *gpu.Scratch, r Radix, axis Axis, keys *gpu.Buffer[K]) error {
	n, lines := keys.Len(), axis.Outer*axis.Inner
	all := Axis{Outer: 1, N: n, Inner: 1}
	index, line, copied := gpu.Take[uint32](tmp, n), gpu.Take[uint32](tmp, n), gpu.Take[K](tmp, n)
	step := func(f func() error) error {
		run, err := tmp.Ready()
		if err == nil && run {
			err = f()
		}
		return failed(name, err)
	}
	if err := step(func() error {
		if err := gpu.Copy(s, copied, keys); err != nil {
			return err
		}
		return LaunchNumbers(s, gpu.Linear(n), index)
	}); err != nil {
		return err
	}
	if err := sortWords(name, s, tmp, r, all, copied, index); err != nil {
		return err
	}
	if err := step(func() error {
		return LaunchLinesOf(s, gpu.Linear(n), uint32(axis.N), uint32(axis.Inner), index, line)
	}); err != nil {
		return err
	}
	byLine := Radix{Bits: bits.Len(uint(lines - 1))}
	if err := sortWords(name, s, tmp, byLine, all, line, index); err != nil {
		return err
	}
	return step(func() error {
		if err := gpu.Copy(s, copied, keys); err != nil {
			return err
		}
		switch sizeOf[K]() {
		case 1:
			return placeLinesOf[uint8](s, tmp, axis, index, copied, keys)
		case 2:
			return placeLinesOf[uint16](s, tmp, axis, index, copied, keys)
		case 4:
			return placeLinesOf[uint32](s, tmp, axis, index, copied, keys)
		default:
			return placeLinesOf[uint64](s, tmp, axis, index, copied, keys)
		}
	})
}

func placeLinesOf[W chunk, K Key](s *gpu.Stream, tmp *gpu.Scratch, axis Axis, index *gpu.Buffer[uint32], from, to *gpu.Buffer[K]) error {
	return LaunchPlaceLines(s, gpu.Linear(to.Len()), uint32(axis.N), uint32(axis.Inner), index, gpu.ViewAs[W](tmp, from), gpu.ViewAs[W](tmp, to))
}
