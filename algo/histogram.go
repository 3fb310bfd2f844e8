package algo

import (
	"math"

	"quern.dev/gpu"
)

// HistogramEven counts the elements of src in len(counts) bins of equal width from low to high.
// counts[i] gets the number of elements x with floor((x-low)*scale) == i, where scale is
// len(counts)/(high-low), computed in T: rounding can move an x beside an edge to the next bin.
// high belongs to the last bin. Elements outside, and NaNs, are not counted. src has less than 2^32
// elements. For edges that are exact, use [HistogramEdges].
func HistogramEven[T float32 | float64](s *gpu.Stream, low, high T, counts *gpu.Buffer[uint32], src *gpu.Buffer[T], work ...*gpu.Workspace) error {
	const name = "HistogramEven"
	if !(low < high) || math.IsInf(float64(high), 0) || math.IsInf(float64(low), 0) || math.IsInf(float64(high-low), 0) {
		return invalid(name, "low and high", "%v to %v; want finite numbers, the first below the second", low, high)
	}
	bins := counts.Len()
	scale := T(bins) / (high - low)
	if math.IsInf(float64(scale), 0) {
		return invalid(name, "low and high", "%v to %v; %d bins of this range are too narrow for %T", low, high, bins, low)
	}
	return countBins(name, s, counts, src, work,
		func(g gpu.Grid, copies int) error {
			return LaunchHistogramEven(s, g, copies, bins, low, high, scale, src, counts)
		},
		func(g gpu.Grid, part int, partial *gpu.Buffer[uint32]) error {
			return LaunchHistogramEvenParts(s, g, part, bins, low, high, scale, src, partial)
		})
}

// HistogramEdges counts the elements of src in the bins between neighbouring edges, which are in
// ascending order: counts[i] gets the number of elements x with edges[i] <= x < edges[i+1]. The
// last edge belongs to the last bin. Elements outside, and NaNs, are not counted. edges has one
// element more than counts. src has less than 2^32 elements.
func HistogramEdges[T int32 | float32 | float64](s *gpu.Stream, edges *gpu.Buffer[T], counts *gpu.Buffer[uint32], src *gpu.Buffer[T], work ...*gpu.Workspace) error {
	const name = "HistogramEdges"
	bins := counts.Len()
	if err := length(name, "edges", edges, bins+1); err != nil {
		return err
	}
	if err := apart(name, "counts", counts, "edges", edges); err != nil {
		return err
	}
	return countBins(name, s, counts, src, work,
		func(g gpu.Grid, copies int) error {
			return LaunchHistogramEdges(s, g, copies, bins, edges, src, counts)
		},
		func(g gpu.Grid, part int, partial *gpu.Buffer[uint32]) error {
			return LaunchHistogramEdgesParts(s, g, part, bins, edges, src, partial)
		})
}

// HistogramValues counts how often each integer from 0 to len(counts)-1 is in src. Others are not
// counted. src has less than 2^32 elements.
func HistogramValues[T uint8 | uint16 | int32 | int64](s *gpu.Stream, counts *gpu.Buffer[uint32], src *gpu.Buffer[T], work ...*gpu.Workspace) error {
	bins := counts.Len()
	return countBins("HistogramValues", s, counts, src, work,
		func(g gpu.Grid, copies int) error { return LaunchHistogramValues(s, g, copies, bins, src, counts) },
		func(g gpu.Grid, part int, partial *gpu.Buffer[uint32]) error {
			return LaunchHistogramValuesParts(s, g, part, bins, src, partial)
		})
}

// countBins launches the kernels of a histogram.
func countBins[T any](name string, s *gpu.Stream, counts *gpu.Buffer[uint32], src *gpu.Buffer[T], work []*gpu.Workspace,
	tiles func(g gpu.Grid, copies int) error, parts func(g gpu.Grid, part int, partial *gpu.Buffer[uint32]) error) error {
	if err := present(name, "src", src); err != nil {
		return err
	}
	if err := present(name, "counts", counts); err != nil {
		return err
	}
	switch {
	case counts.Len() == 0:
		return invalid(name, "counts", "no bins")
	case src.Len() > math.MaxUint32:
		return invalid(name, "src", "%d elements are more than %d", src.Len(), uint32(math.MaxUint32))
	}
	if err := apart(name, "counts", counts, "src", src); err != nil {
		return err
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	n, bins := src.Len(), counts.Len()
	if s.Device().Backend() == gpu.CPU {
		// Each part has bins counters, so there are no more parts than the elements are worth.
		count := min(max(n/max(4*bins, 1<<14), 1), 32)
		partial := gpu.Take[uint32](tmp, count*bins)
		if run, err := tmp.Ready(); !run {
			return failed(name, err)
		}
		if err := parts(gpu.Blocks(gpu.Dim3{X: count}, oneThread), (n+count-1)/count, partial); err != nil {
			return failed(name, err)
		}
		return failed(name, LaunchAddParts(s, gpu.Linear(bins), count, partial, counts))
	}
	if run, err := tmp.Ready(); !run {
		return failed(name, err)
	}
	if err := gpu.Zero(s, counts); err != nil || n == 0 {
		return failed(name, err)
	}
	copies := 0
	if bins <= maxLocalBins {
		copies = max(1, min(8, maxLocalBins/4/bins)) // of the block's warps; few, so that blocks fit
	}
	const most, each = 1056, 16 * 256 // blocks, elements of a block at least
	grid := gpu.Blocks(gpu.Dim3{X: min((n+each-1)/each, most)}, block).Shared(4 * copies * bins)
	return failed(name, tiles(grid, copies))
}
