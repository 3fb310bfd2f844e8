package warp

import "quern.dev/geo/tiff"

// rounded returns a value as samples have it.
func rounded(v float64, t tiff.Type) float64 {
	if t == tiff.Float32 {
		return float64(float32(v))
	}
	return v
}
