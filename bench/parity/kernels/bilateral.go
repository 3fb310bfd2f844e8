package kernels

import "quern.dev/kernel"

const (
	// BilateralRadius is the radius of the bilateral filter in pixels.
	BilateralRadius = 3

	bilateralSide = 2*BilateralRadius + 1
)

// BilateralWeights holds the weights of the pixels around one due to their distance.
type BilateralWeights [bilateralSide][bilateralSide]float32

// bilateral smooths a w x h image but keeps edges: the weight of a pixel falls with its
// distance, and with the square of the difference in brightness times sharpness. Pixels
// outside of the image equal the nearest border pixel.
//
//quern:kernel block=32x8 also=unchecked
func bilateral(t kernel.Thread, weights BilateralWeights, sharpness float32, w, h int, in, out []float32) {
	x, y := t.Global2()
	if x >= w || y >= h {
		return
	}
	centre := in[y*w+x]
	var sum, total float32
	for j := range bilateralSide {
		row := kernel.Clamp(y+j-BilateralRadius, 0, h-1) * w
		for i := range bilateralSide {
			v := in[row+kernel.Clamp(x+i-BilateralRadius, 0, w-1)]
			d := v - centre
			weight := weights[j][i] * kernel.Exp(-sharpness*d*d)
			sum += weight * v
			total += weight
		}
	}
	out[y*w+x] = sum / total
}
