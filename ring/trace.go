package ring

import (
	"fmt"
	"io"

	"quern.dev/ring/internal/trace"
)

// Trace is a record of what happens in a runtime: changes of actors' states,
// failures, batches of messages, launches of resident loops and pauses of these. It
// is made by [Runtime.StartTrace] and written as Chrome's trace-event JSON, which
// ui.perfetto.dev and chrome://tracing show as a timeline. It is safe for concurrent
// use.
type Trace struct {
	rt        *Runtime
	recording *trace.Recording
}

// Limits of the events that a trace keeps.
const (
	DefaultTraceEvents = 1 << 16
	MaxTraceEvents     = 1 << 24
)

// pauseTrack is the track of pauses.
const pauseTrack = "pauses"

// StartTrace begins to record what happens, until [Trace.Stop]. The trace keeps the
// latest events, so many, each of about 100 bytes; 0 is DefaultTraceEvents. A
// runtime records one trace at a time, and none once it is closed: that is
// [ErrClosed]. Where none is recorded that costs nothing to speak of.
func (rt *Runtime) StartTrace(events int) (*Trace, error) {
	if err := rt.usable("start a trace"); err != nil {
		return nil, err
	}
	if events == 0 {
		events = DefaultTraceEvents
	}
	if events < 1 || events > MaxTraceEvents {
		return nil, invalid("a trace of %d events; it has 1 to %d", events, MaxTraceEvents)
	}
	if rt.ending() {
		return nil, closedFor("start a trace")
	}
	t := &Trace{rt: rt, recording: rt.traces.Start(events)}
	if t.recording == nil {
		return nil, invalid("a trace is being recorded; stop it first")
	}
	for i := range rt.Actors() {
		t.recording.Begin(i.Name, i.State.String())
	}
	return t, nil
}

// Stop ends the recording. Stopping a trace again does nothing.
func (t *Trace) Stop() {
	if t.usable() {
		t.rt.traces.Stop(t.recording)
	}
}

// usable reports whether StartTrace has made the trace.
func (t *Trace) usable() bool { return t != nil && t.rt != nil }

// Lost returns how many events the trace had no room for: the oldest ones.
func (t *Trace) Lost() uint64 {
	if !t.usable() {
		return 0
	}
	return t.recording.Lost()
}

// traceLaunch records a resident launch that has ended. The cohort has a track,
// which has the name of its first actor.
func (c *resident) traceLaunch() {
	if c.rt.traces.On() && len(c.actors) > 0 {
		c.rt.traces.Span("launches with "+c.actors[0].name, c.program.Name, c.began, len(c.actors))
	}
}

// WriteTo writes what was recorded so far, by time for each actor. It implements
// [io.WriterTo].
func (t *Trace) WriteTo(w io.Writer) (int64, error) {
	switch {
	case !t.usable():
		return 0, notMade("write a trace", "trace")
	case w == nil:
		return 0, invalid("write a trace: the writer is nil")
	}
	dev := t.rt.dev
	return t.recording.Write(w, fmt.Sprintf("ring on %s (%s)", dev.ID(), dev.Name()))
}
