package algo

import "quern.dev/gpu"

// Merge merges two buffers sorted in the given order into dst, which has as many elements as
// both together and shares no memory with them. Elements of a come before equal ones of b.
func Merge[T any](s *gpu.Stream, order Less[T], dst, a, b *gpu.Buffer[T], work ...*gpu.Workspace) error {
	const name = "Merge"
	if err := order.checkMerge(name, dst, a, b); err != nil {
		return err
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	m := order.mergerOf(s, tmp, dst.Len())
	if run, err := tmp.Ready(); !run || dst.Len() == 0 {
		return failed(name, err)
	}
	return failed(name, m.merge(0, a, b, dst, nil, nil))
}

// MergePairs merges keys like [Merge], and moves values with their keys: aValues[i] belongs to
// a[i], bValues[i] to b[i], and dstValues[i] to dst[i]. V is of any size. It needs temporary memory
// of 4 bytes per key. Results share no memory with arguments.
func MergePairs[K, V any](s *gpu.Stream, order Less[K], dst *gpu.Buffer[K], dstValues *gpu.Buffer[V],
	a *gpu.Buffer[K], aValues *gpu.Buffer[V], b *gpu.Buffer[K], bValues *gpu.Buffer[V], work ...*gpu.Workspace) error {
	const name = "MergePairs"
	if err := order.checkMerge(name, dst, a, b); err != nil {
		return err
	}
	n := dst.Len()
	if err := length(name, "dstValues", dstValues, n); err != nil {
		return err
	}
	if err := length(name, "aValues", aValues, a.Len()); err != nil {
		return err
	}
	if err := length(name, "bValues", bValues, b.Len()); err != nil {
		return err
	}
	if err := checkApart(name, "dstValues", dstValues, "aValues", aValues, "bValues", bValues); err != nil {
		return err
	}
	if n > maxSorted {
		return invalid(name, "dst", "%d elements; at most %d can be merged with values", n, maxSorted)
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	m := order.mergerOf(s, tmp, n)
	from, none := gpu.Take[uint32](tmp, n), gpu.Take[uint32](tmp, 0)
	return step(name, tmp, n, func() error {
		if err := m.merge(0, a, b, dst, none, from); err != nil {
			return err
		}
		return gather(s, tmp, n, dstValues, aValues, bValues, from)
	})
}

// checkMerge returns an error if a and b cannot be merged to dst.
func (o *Less[T]) checkMerge(name string, dst, a, b *gpu.Buffer[T]) error {
	if err := o.check(name); err != nil {
		return err
	}
	if err := present(name, "a", a); err != nil {
		return err
	}
	if err := present(name, "b", b); err != nil {
		return err
	}
	if err := length(name, "dst", dst, a.Len()+b.Len()); err != nil {
		return err
	}
	return checkApart(name, "dst", dst, "a", a, "b", b)
}

// checkApart returns an error if dst shares memory with a or b.
func checkApart[T any](name, arg string, dst *gpu.Buffer[T], argA string, a *gpu.Buffer[T], argB string, b *gpu.Buffer[T]) error {
	if err := apart(name, arg, dst, argA, a); err != nil {
		return err
	}
	return apart(name, arg, dst, argB, b)
}

// mergerOf returns a merger of two lists of n elements altogether.
func (o *Less[T]) mergerOf(s *gpu.Stream, tmp *gpu.Scratch, n int) merger[T] {
	m := merger[T]{Less: *o, s: s, part: hostPart}
	if s.Device().Backend() != gpu.CPU {
		m.part = mergeTile[T]()
		m.paths = gpu.Take[int](tmp, (n+m.part-1)/m.part)
	}
	return m
}
