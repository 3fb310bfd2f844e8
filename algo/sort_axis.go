package algo

import (
	"errors"
	"math"
	"math/bits"

	"quern.dev/gpu"
)

// SortAxis sorts lines of keys along an axis, each by itself, in the order of r. Keys that are
// equal keep their order. A GPU sorts lines of up to 4224 keys in shared memory, each with a
// block. Longer lines are sorted together, with the temporary memory of [SortPairs].
func SortAxis[K Key](s *gpu.Stream, r Radix, axis Axis, keys *gpu.Buffer[K], work ...*gpu.Workspace) error {
	const name = "SortAxis"
	if err := present(name, "keys", keys); err != nil {
		return err
	}
	if err := axis.check(name, "keys", keys.Len()); err != nil {
		return err
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	if axis.sortsInPlace(s) {
		return sortWords(name, s, tmp, r, axis, keys, nil)
	}
	n := keys.Len()
	copied := gpu.Take[K](tmp, n)
	from, err := orderLines(name, s, tmp, r, axis, keys, copied)
	if err != nil {
		return err
	}
	return step(name, tmp, n, func() error { return permute(s, tmp, keys, copied, from) })
}

// SortPairsAxis sorts lines of keys like [SortAxis], and moves values with their keys: values[i]
// belongs to keys[i]. V is of any size; values of 4 bytes move with the keys, and others once, after
// them.
func SortPairsAxis[K Key, V any](s *gpu.Stream, r Radix, axis Axis, keys *gpu.Buffer[K], values *gpu.Buffer[V], work ...*gpu.Workspace) error {
	const name = "SortPairsAxis"
	if err := present(name, "keys", keys); err != nil {
		return err
	}
	if err := axis.check(name, "keys", keys.Len()); err != nil {
		return err
	}
	n := keys.Len()
	if err := length(name, "values", values, n); err != nil {
		return err
	}
	if axis.lines() == 1 {
		return sortPairsOf(name, s, r, keys, values, work)
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	inPlace := axis.sortsInPlace(s)
	if inPlace && sizeOf[V]() == 4 {
		return sortWords(name, s, tmp, r, axis, keys, gpu.ViewAs[uint32](tmp, values))
	}
	copiedValues := gpu.Take[V](tmp, n)
	var from *gpu.Buffer[uint32]
	if inPlace {
		from = gpu.Take[uint32](tmp, n)
		if err := step(name, tmp, n, func() error { return LaunchNumbers(s, gpu.Linear(n), from) }); err != nil {
			return err
		}
		err = sortWords(name, s, tmp, r, axis, keys, from)
	} else {
		copied := gpu.Take[K](tmp, n)
		if from, err = orderLines(name, s, tmp, r, axis, keys, copied); err == nil {
			err = step(name, tmp, n, func() error { return permute(s, tmp, keys, copied, from) })
		}
	}
	if err != nil {
		return err
	}
	return step(name, tmp, n, func() error { return permute(s, tmp, values, copiedValues, from) })
}

// ArgSort writes the indices that sort keys in the order of r to dst: keys[dst[i]], which [Gather]
// reads, is element i of the sorted keys. Indices of equal keys ascend. The keys do not change. It
// takes as much time as [SortPairs].
func ArgSort[K Key](s *gpu.Stream, r Radix, dst *gpu.Buffer[uint32], keys *gpu.Buffer[K], work ...*gpu.Workspace) error {
	return argSort("ArgSort", s, r, allOf(keys), dst, keys, work)
}

// ArgSortAxis is [ArgSort] for lines along an axis, each by itself. dst has the shape of keys; its
// indices count the elements of a line. It takes as much time as [SortPairsAxis].
func ArgSortAxis[K Key](s *gpu.Stream, r Radix, axis Axis, dst *gpu.Buffer[uint32], keys *gpu.Buffer[K], work ...*gpu.Workspace) error {
	return argSort("ArgSortAxis", s, r, axis, dst, keys, work)
}

func argSort[K Key](name string, s *gpu.Stream, r Radix, axis Axis, dst *gpu.Buffer[uint32], keys *gpu.Buffer[K], work []*gpu.Workspace) error {
	if err := present(name, "keys", keys); err != nil {
		return err
	}
	if err := axis.check(name, "keys", keys.Len()); err != nil {
		return err
	}
	n := keys.Len()
	if err := length(name, "dst", dst, n); err != nil {
		return err
	}
	if err := apart(name, "dst", dst, "keys", keys); err != nil {
		return err
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	from, err := orderLines(name, s, tmp, r, axis, keys, gpu.Take[K](tmp, n))
	if err != nil {
		return err
	}
	return step(name, tmp, n, func() error {
		return LaunchIndicesInLines(s, gpu.Linear(n), uint32(axis.N), uint32(axis.Inner), from, dst)
	})
}

// sortsInPlace reports whether lines are sorted where they are, each by a thread, a warp or a block.
func (a Axis) sortsInPlace(s *gpu.Stream) bool {
	return s.Device().Backend() == gpu.CPU || a.N <= mostInLine || a.lines() <= 1
}

// SortSegments sorts segments of keys, each by itself, in the order of r. Segment i has the keys
// ends[i] to ends[i+1]-1; ends does not decrease, and its elements are at most keys.Len(). Other
// keys stay where they are. Keys that are equal keep their order. It takes as much time as two
// calls of [SortPairs] for any lengths of segments, which may be empty; for segments of one length,
// [SortAxis] is faster.
func SortSegments[K Key](s *gpu.Stream, r Radix, keys *gpu.Buffer[K], ends *gpu.Buffer[int32], work ...*gpu.Workspace) error {
	const name = "SortSegments"
	if err := checkSortSegments(name, keys, ends); err != nil {
		return err
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	n := keys.Len()
	copied := gpu.Take[K](tmp, n)
	from, err := orderSegments(name, s, tmp, r, keys, copied, ends)
	if err != nil {
		return err
	}
	return step(name, tmp, n, func() error { return permute(s, tmp, keys, copied, from) })
}

// SortPairsSegments sorts segments of keys like [SortSegments], and moves values with their keys:
// values[i] belongs to keys[i]. V is of any size.
func SortPairsSegments[K Key, V any](s *gpu.Stream, r Radix, keys *gpu.Buffer[K], values *gpu.Buffer[V], ends *gpu.Buffer[int32], work ...*gpu.Workspace) error {
	const name = "SortPairsSegments"
	if err := checkSortSegments(name, keys, ends); err != nil {
		return err
	}
	n := keys.Len()
	if err := length(name, "values", values, n); err != nil {
		return err
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	copied, copiedValues := gpu.Take[K](tmp, n), gpu.Take[V](tmp, n)
	from, err := orderSegments(name, s, tmp, r, keys, copied, ends)
	if err != nil {
		return err
	}
	return step(name, tmp, n, func() error {
		return errors.Join(permute(s, tmp, keys, copied, from), permute(s, tmp, values, copiedValues, from))
	})
}

func checkSortSegments[K Key](name string, keys *gpu.Buffer[K], ends *gpu.Buffer[int32]) error {
	if err := present(name, "keys", keys); err != nil {
		return err
	}
	if ends == nil || ends.Len() == 0 {
		return invalid(name, "ends", "no elements; want one more than there are segments")
	}
	if keys.Len() > math.MaxInt32 {
		return invalid(name, "keys", "%d keys are more than %d", keys.Len(), math.MaxInt32)
	}
	return nil
}

// permute replaces each element by the one that is now at its position in from. copied is memory
// for the elements.
func permute[T any](s *gpu.Stream, tmp *gpu.Scratch, x, copied *gpu.Buffer[T], from *gpu.Buffer[uint32]) error {
	if err := gpu.Copy(s, copied, x); err != nil {
		return err
	}
	return gather(s, tmp, x.Len(), x, copied, nil, from)
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

// orderLines returns where the keys are that belong to each position when lines are sorted. copied
// is memory for the keys.
func orderLines[K Key](name string, s *gpu.Stream, tmp *gpu.Scratch, r Radix, axis Axis, keys, copied *gpu.Buffer[K]) (*gpu.Buffer[uint32], error) {
	n := keys.Len()
	index := gpu.Take[uint32](tmp, n)
	if axis.sortsInPlace(s) {
		if err := step(name, tmp, n, func() error {
			if err := gpu.Copy(s, copied, keys); err != nil {
				return err
			}
			return LaunchNumbers(s, gpu.Linear(n), index)
		}); err != nil {
			return nil, err
		}
		return index, sortWords(name, s, tmp, r, axis, copied, index)
	}
	width, inner := uint32(axis.N), uint32(axis.Inner)
	err := orderGroups(name, s, tmp, r, keys, copied, index, axis.lines(), func(index, line *gpu.Buffer[uint32]) error {
		return LaunchLinesOf(s, gpu.Linear(n), width, inner, index, line)
	})
	if err != nil || inner == 1 {
		return index, err
	}
	placed := gpu.Take[uint32](tmp, n)
	return placed, step(name, tmp, n, func() error {
		return LaunchPlaceLines(s, gpu.Linear(n), width, inner, index, placed)
	})
}

// orderSegments is [orderLines] for segments. Keys outside the segments belong where they are.
func orderSegments[K Key](name string, s *gpu.Stream, tmp *gpu.Scratch, r Radix, keys, copied *gpu.Buffer[K], ends *gpu.Buffer[int32]) (*gpu.Buffer[uint32], error) {
	n := keys.Len()
	index := gpu.Take[uint32](tmp, n)
	err := orderGroups(name, s, tmp, r, keys, copied, index, ends.Len()+1, func(index, segment *gpu.Buffer[uint32]) error {
		return LaunchSegmentsOf(s, gpu.Linear(n), ends, index, segment)
	})
	if err != nil {
		return nil, err
	}
	return index, step(name, tmp, n, func() error {
		return LaunchKeepOutside(s, gpu.Linear(n), ends, index)
	})
}
