// Package resize resamples the rows of an image while they are read: the result has the pixels of the same part of the Earth, or of a
// part of it, in another number. Kernels are those of GDAL's RasterIO, which are as wide as pixels of the result if these are larger.
package resize

import (
	"runtime"
	"sync"

	"quern.dev/geo/internal/recode"
	"quern.dev/geo/tiff"
)

// Window is a part of an image in pixels. It may begin and end within pixels, and be partly outside.
type Window struct{ X, Y, Width, Height float64 }

// Samples describes the pixels.
type Samples struct {
	Type  tiff.Type // not complex, except for Near
	Bands int
	// Alpha is the band that says which pixels of the others count, or -1.
	Alpha int
	// NoData is the value of samples that do not count, if HasNoData is set.
	NoData    float64
	HasNoData bool
	// Most is the greatest value of samples with fewer bits than their type, or 0.
	Most float64
}

// Resizer makes rows of the result. It is for one goroutine.
type Resizer struct {
	filter  Filter
	samples Samples
	x, y    []tap
	nearest [2][]int // columns and rows of the source, from which masks are
	inside  tiff.Region
	held    []row // rows of the source from top on, with the columns of the result
	top     int
	next    int       // row of the result
	buffers sync.Pool // of *[]float64, for rows of the source
}

// row has samples of the result's columns. Those of Near are as in the source, and others are numbers.
type row struct {
	raw     []byte
	values  []float64
	weights []float64 // by sample; nil if all are 1
	mask    []byte    // by pixel; nil without a mask
}

// New returns a resizer. The source and the result have columns and rows.
func New(f Filter, w Window, source, result [2]int, s Samples) *Resizer {
	r := &Resizer{filter: f, samples: s}
	var x, y int
	r.x, r.nearest[0], x = f.axis(w.X, w.Width, source[0], result[0])
	r.y, r.nearest[1], y = f.axis(w.Y, w.Height, source[1], result[1])
	r.inside = tiff.Region{X: x, Y: y, Width: len(r.x), Height: len(r.y)}
	return r
}

// Inside returns the part of the result whose pixels have their centers in the source. Only these are made.
func (r *Resizer) Inside() tiff.Region { return r.inside }

// Region returns the part of the source that is needed. It is empty if the window is outside.
func (r *Resizer) Region() tiff.Region {
	x0, x1 := extent(r.x)
	y0, y1 := extent(r.y)
	return tiff.Region{X: x0, Y: y0, Width: x1 - x0, Height: y1 - y0}
}

func extent(taps []tap) (first, end int) {
	if len(taps) == 0 {
		return 0, 0
	}
	first = taps[0].first
	for _, t := range taps {
		first, end = min(first, t.first), max(end, t.first+len(t.weights))
	}
	return first, end
}

// Reset begins again with the first rows.
func (r *Resizer) Reset() { r.held, r.next = nil, 0 }

// Push takes rows of the region, from its top to its bottom, and passes on those of the result that they complete. After the
// last rows, it passes on all that are left.
func (r *Resizer) Push(rows tiff.Rows, n int, emit func(rows tiff.Rows, n int) error) error {
	region := r.Region()
	if r.held == nil {
		r.top = region.Y
	}
	pixel := r.samples.Bands * r.samples.Type.Size()
	added := make([]row, n)
	parallel(n, func(i int) {
		var mask []byte
		if rows.Mask != nil {
			mask = rows.Mask[i*region.Width:][:region.Width]
		}
		added[i] = r.across(rows.Pixels[i*region.Width*pixel:][:region.Width*pixel], mask, region.X)
	})
	r.held = append(r.held, added...)
	end := r.top + len(r.held)
	last := end >= region.Y+region.Height
	for r.next < len(r.y) {
		most := min(len(r.y), r.next+max(1, (16<<20)/max(1, len(r.x)*pixel)))
		first := r.next
		for r.next < most && (last || r.y[r.next].first+len(r.y[r.next].weights) <= end) {
			r.next++
		}
		if r.next == first {
			break
		}
		out := tiff.Rows{Pixels: make([]byte, (r.next-first)*len(r.x)*pixel)}
		if rows.Mask != nil {
			out.Mask = make([]byte, (r.next-first)*len(r.x))
		}
		parallel(r.next-first, func(i int) {
			dst := out.Pixels[i*len(r.x)*pixel:][:len(r.x)*pixel]
			var mask []byte
			if out.Mask != nil {
				mask = out.Mask[i*len(r.x):][:len(r.x)]
			}
			r.down(dst, mask, first+i)
		})
		if err := emit(out, r.next-first); err != nil {
			return err
		}
	}
	if r.next < len(r.y) { // drop what no other row needs
		n := min(max(0, r.y[r.next].first-r.top), len(r.held))
		r.held, r.top = r.held[n:], r.top+n
	}
	return nil
}

// across resamples a row of the source that begins at column x0.
func (r *Resizer) across(pixels, mask []byte, x0 int) row {
	bands, n := r.samples.Bands, len(r.x)
	var out row
	if mask != nil {
		out.mask = make([]byte, n)
		for i, x := range r.nearest[0] {
			out.mask[i] = mask[x-x0]
		}
	}
	if r.filter == Near {
		size := bands * r.samples.Type.Size()
		out.raw = make([]byte, n*size)
		for i, t := range r.x {
			copy(out.raw[i*size:], pixels[(t.first-x0)*size:][:size])
		}
		return out
	}
	buffer, _ := r.buffers.Get().(*[]float64)
	if buffer == nil {
		buffer = new([]float64)
	}
	defer r.buffers.Put(buffer)
	length := len(pixels) / r.samples.Type.Size()
	if len(*buffer) < length {
		*buffer = make([]float64, length)
	}
	values := (*buffer)[:length]
	recode.ToFloats(r.samples.Type, values, pixels)
	counts := r.counts(values, mask)
	out.values = make([]float64, n*bands)
	if counts == nil {
		for i, t := range r.x {
			from := values[(t.first-x0)*bands:][:len(t.weights)*bands]
			for b := range bands {
				sum, at := 0.0, b
				for _, w := range t.weights {
					sum += w * from[at]
					at += bands
				}
				out.values[i*bands+b] = sum
			}
		}
		return out
	}
	if r.samples.Type.Float() {
		for i, count := range counts {
			if count == 0 { // and the value may be infinite, or no number
				values[i] = 0
			}
		}
	}
	out.weights = make([]float64, n*bands)
	for i, t := range r.x {
		for b := range bands {
			var sum, weight float64
			var run runs
			at := (t.first-x0)*bands + b
			for _, w := range t.weights {
				run.add(counts[at] != 0)
				w *= counts[at]
				sum += w * values[at]
				weight += w
				at += bands
			}
			if !r.filter.enough(run, len(t.weights)) {
				weight = 0
			}
			out.set(i*bands+b, sum, weight, r.filter == Average)
		}
	}
	return out
}

// set stores a sum of samples with data, and their weight. Averages count as much as they have data, and the results of kernels
// either way.
func (w *row) set(i int, sum, weight float64, average bool) {
	switch {
	case average:
		w.values[i], w.weights[i] = sum, weight
	case weight > 0:
		w.values[i], w.weights[i] = sum/weight, 1
	}
}

// runs measures neighbors with data.
type runs struct{ run, longest int }

func (r *runs) add(data bool) {
	if !data {
		r.run = 0
		return
	}
	r.run++
	r.longest = max(r.longest, r.run)
}

// enough reports whether a kernel with negative weights has enough neighbors with data for a value, as in GDAL.
func (f Filter) enough(r runs, all int) bool {
	return f != Cubic && f != Lanczos || r.longest >= all/2
}

// counts says how much samples count, which is 0 without data, or is nil if all count alike. Alpha is a weight for kernels, as in GDAL.
func (r *Resizer) counts(values []float64, mask []byte) []float64 {
	s := &r.samples
	if mask == nil && !s.HasNoData && s.Alpha < 0 {
		return nil
	}
	all := make([]float64, len(values))
	_, opaque := s.Type.Limits()
	for i := range all {
		p, b := i/s.Bands, i%s.Bands
		switch {
		case s.HasNoData && (values[i] == s.NoData || s.NoData != s.NoData && values[i] != values[i]):
		case mask != nil && mask[p] == 0:
		case s.Alpha >= 0 && b != s.Alpha && values[p*s.Bands+s.Alpha] == 0:
		case s.Alpha >= 0 && b != s.Alpha && r.filter != Average && s.Type.Size() < 8 && !s.Type.Float():
			all[i] = values[p*s.Bands+s.Alpha] / opaque
		default:
			all[i] = 1
		}
	}
	return all
}

// down makes row j of the result.
func (r *Resizer) down(dst, mask []byte, j int) {
	t := r.y[j]
	rows := r.held[t.first-r.top:][:len(t.weights)]
	if mask != nil {
		copy(mask, r.held[r.nearest[1][j]-r.top].mask)
	}
	if r.filter == Near {
		copy(dst, rows[0].raw)
		return
	}
	n := len(r.x) * r.samples.Bands
	sums, weights := make([]float64, n), make([]float64, n)
	run := make([]runs, n)
	for k, w := range t.weights {
		values, counts := rows[k].values, rows[k].weights
		for i := range sums {
			switch {
			case counts == nil:
				sums[i] += w * values[i]
				weights[i] += w
			default:
				run[i].add(counts[i] != 0)
				if counts[i] != 0 {
					sums[i] += w * values[i]
					weights[i] += w * counts[i]
				}
			}
		}
	}
	for i := range sums {
		switch {
		case weights[i] <= 0 || rows[0].weights != nil && !r.filter.enough(run[i], len(t.weights)):
			sums[i] = 0
			if r.samples.HasNoData {
				sums[i] = r.samples.NoData
			}
		default:
			sums[i] /= weights[i]
			if r.samples.Type.Size() <= 2 && r.filter != Average {
				sums[i] = float64(float32(sums[i])) // halves are rounded as in GDAL
			}
			sums[i] = r.samples.limited(sums[i])
		}
	}
	recode.FromFloats(r.samples.Type, dst, sums)
}

// limited returns a result with data as samples can have it.
func (s *Samples) limited(v float64) float64 {
	if s.Most > 0 {
		v = min(v, s.Most)
	}
	if !s.HasNoData {
		return v
	}
	v = recode.Beside(s.Type, v, s.NoData)
	if s.Most > 0 && v > s.Most {
		v = s.NoData - 1
	}
	return v
}

// parallel calls a function for 0 to n-1 on all cores.
func parallel(n int, do func(i int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for i := w; i < n; i += workers {
				do(i)
			}
		})
	}
	wait.Wait()
}
