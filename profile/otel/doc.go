// Package otel passes what devices do to OpenTelemetry, as spans and metrics:
//
//	export, err := otel.Start(otel.Config{})
//	...
//	defer export.Stop()
//
// It uses the global providers, or those of the [Config], and works for all of the program's
// devices. Programs that do not import this package do not link OpenTelemetry.
//
// # Spans
//
// A section ([quern.dev/profile.Section]) is a span, whose parent is the span in the context
// that the section was begun with. Sections around it come between. Each kernel, graph and copy
// on a device is a span below that of its section, with the times of the device. Work without a
// section has no spans, so that the number of traces does not depend on the number of launches:
//
//	ctx, span := tracer.Start(ctx, "develop")
//	defer span.End()
//	defer profile.Section(ctx, stream, "blur").End() // a span below develop, above its kernels
//
// # Metrics
//
//	quern.kernel.duration   histogram, seconds: kernels on the device, by kernel and device
//	quern.launches          counter: launches of kernels and graphs
//	quern.copy.size         counter, bytes: copied, by direction and device
//	quern.wait.duration     counter, seconds: goroutines waited for a device
//	quern.memory.usage      up-down counter, bytes: device memory in use, by device
//	quern.events.lost       counter: events for which the recorder had no room
//
// Recording costs what profile.Start costs, and each span what the provider's processor costs;
// Config.MaxSpans bounds their number.
package otel
