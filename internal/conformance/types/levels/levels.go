// Package levels has functions that kernels of package types call: generated code
// has to name what it uses of another package.
package levels

import "quern.dev/kernel"

// Byte is the level of x.
func Byte(x float32) uint8 { return nearest(x) }

func nearest(x float32) uint8 { return uint8(x) }

// Scale multiplies levels.
type Scale struct{ By float32 }

// Level is the level of x.
func (s *Scale) Level(x float32) int16 {
	if s.By == 0 {
		return 0
	}
	return int16(s.By * x)
}

// Gauge is a Scale that keeps what it multiplies by to itself.
type Gauge struct{ by float32 }

// NewGauge returns a Gauge.
func NewGauge(by float32) Gauge { return Gauge{by} }

// Level is the level of x.
func (g Gauge) Level(x float32) int8 { return kernel.ToInteger[int8](g.by * x) }
