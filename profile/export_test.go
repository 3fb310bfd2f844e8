package profile

import (
	"context"
	"time"

	"quern.dev/gpu"
)

// MeasureTiny is MeasureCard with arrays and times that are too small to mean anything.
func MeasureTiny(ctx context.Context, s *gpu.Stream, progress func(step, steps int, what string)) (*Card, error) {
	d := s.Device()
	return measureCard(&measurer{ctx: ctx, s: s, d: d, c: newCard(d), gpu: d.Backend() == gpu.CUDA, span: time.Microsecond, shrink: 8}, progress)
}
