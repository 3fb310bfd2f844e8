package algo

import "quern.dev/gpu"

// TopKAxis writes the first elements of each line of src along an axis to dst, sorted in the order
// of r, like [TopK]. dst is an array with the same other extents; its extent along the axis says
// how many elements of a line are wanted.
func TopKAxis[K Key](s *gpu.Stream, r Radix, axis Axis, dst, src *gpu.Buffer[K], work ...*gpu.Workspace) error {
	return topKAxis("TopKAxis", s, r, axis, dst, nil, src, work)
}

// TopKIndicesAxis is [TopKAxis], and writes to index where the elements are in their lines. If all
// elements are wanted, these are the indices that sort the lines.
func TopKIndicesAxis[K Key](s *gpu.Stream, r Radix, axis Axis, dst *gpu.Buffer[K], index *gpu.Buffer[uint32], src *gpu.Buffer[K], work ...*gpu.Workspace) error {
	const name = "TopKIndicesAxis"
	if err := present(name, "dst", dst); err != nil {
		return err
	}
	if err := length(name, "index", index, dst.Len()); err != nil {
		return err
	}
	return topKAxis(name, s, r, axis, dst, index, src, work)
}

func topKAxis[K Key](name string, s *gpu.Stream, r Radix, axis Axis, dst *gpu.Buffer[K], index *gpu.Buffer[uint32], src *gpu.Buffer[K], work []*gpu.Workspace) error {
	if err := present(name, "dst", dst); err != nil {
		return err
	}
	if err := present(name, "src", src); err != nil {
		return err
	}
	if err := axis.check(name, "src", src.Len()); err != nil {
		return err
	}
	lines, k := axis.lines(), 0
	if lines > 0 {
		k = dst.Len() / lines
	}
	if k*lines != dst.Len() || k > axis.N {
		return invalid(name, "dst", "%d elements; want as many for each of the %d lines, up to %d", dst.Len(), lines, axis.N)
	}
	if dst.Len() == 0 {
		return nil
	}
	if err := checkFirst(name, dst, index, src); err != nil {
		return err
	}
	if lines == 1 {
		return topK(name, s, r, dst, index, src, work)
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	n := src.Len()
	if s.Device().Backend() == gpu.CPU && selects(axis.N, k) {
		return selectOnCPU(name, s, tmp, r, axis, k, dst, index, src)
	}
	positions, err := orderLines(name, s, tmp, r, axis, src, gpu.Take[K](tmp, n))
	if err != nil {
		return err
	}
	first := gpu.Take[uint32](tmp, dst.Len())
	return step(name, tmp, n, func() error {
		if err := LaunchFirstOfLines(s, gpu.Linear(dst.Len()), uint32(axis.N), uint32(k), uint32(axis.Inner), positions, first); err != nil {
			return err
		}
		if err := gather(s, tmp, dst.Len(), dst, src, nil, first); err != nil || index == nil {
			return err
		}
		return LaunchIndicesInLines(s, gpu.Linear(dst.Len()), uint32(axis.N), uint32(axis.Inner), first, index)
	})
}
