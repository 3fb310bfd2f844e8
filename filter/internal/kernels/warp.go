package kernels

import (
	"math"

	"quern.dev/kernel"
)

// The interpolations, in the order of filter.Interpolation.
const (
	pointwise = iota
	linear
	cubic
	lanczos
	area
)

// locate returns the position in the source that a matrix assigns to a position of the output.
// It is computed in float64, because float32 has only a few bits for positions within a pixel
// of a large image.
func locate(m *[9]float64, x, y float64) (u, v float64) {
	u, v = m[0]*x+m[1]*y+m[2], m[3]*x+m[4]*y+m[5]
	if m[6] != 0 || m[7] != 0 || m[8] != 1 {
		w := m[6]*x + m[7]*y + m[8]
		u, v = u/w, v/w
	}
	return kernel.Clamp(u, -1e9, 1e9), kernel.Clamp(v, -1e9, 1e9)
}

// split returns the pixel below a position and the distance to it.
func split(u float64) (int, float32) {
	f := math.Floor(u)
	return int(f), float32(u - f)
}

// at returns a value of the pixel in column x of row y, which may be outside.
func at[T kernel.Number](mode int, value float32, x, y, channel, w, h, c, stride int, src []T) float32 {
	x, y = inside(mode, x, w), inside(mode, y, h)
	if x < 0 || y < 0 {
		return value
	}
	return float32(src[y*stride+x*c+channel])
}

func bilinear[T kernel.Number](mode int, value float32, u, v float64, channel, w, h, c, stride int, src []T) float32 {
	x, fx := split(u)
	y, fy := split(v)
	var p, q [2]float32 // two pixels of two rows
	if x >= 0 && y >= 0 && x+1 < w && y+1 < h {
		i := y*stride + x*c + channel
		p = [2]float32{float32(src[i]), float32(src[i+c])}
		q = [2]float32{float32(src[i+stride]), float32(src[i+stride+c])}
	} else {
		p[0] = at(mode, value, x, y, channel, w, h, c, stride, src)
		p[1] = at(mode, value, x+1, y, channel, w, h, c, stride, src)
		q[0] = at(mode, value, x, y+1, channel, w, h, c, stride, src)
		q[1] = at(mode, value, x+1, y+1, channel, w, h, c, stride, src)
	}
	top := p[0] + fx*(p[1]-p[0])
	return top + fy*(q[0]+fx*(q[1]-q[0])-top)
}

// mostSamples limits the samples per side of a pixel for the area interpolation.
const mostSamples = 16

// warp samples an image at the positions that a matrix assigns to the pixels of the output: at
// the nearest pixel, between four pixels, or at several such positions within the pixel.
//
// Unchecked, because inside returns the pixels that are read.
//
//quern:kernel block=32x8 unchecked instantiate=uint8,uint16,float32
func warp[T kernel.Number](t kernel.Thread, m [9]float64, interpolation, mode int, value float32, dw, dh, w, h, c, srcStride, dstStride int, src, dst []T) {
	px, py := t.Global2()
	if px >= dw || py >= dh {
		return
	}
	x, y := float64(px), float64(py)
	u, v := locate(&m, x, y)
	out := dst[py*dstStride+px*c:]
	switch interpolation {
	case pointwise:
		ix, iy := int(math.Floor(u+0.5)), int(math.Floor(v+0.5))
		ix, iy = inside(mode, ix, w), inside(mode, iy, h)
		for channel := range c {
			p := round[T](value)
			if ix >= 0 && iy >= 0 {
				p = src[iy*srcStride+ix*c+channel]
			}
			out[channel] = p
		}
	case linear:
		for channel := range c {
			out[channel] = round[T](bilinear(mode, value, u, v, channel, w, h, c, srcStride, src))
		}
	default:
		// The steps in the source for a step of one pixel of the output.
		u1, v1 := locate(&m, x+1, y)
		u2, v2 := locate(&m, x, y+1)
		size := math.Max(math.Max(math.Abs(u1-u), math.Abs(v1-v)), math.Max(math.Abs(u2-u), math.Abs(v2-v)))
		n := kernel.Clamp(int(math.Ceil(math.Min(size, mostSamples)-1e-9)), 1, mostSamples)
		for channel := range c {
			sum := float32(0)
			for k := range n * n {
				j := k / n
				i := k - j*n
				u, v := locate(&m, x+(float64(i)+0.5)/float64(n)-0.5, y+(float64(j)+0.5)/float64(n)-0.5)
				sum += bilinear(mode, value, u, v, channel, w, h, c, srcStride, src)
			}
			out[channel] = round[T](sum / float32(n*n))
		}
	}
}

// warpCubic is warp with the cubic kernel of Keys over 4x4 pixels, with a = -0.75.
//
//quern:kernel block=32x8 unchecked maxregs=64 instantiate=uint8,uint16,float32
func warpCubic[T kernel.Number](t kernel.Thread, m [9]float64, mode int, value float32, dw, dh, w, h, c, srcStride, dstStride int, src, dst []T) {
	rows := kernel.Shared[[8][256]float32](t)
	columns := kernel.Shared[[8][256]int32](t)
	px, py := t.Global2()
	if px >= dw || py >= dh {
		return
	}
	u, v := locate(&m, float64(px), float64(py))
	x, fx := split(u)
	y, fy := split(v)
	wx, wy := cubicWeights(fx), cubicWeights(fy)
	resample(t, 4, rows, columns, &wx, &wy, mode, value, x-1, y-1, w, h, c, srcStride, src, dst[py*dstStride+px*c:])
}

// resample writes the weighted sums of n*n pixels from column x of row y on, where n is a
// constant. A thread keeps the weights of its rows and the indices of its columns in shared
// memory, so that loops need not be unrolled to have them in registers.
func resample[T kernel.Number](t kernel.Thread, n int, rows *[8][256]float32, columns *[8][256]int32, wx, wy *[8]float32, mode int, value float32, x, y, w, h, c, stride int, src, out []T) {
	id := t.ThreadIdx.Y*32 + t.ThreadIdx.X
	//quern:unroll
	for k := 0; k < n; k++ {
		rows[k][id] = wy[k]
	}
	//quern:nounroll
	for k := 0; k < n; k++ {
		columns[k][id] = int32(inside(mode, x+k, w))
	}
	var at [8]int
	//quern:unroll
	for k := 0; k < n; k++ {
		at[k] = int(columns[k][id])
	}
	//quern:nounroll
	for channel := 0; channel < c; channel++ {
		sum := float32(0)
		//quern:nounroll
		for j := 0; j < n; j++ {
			line := value
			if yy := inside(mode, y+j, h); yy >= 0 {
				row := src[yy*stride+channel:]
				line = 0
				//quern:unroll
				for i := 0; i < n; i++ {
					p := value
					if at[i] >= 0 {
						p = float32(row[at[i]*c])
					}
					line += wx[i] * p
				}
			}
			sum += rows[j][id] * line
		}
		out[channel] = round[T](sum)
	}
}

func cubicWeights(f float32) [8]float32 {
	const a = -0.75
	g := 1 - f
	outer := func(x float32) float32 { return a * x * (1 - x) * (1 - x) }
	inner := func(x float32) float32 { return ((a+2)*x-(a+3))*x*x + 1 }
	return [8]float32{outer(f), inner(f), inner(g), outer(g)}
}

// warpLanczos is warp with the Lanczos kernel over 8x8 pixels.
//
//quern:kernel block=32x8 unchecked instantiate=uint8,uint16,float32
func warpLanczos[T kernel.Number](t kernel.Thread, m [9]float64, mode int, value float32, dw, dh, w, h, c, srcStride, dstStride int, src, dst []T) {
	rows := kernel.Shared[[8][256]float32](t)
	columns := kernel.Shared[[8][256]int32](t)
	px, py := t.Global2()
	if px >= dw || py >= dh {
		return
	}
	u, v := locate(&m, float64(px), float64(py))
	x, fx := split(u)
	y, fy := split(v)
	wx, wy := lanczosWeights(fx), lanczosWeights(fy)
	resample(t, 8, rows, columns, &wx, &wy, mode, value, x-3, y-3, w, h, c, srcStride, src, dst[py*dstStride+px*c:])
}

// lanczosWeights returns sinc(f+3-i)*sinc((f+3-i)/4), divided by their sum. The sines follow
// from one of a quarter of the angle.
func lanczosWeights(f float32) [8]float32 {
	var w [8]float32
	s, c := kernel.SinCos(f * (math.Pi / 4))
	s2, c2 := 2*s*c, 1-2*s*s
	s4 := 2 * s2 * c2 // sin(pi*f)
	const r = math.Sqrt2 / 2
	// sin and cos of (3-i)*pi/4, and the sign of sin(pi*(f+3-i)).
	sines := [8]float32{r, 1, r, 0, -r, -1, -r, 0}
	cosines := [8]float32{-r, 0, r, 1, r, 0, -r, -1}
	sum := float32(0)
	//quern:unroll
	for i := range w {
		x := f + float32(3-i)
		v := s4 * (s*cosines[i] + c*sines[i]) / (x * x)
		if i%2 == 0 {
			v = -v
		}
		w[i] = v
		sum += v
	}
	const small = 1e-6 // there, the quotients lose their digits
	//quern:unroll
	for i := range w {
		w[i] /= sum
		if f < small || f > 1-small {
			w[i] = 0
		}
	}
	if f < small {
		w[3] = 1
	}
	if f > 1-small {
		w[4] = 1
	}
	return w
}

// shrink writes the means of the source over the areas of the output's pixels. Pixel x of the
// output covers the source from x*w/dw to (x+1)*w/dw.
//
// Unchecked, because the columns and rows that are read are below w and h.
//
//quern:kernel block=32x8 unchecked instantiate=uint8,uint16,float32
func shrink[T kernel.Number](t kernel.Thread, dw, dh, w, h, c, srcStride, dstStride int, src, dst []T) {
	px, py := t.Global2()
	if px >= dw || py >= dh {
		return
	}
	for channel := range c {
		sum := float32(0)
		for y := py * h / dh; y*dh < (py+1)*h; y++ {
			line := float32(0)
			row := src[y*srcStride+channel:]
			for x := px * w / dw; x*dw < (px+1)*w; x++ {
				line += float32(share(x, px, w, dw)) * float32(row[x*c])
			}
			sum += float32(share(y, py, h, dh)) * (line * (1 / float32(w)))
		}
		dst[py*dstStride+px*c+channel] = round[T](sum * (1 / float32(h)))
	}
}

// share returns how much of pixel i of n lies in pixel p of an output of size pixels, in units
// of 1/size pixels. The shares of an output pixel add up to n.
func share(i, p, n, size int) int {
	return min((i+1)*size, (p+1)*n) - max(i*size, p*n)
}

// convert writes scale*x + offset.
//
//quern:kernel block=32x8 instantiate=float32:uint8,float32:uint16,uint8:float32,uint16:float32,uint16:uint8,uint8:uint16
func convert[Out, In kernel.Number](t kernel.Thread, scale, offset float32, row, h, srcStride, dstStride int, src []In, dst []Out) {
	e, y := t.Global2()
	if e >= row || y >= h {
		return
	}
	dst[y*dstStride+e] = round[Out](scale*float32(src[y*srcStride+e]) + offset)
}
