package otel_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"quern.dev/algo"
	"quern.dev/gpu"
	"quern.dev/profile"
	"quern.dev/profile/otel"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run sums a buffer in a section below a span, and returns the spans and metrics.
func run(t *testing.T, c otel.Config) (tracetest.SpanStubs, map[string]metricdata.Aggregation) {
	t.Helper()
	spans, reader := tracetest.NewInMemoryExporter(), metric.NewManualReader()
	provider := trace.NewTracerProvider(trace.WithSyncer(spans))
	c.TracerProvider, c.MeterProvider = provider, metric.NewMeterProvider(metric.WithReader(reader))
	export, err := otel.Start(c)
	check(t, err)
	d, err := gpu.Open(gpu.Config{Device: "cpu"})
	check(t, err)
	s := d.DefaultStream()
	ctx, span := provider.Tracer("test").Start(context.Background(), "request")
	func() {
		defer profile.Section(ctx, s, "outer").End()
		defer profile.Section(ctx, s, "inner").End()
		x, err := gpu.Upload(s, make([]float32, 1000))
		check(t, err)
		defer x.Close()
		sum, err := gpu.Alloc[float32](d, 1)
		check(t, err)
		defer sum.Close()
		check(t, algo.Reduce(s, algo.Sum[float32](), sum, x))
	}()
	span.End()
	check(t, d.Close())
	check(t, export.Stop())
	check(t, export.Stop())
	var all metricdata.ResourceMetrics
	check(t, reader.Collect(context.Background(), &all))
	metrics := map[string]metricdata.Aggregation{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			metrics[m.Name] = m.Data
		}
	}
	return spans.GetSpans(), metrics
}

func TestWorkIsBelowTheSpanOfItsRequest(t *testing.T) {
	spans, _ := run(t, otel.Config{})
	find := func(name string) tracetest.SpanStub {
		at := slices.IndexFunc(spans, func(s tracetest.SpanStub) bool { return s.Name == name })
		if at < 0 {
			t.Fatalf("there is no span %q among %v", name, spans.Snapshots())
		}
		return spans[at]
	}
	request, outer, inner, upload := find("request"), find("outer"), find("inner"), find("copy to device")
	for _, c := range []struct{ child, parent tracetest.SpanStub }{{outer, request}, {inner, outer}, {upload, inner}} {
		if c.child.Parent.SpanID() != c.parent.SpanContext.SpanID() {
			t.Errorf("%s is not below %s", c.child.Name, c.parent.Name)
		}
		if c.child.StartTime.Before(c.parent.StartTime) || c.child.EndTime.Before(c.child.StartTime) {
			t.Errorf("%s takes from %v to %v, below %v", c.child.Name, c.child.StartTime, c.child.EndTime, c.parent.StartTime)
		}
	}
}

func TestMetricsCountTheWork(t *testing.T) {
	_, metrics := run(t, otel.Config{})
	sum := func(name string) (total int64) {
		data, ok := metrics[name].(metricdata.Sum[int64])
		if !ok {
			t.Fatalf("%s is %T", name, metrics[name])
		}
		for _, p := range data.DataPoints {
			total += p.Value
		}
		return total
	}
	if n := sum("quern.copy.size"); n != 4000 {
		t.Errorf("%d bytes were copied, want 4000", n)
	}
	if n := sum("quern.launches"); n < 1 {
		t.Errorf("%d launches", n)
	}
	if n := sum("quern.memory.usage"); n != 0 {
		t.Errorf("%d bytes are in use at the end", n)
	}
	h, ok := metrics["quern.kernel.duration"].(metricdata.Histogram[float64])
	if !ok || len(h.DataPoints) == 0 || h.DataPoints[0].Count < 1 || h.DataPoints[0].Sum <= 0 {
		t.Errorf("the times of kernels are %+v", metrics["quern.kernel.duration"])
	}
}

func TestSpansAreBounded(t *testing.T) {
	for limit, want := range map[int]int{-1: 1, 2: 3} { // the request is the program's own
		spans, _ := run(t, otel.Config{MaxSpans: limit})
		if len(spans) != want {
			t.Errorf("%d spans with a limit of %d, want %d", len(spans), limit, want)
		}
	}
}

func TestAnExportThatWasNotStarted(t *testing.T) {
	if err := new(otel.Export).Stop(); err == nil {
		t.Error("no error")
	}
}

func Example() {
	export, err := otel.Start(otel.Config{}) // with the global providers
	if err != nil {
		fmt.Println(err)
		return
	}
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		fmt.Println(err)
		return
	}
	section := profile.Section(context.Background(), dev.DefaultStream(), "load")
	x, err := gpu.Upload(dev.DefaultStream(), []float32{1, 2, 3})
	section.End()
	fmt.Println(err, x.Close(), dev.Close(), export.Stop())
	// Output: <nil> <nil> <nil> <nil>
}
