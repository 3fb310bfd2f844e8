package kernels

import "quern.dev/kernel"

// bilateral averages the pixels within a radius, weighted by exp2(space*distance^2 +
// colors*difference^2), where the difference is that of all channels together.
//
// Unchecked, because inside returns the pixels that are read.
//
//quern:kernel block=32x8 unchecked instantiate=uint8,uint16,float32
func bilateral[T kernel.Number](t kernel.Thread, mode int, value float32, radius int, space, colors float32, w, h, c, srcStride, dstStride int, src, dst []T) {
	x, y := t.Global2()
	if x >= w || y >= h {
		return
	}
	var center, sum [4]float32
	//quern:unroll
	for k := range center {
		if k < c {
			center[k] = float32(src[y*srcStride+x*c+k])
		}
	}
	total := float32(0)
	for j := -radius; j <= radius; j++ {
		yy := inside(mode, y+j, h)
		for i := -radius; i <= radius; i++ {
			distance := i*i + j*j
			if distance > radius*radius {
				continue
			}
			xx := inside(mode, x+i, w)
			at := -1
			if xx >= 0 && yy >= 0 {
				at = yy*srcStride + xx*c
			}
			var v [4]float32
			difference := float32(0)
			//quern:unroll
			for k := range v {
				if k < c {
					v[k] = value
					if at >= 0 {
						v[k] = float32(src[at+k])
					}
					d := v[k] - center[k]
					difference += d * d
				}
			}
			weight := kernel.Exp2(space*float32(distance) + colors*difference)
			total += weight
			//quern:unroll
			for k := range sum {
				sum[k] += weight * v[k]
			}
		}
	}
	//quern:unroll
	for k := range sum {
		if k < c {
			dst[y*dstStride+x*c+k] = round[T](sum[k] / total)
		}
	}
}
