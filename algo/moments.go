package algo

import (
	"math"

	"quern.dev/algo/internal/template"
	"quern.dev/gpu"
	"quern.dev/kernel"
)

// Moments describes a set of numbers. The zero value is that of no numbers.
type Moments struct {
	Count int64
	Mean  float64
	M2    float64 // sum of the squared differences from the mean
}

// Variance returns the mean squared difference from the mean: M2/Count.
func (m Moments) Variance() float64 { return m.M2 / float64(m.Count) }

// SampleVariance returns the unbiased estimate of the variance of the population that the numbers
// are a sample of: M2/(Count-1).
func (m Moments) SampleVariance() float64 { return m.M2 / float64(m.Count-1) }

// StandardDeviation returns the square root of the variance.
func (m Moments) StandardDeviation() float64 { return math.Sqrt(m.Variance()) }

// Merge returns the moments of two sets together.
func (m Moments) Merge(other Moments) Moments { return mergeMoments(m, other) }

// mergeMoments merges two sets (Chan, Golub and LeVeque, 1979).
//
//quern:op merge
func mergeMoments(a, b Moments) Moments {
	n := a.Count + b.Count
	if n == 0 {
		return a
	}
	d, part := b.Mean-a.Mean, float64(b.Count)/float64(n)
	return Moments{n, a.Mean + d*part, a.M2 + b.M2 + d*d*float64(a.Count)*part}
}

// momentsOfParts computes the moments of each part of in. A thread adds up the differences from
// its first element, and their squares.
//
//quern:kernel unchecked block=256 instantiate=int32,float32,float64
func momentsOfParts[T kernel.Number](t kernel.Thread, part int, in []T, out []Moments) {
	first := t.BlockIdx.X * part
	count := min(part, len(in)-first)
	i := t.ThreadIdx.X
	var m Moments
	if i < count {
		origin := float64(in[first+i])
		var sum, squares float64
		n := 0
		for j := i; j < count; j += template.Threads {
			d := float64(in[first+j]) - origin
			sum += d
			squares += d * d
			n++
		}
		mean := sum / float64(n)
		m = Moments{int64(n), origin + mean, squares - sum*mean}
	}
	m = template.ReduceBlock(t, mergeMoments, min(count, template.Threads), m)
	if i == 0 {
		out[t.BlockIdx.X] = m
	}
}

// momentsOfLines computes the moments of each part of a line. Part p of line i is out[i*Parts+p].
//
//quern:kernel unchecked block=256 instantiate=int32,float32,float64
func momentsOfLines[T kernel.Number](t kernel.Thread, l template.Lines, ends []int32, in []T, out []Moments) {
	lines := len(out) / l.Parts
	p := template.PartOf(t, l, lines, ends)
	first := p.From + t.Lane()&(1<<l.Group-1)
	var m Moments
	if first < p.To {
		origin := float64(in[p.First+first*p.Stride])
		var sum, squares float64
		n := 0
		for i := first; i < p.To; i += 1 << l.Group {
			d := float64(in[p.First+i*p.Stride]) - origin
			sum += d
			squares += d * d
			n++
		}
		mean := sum / float64(n)
		m = Moments{int64(n), origin + mean, squares - sum*mean}
	}
	m = template.ReduceLine(t, mergeMoments, l, p, m)
	if template.Leads(t, l, lines) {
		out[p.Line*l.Parts+p.Part] = m
	}
}

// MomentsOf writes the number, the mean and the variance of the elements of src to dst[0]. They are
// computed in float64. Each run has the same result.
func MomentsOf[T int32 | float32 | float64](s *gpu.Stream, dst *gpu.Buffer[Moments], src *gpu.Buffer[T], work ...*gpu.Workspace) error {
	return twoStages("MomentsOf", s, OpMergeMoments, dst, src, work, func(g gpu.Grid, part int, partial *gpu.Buffer[Moments]) error {
		return LaunchMomentsOfParts(s, g, part, src, partial)
	})
}

// twoStages launches a kernel that makes one value of each part of src, and combines them.
func twoStages[T, A any](name string, s *gpu.Stream, op merge[A], dst *gpu.Buffer[A], src *gpu.Buffer[T], work []*gpu.Workspace, first func(g gpu.Grid, part int, partial *gpu.Buffer[A]) error) error {
	if err := present(name, "src", src); err != nil {
		return err
	}
	if err := length(name, "dst", dst, 1); err != nil {
		return err
	}
	if err := apart(name, "dst", dst, "src", src); err != nil {
		return err
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	n := src.Len()
	if n == 0 {
		if tmp.Measuring() {
			return nil
		}
		return failed(name, gpu.Zero(s, dst))
	}
	count, size := parts(n)
	partial := dst
	if count > 1 {
		partial = gpu.Take[A](tmp, count)
	}
	if run, err := tmp.Ready(); !run {
		return failed(name, err)
	}
	err = first(gpu.Blocks(gpu.Dim3{X: count}, block), size, partial)
	if err == nil && count > 1 {
		err = reduceParts(s, op.Kernels.ReduceParts, op.Kernels.ReducePartsInTurn, op.Bind, 1, (count+partUnit-1)/partUnit*partUnit, partial, dst)
	}
	return failed(name, err)
}
