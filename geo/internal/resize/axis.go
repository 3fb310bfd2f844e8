package resize

import "math"

// Filter is how pixels are resampled.
type Filter uint8

// Filters.
const (
	Near Filter = iota
	Bilinear
	Cubic
	CubicSpline
	Lanczos
	Average
)

// Names are GDAL's names of the filters.
var Names = []string{Near: "near", Bilinear: "bilinear", Cubic: "cubic", CubicSpline: "cubicspline", Lanczos: "lanczos", Average: "average"}

// radius is the reach of a kernel.
func (f Filter) radius() float64 {
	return [...]float64{Bilinear: 1, Cubic: 2, CubicSpline: 2, Lanczos: 3}[f]
}

// at is the weight at a distance.
func (f Filter) at(x float64) float64 {
	x = math.Abs(x)
	switch f {
	case Bilinear:
		return max(0, 1-x)
	case Cubic: // Keys, with a = -0.5
		switch {
		case x <= 1:
			return x*x*(1.5*x-2.5) + 1
		case x <= 2:
			return x*(x*(-0.5*x+2.5)-4) + 2
		}
	case CubicSpline:
		switch {
		case x <= 1:
			return 2.0/3 - x*x*(1-x/2)
		case x <= 2:
			return (2 - x) * (2 - x) * (2 - x) / 6
		}
	case Lanczos:
		switch p := math.Pi * x; {
		case x == 0:
			return 1
		case x < 3:
			return 3 * math.Sin(p) * math.Sin(p/3) / (p * p)
		}
	}
	return 0
}

// tap is what a pixel of the result is made of: pixels of the source from first on.
type tap struct {
	first   int
	weights []float64
}

// axis returns the taps of an axis, and the pixels of the source at the centers. The result has n pixels for the part of the source that
// begins at from and has a length. Those from first on are returned that have their center in the source.
func (f Filter) axis(from, length float64, source, n int) (taps []tap, nearest []int, first int) {
	ratio := length / float64(n)
	for i := range n {
		center := from + (float64(i)+0.5)*ratio
		if center <= 0 {
			first = i + 1
			continue
		}
		if center > float64(source) {
			break
		}
		near := min(int(center+1e-10), source-1)
		t := tap{near, []float64{1}}
		switch f {
		case Near:
		case Average:
			t = box(from+float64(i)*ratio, from+float64(i+1)*ratio, source)
		default:
			t = f.kernel(center, ratio, source)
		}
		taps, nearest = append(taps, t), append(nearest, near)
	}
	return taps, nearest, first
}

// kernel weighs pixels around a center. The kernel is as wide as the pixels of the result, if they are larger.
func (f Filter) kernel(center, ratio float64, source int) tap {
	shrink := min(1, 1/ratio)
	reach := f.radius() / shrink
	first, end := max(0, int(math.Floor(center-reach+0.5))), min(source, int(center+reach+0.5))
	t := tap{first, make([]float64, end-first)}
	for k := range t.weights {
		t.weights[k] = f.at((float64(first+k) - center + 0.5) * shrink)
	}
	return t.normalized()
}

// box weighs pixels by how much of them is in an interval.
func box(from, to float64, source int) tap {
	from, to = max(0, from), min(to, float64(source))
	first := min(int(from+1e-8), source-1)
	end := max(first+1, min(source, int(math.Ceil(to-1e-8))))
	t := tap{first, make([]float64, end-first)}
	for k := range t.weights {
		p := float64(first + k)
		t.weights[k] = min(to, p+1) - max(from, p)
	}
	return t.normalized()
}

// normalized makes the sum of the weights 1.
func (t tap) normalized() tap {
	sum := 0.0
	for _, w := range t.weights {
		sum += w
	}
	for k := range t.weights {
		t.weights[k] /= sum
	}
	return t
}
