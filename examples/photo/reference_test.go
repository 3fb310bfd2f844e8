package main

import "math"

// The stages in float64 and plain Go, written like their definitions.

func refDecode(v float64) float64 {
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}

func refEncode(v float64) float64 {
	v = min(max(v, 0), 1)
	if v <= 0.0031308 {
		return 12.92 * v
	}
	return 1.055*math.Pow(v, 1/2.4) - 0.055
}

func refToLinear(pixels []uint32, background rgb) []float64 {
	n := len(pixels)
	out := make([]float64, 3*n)
	for c, behind := range []float32{background.R, background.G, background.B} {
		for i, p := range pixels {
			v := refDecode(float64(p>>(8*c)&0xff) / 255)
			alpha := float64(p>>24) / 255
			out[c*n+i] = alpha*v + (1-alpha)*float64(behind)
		}
	}
	return out
}

// refBlur convolves along (dx, dy), one of which is 1 and the other 0.
func refBlur(planes []float32, w, h, dx, dy int, sigma float64) []float64 {
	radius := max(1, int(math.Ceil(3*sigma)))
	out := make([]float64, len(planes))
	for p := range 3 {
		for y := range h {
			for x := range w {
				var sum, norm float64
				for k := -radius; k <= radius; k++ {
					g := math.Exp(-float64(k*k) / (2 * sigma * sigma))
					sx := min(max(x+k*dx, 0), w-1)
					sy := min(max(y+k*dy, 0), h-1)
					sum += g * float64(planes[(p*h+sy)*w+sx])
					norm += g
				}
				out[(p*h+y)*w+x] = sum / norm
			}
		}
	}
	return out
}

func refSharpen(planes, blurred []float32, amount float64) []float64 {
	out := make([]float64, len(planes))
	for i := range out {
		v := float64(planes[i])
		out[i] = max(0, v+amount*(v-float64(blurred[i])))
	}
	return out
}

func refLuminance(planes []float32, i int) float64 {
	n := len(planes) / 3
	return 0.2126*float64(planes[i]) + 0.7152*float64(planes[n+i]) + 0.0722*float64(planes[2*n+i])
}

func refHistogram(planes []float32) []float64 {
	counts := make([]float64, bins)
	for i := range len(planes) / 3 {
		tone := refEncode(refLuminance(planes, i))
		counts[min(int(tone*bins), bins-1)]++
	}
	return counts
}

func refToneCurve(counts []uint32, strength float64) []float64 {
	curve := make([]float64, bins+1)
	var total, sum float64
	for _, c := range counts {
		total += float64(c)
	}
	for b, c := range counts {
		sum += float64(c)
		curve[b+1] = (1-strength)*float64(b+1)/bins + strength*sum/total
	}
	return curve
}

func refEqualize(curve, planes []float32) []float64 {
	n := len(planes) / 3
	out := make([]float64, 3*n)
	for i := range n {
		y := max(refLuminance(planes, i), darkest)
		tone := refEncode(y) * bins
		b := min(int(tone), bins-1)
		part := tone - float64(b)
		target := refDecode((1-part)*float64(curve[b]) + part*float64(curve[b+1]))
		for c := range 3 {
			out[c*n+i] = float64(planes[c*n+i]) * target / y
		}
	}
	return out
}

// refRotate samples with the kernel function of the interpolation, and repeats
// the edge pixels.
func refRotate(planes []float32, w, h int, degrees float64, background rgb, outW, outH int, reach int, weight func(x float64) float64) []float64 {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	n, outN := w*h, outW*outH
	out := make([]float64, 3*outN)
	behind := []float32{background.R, background.G, background.B}
	for o := range outN {
		dx := float64(o%outW) - float64(outW-1)/2
		dy := float64(o/outW) - float64(outH-1)/2
		sx := float64(w-1)/2 + cos*dx - sin*dy
		sy := float64(h-1)/2 + sin*dx + cos*dy
		covered := min(max(min(sx+1, float64(w)-sx, sy+1, float64(h)-sy), 0), 1)
		for c := range 3 {
			var sum float64
			for j := int(math.Floor(sy)) - reach + 1; j <= int(math.Floor(sy))+reach; j++ {
				for i := int(math.Floor(sx)) - reach + 1; i <= int(math.Floor(sx))+reach; i++ {
					v := float64(planes[c*n+min(max(j, 0), h-1)*w+min(max(i, 0), w-1)])
					sum += weight(sx-float64(i)) * weight(sy-float64(j)) * v
				}
			}
			out[c*outN+o] = covered*max(0, sum) + (1-covered)*float64(behind[c])
		}
	}
	return out
}

func triangle(x float64) float64 { return max(0, 1-math.Abs(x)) }

// cubic is Keys' cubic convolution kernel with a = -1/2.
func cubic(x float64) float64 {
	const a = -0.5
	x = math.Abs(x)
	switch {
	case x <= 1:
		return (a+2)*x*x*x - (a+3)*x*x + 1
	case x < 2:
		return a*x*x*x - 5*a*x*x + 8*a*x - 4*a
	}
	return 0
}

// refToSRGB returns the bytes R, G, B, A of each pixel.
func refToSRGB(planes []float32) []float64 {
	n := len(planes) / 3
	out := make([]float64, 4*n)
	for i := range n {
		for c := range 3 {
			out[4*i+c] = refEncode(float64(planes[c*n+i])) * 255
		}
		out[4*i+3] = 255
	}
	return out
}
