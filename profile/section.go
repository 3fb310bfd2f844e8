package profile

import (
	"context"
	rtrace "runtime/trace"
	"sync"

	"quern.dev/gpu"
	"quern.dev/internal/trace"
)

// OpenSection is a section in progress. The zero value does nothing.
type OpenSection struct {
	section *trace.OpenSection
	region  *rtrace.Region
	ranges  *nvtx
	number  uint64
}

// Section begins a section of the work on a stream, which End ends:
//
//	defer profile.Section(ctx, s, "blur").End()
//
// In recordings the section covers what the host did in it, and on the device the operations
// that were added to the stream in it, from the beginning of the first to the end of the
// last. Sections that a goroutine begins for one stream nest. Work of a goroutine without a section
// of its own belongs to the section of the stream that began last. The section is also a region of Go's execution tracer
// (package runtime/trace) and an NVTX range for Nsight, if they are active. If nothing is
// recorded, a section costs a few nanoseconds and allocates nothing.
//
// s may be nil for work on the host alone. Begin and end a section in the same goroutine.
func Section(ctx context.Context, s *gpu.Stream, name string) OpenSection {
	var o OpenSection
	if r := trace.Active(); r != nil {
		track := trace.TrackOf(s)
		if track == nil {
			track = new(trace.Track)
		}
		o.section = r.BeginSection(ctx, track, sectionLabel(name))
	}
	if rtrace.IsEnabled() {
		if ctx == nil {
			ctx = context.Background()
		}
		o.region = rtrace.StartRegion(ctx, name)
	}
	if n := ranges(); n != nil {
		o.ranges, o.number = n, n.begin(name)
	}
	return o
}

// End ends the section.
func (o OpenSection) End() {
	if o.ranges != nil {
		o.ranges.end(o.number)
	}
	if o.region != nil {
		o.region.End()
	}
	if o.section != nil {
		o.section.End()
	}
}

// sectionLabels has one label for each name, so that events of a section are summed.
var sectionLabels sync.Map

func sectionLabel(name string) *trace.Label {
	if l, ok := sectionLabels.Load(name); ok {
		return l.(*trace.Label)
	}
	l, _ := sectionLabels.LoadOrStore(name, &trace.Label{Name: name})
	return l.(*trace.Label)
}
