package algo

import (
	"math"
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

// groups returns a function that writes the lines of the elements at some positions.
func (a Axis) groups(s *gpu.Stream) func(index, line *gpu.Buffer[uint32]) error {
	return func(index, line *gpu.Buffer[uint32]) error {
		return LaunchLinesOf(s, gpu.Linear(index.Len()), uint32(a.N), uint32(a.Inner), index, line)
	}
}

// sortLongLines sorts lines of any length.
func sortLongLines[K Key](name string, s *gpu.Stream, tmp *gpu.Scratch, r Radix, axis Axis, keys *gpu.Buffer[K]) error {
	n, width, inner := keys.Len(), uint32(axis.N), uint32(axis.Inner)
	return sortGroups(name, s, tmp, r, keys, axis.Outer*axis.Inner, grouping{
		of: axis.groups(s),
		place8: func(index *gpu.Buffer[uint32], from, to *gpu.Buffer[uint8]) error {
			return LaunchPlaceLines(s, gpu.Linear(n), width, inner, index, from, to)
		},
		place16: func(index *gpu.Buffer[uint32], from, to *gpu.Buffer[uint16]) error {
			return LaunchPlaceLines(s, gpu.Linear(n), width, inner, index, from, to)
		},
		place32: func(index, from, to *gpu.Buffer[uint32]) error {
			return LaunchPlaceLines(s, gpu.Linear(n), width, inner, index, from, to)
		},
		place64: func(index *gpu.Buffer[uint32], from, to *gpu.Buffer[uint64]) error {
			return LaunchPlaceLines(s, gpu.Linear(n), width, inner, index, from, to)
		},
	})
}

// SortSegments sorts segments of keys, each by itself, in the order of r. Segment i has the keys
// ends[i] to ends[i+1]-1; ends does not decrease, and its elements are at most keys.Len(). Other
// keys stay where they are. Keys that are equal keep their order. It takes as much time as two
// calls of [SortPairs] for any lengths of segments, which may be empty; for segments of one length,
// [SortAxis] is faster.
func SortSegments[K Key](s *gpu.Stream, r Radix, keys *gpu.Buffer[K], ends *gpu.Buffer[int32], work ...*gpu.Workspace) error {
	const name = "SortSegments"
	if keys == nil {
		return invalid(name, "keys", "the buffer is nil")
	}
	if ends == nil || ends.Len() == 0 {
		return invalid(name, "ends", "no elements; want one more than there are segments")
	}
	if keys.Len() > math.MaxInt32 {
		return invalid(name, "keys", "%d keys are more than %d", keys.Len(), math.MaxInt32)
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	n := keys.Len()
	return sortGroups(name, s, tmp, r, keys, ends.Len()+1, grouping{
		of: func(index, segment *gpu.Buffer[uint32]) error {
			return LaunchSegmentsOf(s, gpu.Linear(n), ends, index, segment)
		},
		place8: func(index *gpu.Buffer[uint32], from, to *gpu.Buffer[uint8]) error {
			return LaunchPlaceSegments(s, gpu.Linear(n), ends, index, from, to)
		},
		place16: func(index *gpu.Buffer[uint32], from, to *gpu.Buffer[uint16]) error {
			return LaunchPlaceSegments(s, gpu.Linear(n), ends, index, from, to)
		},
		place32: func(index, from, to *gpu.Buffer[uint32]) error {
			return LaunchPlaceSegments(s, gpu.Linear(n), ends, index, from, to)
		},
		place64: func(index *gpu.Buffer[uint32], from, to *gpu.Buffer[uint64]) error {
			return LaunchPlaceSegments(s, gpu.Linear(n), ends, index, from, to)
		},
	})
}

// grouping says which keys are sorted together: of writes the groups of the keys at some positions,
// and the others copy keys, which index has in the order of their groups, to their places.
type grouping struct {
	of      func(index, group *gpu.Buffer[uint32]) error
	place8  func(index *gpu.Buffer[uint32], from, to *gpu.Buffer[uint8]) error
	place16 func(index *gpu.Buffer[uint32], from, to *gpu.Buffer[uint16]) error
	place32 func(index, from, to *gpu.Buffer[uint32]) error
	place64 func(index *gpu.Buffer[uint32], from, to *gpu.Buffer[uint64]) error
}

// sortGroups sorts keys by group.
func sortGroups[K Key](name string, s *gpu.Stream, tmp *gpu.Scratch, r Radix, keys *gpu.Buffer[K], groups int, g grouping) error {
	index, copied := gpu.Take[uint32](tmp, keys.Len()), gpu.Take[K](tmp, keys.Len())
	if err := orderGroups(name, s, tmp, r, keys, copied, index, groups, g.of); err != nil {
		return err
	}
	return step(name, tmp, keys.Len(), func() error {
		if err := gpu.Copy(s, copied, keys); err != nil {
			return err
		}
		switch sizeOf[K]() {
		case 1:
			return g.place8(index, gpu.ViewAs[uint8](tmp, copied), gpu.ViewAs[uint8](tmp, keys))
		case 2:
			return g.place16(index, gpu.ViewAs[uint16](tmp, copied), gpu.ViewAs[uint16](tmp, keys))
		case 4:
			return g.place32(index, gpu.ViewAs[uint32](tmp, copied), gpu.ViewAs[uint32](tmp, keys))
		default:
			return g.place64(index, gpu.ViewAs[uint64](tmp, copied), gpu.ViewAs[uint64](tmp, keys))
		}
	})
}

// step calls f unless there is nothing to do.
func step(name string, tmp *gpu.Scratch, n int, f func() error) error {
	run, err := tmp.Ready()
	if err == nil && run && n > 0 {
		err = f()
	}
	return failed(name, err)
}

// orderGroups writes to index the positions of all keys in the order of their groups. It sorts all
// keys, and then, because that keeps their order, by group. copied is memory for the keys.
func orderGroups[K Key](name string, s *gpu.Stream, tmp *gpu.Scratch, r Radix, keys, copied *gpu.Buffer[K], index *gpu.Buffer[uint32], groups int, of func(index, group *gpu.Buffer[uint32]) error) error {
	n, all := keys.Len(), allOf(keys)
	group := gpu.Take[uint32](tmp, n)
	if err := step(name, tmp, n, func() error {
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
	if err := step(name, tmp, n, func() error { return of(index, group) }); err != nil {
		return err
	}
	byGroup := Radix{Bits: max(bits.Len(uint(groups-1)), 1)}
	return sortWords(name, s, tmp, byGroup, all, group, index)
}
