package otel

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	api "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	oteltrace "go.opentelemetry.io/otel/trace"

	"quern.dev/internal/trace"
)

// scope is the name of the instrumentation.
const scope = "quern.dev/profile/otel"

// DefaultMaxSpans is the number of spans per second of the zero Config.
const DefaultMaxSpans = 1000

// Config configures an export. The zero value works.
type Config struct {
	TracerProvider oteltrace.TracerProvider // nil is the global one
	MeterProvider  metric.MeterProvider     // nil is the global one

	// MaxSpans is the number of spans per second; work beyond it has no spans, but counts in
	// metrics. Zero means DefaultMaxSpans; a negative number means no spans.
	MaxSpans int
}

// Export passes what devices do to OpenTelemetry. It is safe for concurrent use.
type Export struct{ stop func() error }

// Start begins an export of all devices of the program. The caller stops it before it shuts the
// providers down.
func Start(c Config) (*Export, error) {
	if c.TracerProvider == nil {
		c.TracerProvider = api.GetTracerProvider()
	}
	if c.MeterProvider == nil {
		c.MeterProvider = api.GetMeterProvider()
	}
	if c.MaxSpans == 0 {
		c.MaxSpans = DefaultMaxSpans
	}
	s := &sink{tracer: c.TracerProvider.Tracer(scope), rate: float64(max(0, c.MaxSpans)), sections: map[*trace.OpenSection]*open{}, live: map[uint64]int64{}}
	s.tokens = s.rate
	if err := s.instruments(c.MeterProvider.Meter(scope)); err != nil {
		return nil, fmt.Errorf("otel: start: %w", err)
	}
	return &Export{sync.OnceValue(trace.Start(s))}, nil
}

// Stop ends the export. Work that the device has not finished is left out, so wait for it
// before. Stopping again does nothing.
func (e *Export) Stop() error {
	if e == nil || e.stop == nil {
		return errors.New("otel: stop: export was not made by Start")
	}
	if err := e.stop(); err != nil {
		return fmt.Errorf("otel: stop: %w", err)
	}
	return nil
}

// sink receives events. The recorder calls its methods one at a time.
type sink struct {
	tracer oteltrace.Tracer

	kernels metric.Float64Histogram
	starts  metric.Int64Counter
	copied  metric.Int64Counter
	waits   metric.Float64Counter
	memory  metric.Int64UpDownCounter
	losses  metric.Int64Counter

	rate, tokens float64 // spans per second, and those that may be made now
	refilled     time.Time
	sections     map[*trace.OpenSection]*open
	order        []*trace.OpenSection // of sections, oldest first
	live         map[uint64]int64     // bytes by allocation
	lost         uint64
}

// open is the span of a section.
type open struct {
	ctx  context.Context // with the span
	span oteltrace.Span
}

func (s *sink) instruments(m metric.Meter) error {
	var errs [6]error
	s.kernels, errs[0] = m.Float64Histogram("quern.kernel.duration", metric.WithUnit("s"), metric.WithDescription("Time of kernels and graphs on the device."),
		metric.WithExplicitBucketBoundaries(1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10))
	s.starts, errs[1] = m.Int64Counter("quern.launches", metric.WithDescription("Launches of kernels and graphs."))
	s.copied, errs[2] = m.Int64Counter("quern.copy.size", metric.WithUnit("By"), metric.WithDescription("Bytes copied."))
	s.waits, errs[3] = m.Float64Counter("quern.wait.duration", metric.WithUnit("s"), metric.WithDescription("Time that goroutines waited for a device."))
	s.memory, errs[4] = m.Int64UpDownCounter("quern.memory.usage", metric.WithUnit("By"), metric.WithDescription("Device memory in use."))
	s.losses, errs[5] = m.Int64Counter("quern.events.lost", metric.WithDescription("Events for which the recorder had no room."))
	return errors.Join(errs[:]...)
}

// Events passes events on.
func (s *sink) Events(list []trace.Event) {
	for i := range list {
		s.measure(&list[i])
		s.span(&list[i])
	}
}

// Round passes on how many events were lost.
func (s *sink) Round(r trace.Summary) {
	if r.Lost > s.lost {
		s.losses.Add(context.Background(), int64(r.Lost-s.lost))
		s.lost = r.Lost
	}
	if r.Final {
		for _, o := range s.sections { // sections that have not ended
			o.span.End()
		}
		clear(s.sections)
	}
}

// measure updates the metrics.
func (s *sink) measure(e *trace.Event) {
	ctx := context.Background()
	device := attribute.String("device", e.Track.Process)
	switch {
	case e.Kind == trace.Alloc:
		s.live[e.Op] = e.Bytes
		s.memory.Add(ctx, e.Bytes, metric.WithAttributes(device))
	case e.Kind == trace.Free:
		if bytes, known := s.live[e.Op]; known {
			delete(s.live, e.Op)
			s.memory.Add(ctx, -bytes, metric.WithAttributes(device))
		}
	case e.OnDevice && e.Kind <= trace.Graph:
		with := metric.WithAttributes(attribute.String("kernel", e.Label.Name), device)
		for range max(1, e.Weight) {
			s.kernels.Record(ctx, seconds(e.Duration), with)
		}
	case e.OnDevice && e.Kind <= trace.CopyPeer:
		s.copied.Add(ctx, e.Bytes*int64(max(1, e.Weight)), metric.WithAttributes(attribute.String("direction", e.Kind.String()), device))
	case !e.OnDevice && e.Kind <= trace.Graph:
		s.starts.Add(ctx, int64(max(1, e.Weight)), metric.WithAttributes(attribute.String("kernel", e.Label.Name)))
	}
	if e.Waits {
		s.waits.Add(ctx, seconds(e.Duration)*float64(max(1, e.Weight)))
	}
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

func at(ns int64) time.Time { return trace.Epoch.Add(time.Duration(ns)) }

// span makes the spans of an event.
func (s *sink) span(e *trace.Event) {
	switch {
	case e.In == nil || s.rate == 0:
	case e.Kind == trace.Section && !e.OnDevice:
		if o := s.section(e.In); o != nil {
			o.span.End(oteltrace.WithTimestamp(at(e.Start + e.Duration)))
		}
	case e.OnDevice && e.Kind <= trace.Fill:
		o := s.section(e.In)
		if o == nil || !s.take() {
			return
		}
		attributes := []attribute.KeyValue{
			attribute.String("quern.kind", e.Kind.String()), attribute.String("quern.device", e.Track.Process), attribute.String("quern.stream", e.Track.Thread),
		}
		if e.Bytes > 0 {
			attributes = append(attributes, attribute.Int64("quern.bytes", e.Bytes))
		}
		if e.Label.File != "" {
			attributes = append(attributes, attribute.String("code.file.path", e.Label.File), attribute.Int("code.line.number", e.Label.Line))
		}
		_, span := s.tracer.Start(o.ctx, e.Label.Name, oteltrace.WithTimestamp(at(e.Start)), oteltrace.WithAttributes(attributes...))
		span.End(oteltrace.WithTimestamp(at(e.Start + e.Duration)))
	}
}

// take takes a span from those that may be made now.
func (s *sink) take() bool {
	now := time.Now()
	s.tokens = min(s.rate, s.tokens+s.rate*now.Sub(s.refilled).Seconds())
	s.refilled = now
	if s.tokens < 1 {
		return false
	}
	s.tokens--
	return true
}

// mostSections is the number of sections whose spans are remembered, for work that comes later.
const mostSections = 4096

// section returns the span of a section, nil if there are too many.
func (s *sink) section(of *trace.OpenSection) *open {
	if o := s.sections[of]; o != nil {
		return o
	}
	if !s.take() {
		return nil
	}
	ctx := of.Context()
	if p := of.Parent(); p != nil {
		if o := s.section(p); o != nil {
			ctx = o.ctx
		}
	}
	if ctx == nil {
		ctx = context.Background()
	}
	o := &open{}
	o.ctx, o.span = s.tracer.Start(ctx, of.Name(), oteltrace.WithTimestamp(at(of.Begin())))
	if len(s.order) >= mostSections {
		delete(s.sections, s.order[0])
		s.order = s.order[1:]
	}
	s.sections[of] = o
	s.order = append(s.order, of)
	return o
}
