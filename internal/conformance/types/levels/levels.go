// Package levels has functions that kernels of package types call, because generated code
// must refer to names in other packages.
package levels

import "quern.dev/kernel"

// Byte returns the level of x.
func Byte(x float32) uint8 { return nearest(x) }

func nearest(x float32) uint8 { return uint8(x) }

// Scale computes levels.
type Scale struct{ By float32 }

// Level returns the level of x.
func (s *Scale) Level(x float32) int16 {
	if s.By == 0 {
		return 0
	}
	return int16(s.By * x)
}

// Gauge is a Scale with an unexported field.
type Gauge struct{ by float32 }

// NewGauge returns a Gauge that multiplies by by.
func NewGauge(by float32) Gauge { return Gauge{by} }

// Level returns the level of x.
func (g Gauge) Level(x float32) int8 { return kernel.ToInteger[int8](g.by * x) }
