package main

import "quern.dev/kernel"

// hash returns a number from 0 to 1 that depends on all bits of x and y (the
// finalizer of MurmurHash3, Appleby, 2008).
func hash(x, y int32) float32 {
	h := uint32(x)*0x9e3779b9 ^ uint32(y)*0x85ebca6b
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	h ^= h >> 16
	return float32(h>>8) * (1.0 / (1 << 24))
}

// ease is the cubic with value 0 at 0, value 1 at 1, and slope 0 at both.
func ease(t float32) float32 { return t * t * (3 - 2*t) }

// smoothStep rises from 0 at low to 1 at high.
func smoothStep(low, high, x float32) float32 {
	return ease(kernel.Saturate((x - low) / (high - low)))
}

// noise1 is one-dimensional value noise: random values at the integers with a
// smooth curve between them. Each seed gives a different curve.
func noise1(x float32, seed int32) float32 {
	f := kernel.Floor(x)
	i := int32(f)
	return kernel.Lerp(hash(i, seed), hash(i+1, seed), ease(x-f))
}

// noise2 is two-dimensional value noise.
func noise2(x, y float32) float32 {
	fx, fy := kernel.Floor(x), kernel.Floor(y)
	i, j := int32(fx), int32(fy)
	tx := ease(x - fx)
	return kernel.Lerp(
		kernel.Lerp(hash(i, j), hash(i+1, j), tx),
		kernel.Lerp(hash(i, j+1), hash(i+1, j+1), tx),
		ease(y-fy))
}

// clouds is two-dimensional fractal noise: four octaves, 0 to 1. Each octave is
// rotated, so that their lattices do not align.
func clouds(x, y float32) float32 {
	var sum float32
	amplitude := float32(0.5)
	for range 4 {
		sum += amplitude * noise2(x, y)
		x, y = 1.6*x+1.2*y+17, 1.6*y-1.2*x+31
		amplitude *= 0.5
	}
	return sum * (1 / 0.9375)
}

// ridges is one-dimensional fractal noise whose octaves have sharp maxima, for
// the outline of a mountain range, 0 to 1.
func ridges(x float32, seed int32) float32 {
	var sum float32
	amplitude := float32(0.5)
	for octave := range int32(6) {
		v := 1 - kernel.Abs(2*noise1(x, seed+octave)-1)
		sum += amplitude * v * v
		x *= 2.1
		amplitude *= 0.48
	}
	return sum
}
