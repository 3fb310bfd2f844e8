package ring

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Trace is a record of what happens in a runtime: changes of actors' states,
// failures, batches of messages, launches of resident loops and pauses of these. It
// is made by [Runtime.StartTrace] and written as Chrome's trace-event JSON, which
// ui.perfetto.dev and chrome://tracing show as a timeline. It is safe for concurrent
// use.
type Trace struct {
	rt    *Runtime
	begin time.Time
	most  int

	mu     sync.Mutex
	events []event // in turn: the oldest is at next
	next   int
	lost   uint64
	ended  bool
}

// Limits of the events that a trace keeps.
const (
	DefaultTraceEvents = 1 << 16
	MaxTraceEvents     = 1 << 24
)

// event is something that has happened.
type event struct {
	at, took time.Duration // since the trace began; took is instant if it took no time
	track    string        // whose it is: the name of an actor, or one of those below
	name     string
	n        int    // messages or actors, 0 if there are none
	text     string // more, or empty
}

const instant = -1

// pauseTrack is the track of pauses.
const pauseTrack = "pauses"

// traces is the trace of a runtime that is being recorded.
type traces struct{ atomic.Pointer[Trace] }

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
	t := &Trace{rt: rt, begin: time.Now(), most: events}
	if !rt.traces.CompareAndSwap(nil, t) {
		return nil, invalid("a trace is being recorded; stop it first")
	}
	for i := range rt.Actors() {
		t.add(event{took: instant, track: i.Name, name: i.State.String()})
	}
	return t, nil
}

// Stop ends the recording. Stopping a trace again does nothing.
func (t *Trace) Stop() {
	if t == nil || t.rt == nil {
		return
	}
	t.rt.traces.CompareAndSwap(t, nil)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
}

// Lost returns how many events the trace had no room for: the oldest ones.
func (t *Trace) Lost() uint64 {
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lost
}

// add records an event.
func (t *Trace) add(e event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.ended:
	case len(t.events) < t.most:
		t.events = append(t.events, e)
	default:
		t.events[t.next] = e
		t.next = (t.next + 1) % t.most
		t.lost++
	}
}

// on reports whether a trace is being recorded.
func (t *traces) on() bool { return t.Load() != nil }

// mark records that something has happened.
func (t *traces) mark(track, name string, n int, text string) {
	if r := t.Load(); r != nil {
		r.add(event{at: time.Since(r.begin), took: instant, track: track, name: name, n: n, text: text})
	}
}

// span records what began at a time and ends now. What began before the trace is
// as old as that.
func (t *traces) span(track, name string, began time.Time, n int) {
	if r := t.Load(); r != nil {
		at := max(began.Sub(r.begin), 0)
		r.add(event{at: at, took: time.Since(r.begin) - at, track: track, name: name, n: n})
	}
}

// traceLaunch records a resident launch that has ended. The cohort has a track,
// which has the name of its first actor.
func (c *resident) traceLaunch() {
	if c.rt.traces.on() && len(c.actors) > 0 {
		c.rt.traces.span("launches with "+c.actors[0].name, c.program.Name, c.began, len(c.actors))
	}
}

// traceEvent is an event as Chrome's trace-event format has it: times are in
// microseconds.
type traceEvent struct {
	Name     string         `json:"name"`
	Phase    string         `json:"ph"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	Time     float64        `json:"ts"`
	Duration *float64       `json:"dur,omitempty"`
	Scope    string         `json:"s,omitempty"`
	Args     map[string]any `json:"args,omitempty"`
}

// WriteTo writes what was recorded so far, by time for each actor. It implements
// [io.WriterTo].
func (t *Trace) WriteTo(w io.Writer) (int64, error) {
	switch {
	case t == nil || t.rt == nil:
		return 0, notMade("write a trace", "trace")
	case w == nil:
		return 0, invalid("write a trace: the writer is nil")
	}
	t.mu.Lock()
	events := slices.Concat(t.events[t.next:], t.events[:t.next]) // a copy: add goes on
	lost := t.lost
	t.mu.Unlock()

	out := &counter{w: w}
	b := bufio.NewWriter(out)
	enc := json.NewEncoder(b)
	put := func(e traceEvent) error {
		e.Process = 1
		return enc.Encode(e)
	}
	dev := t.rt.dev
	fmt.Fprintf(b, `{"displayTimeUnit":"ns","otherData":{"lost":%d},"traceEvents":[`+"\n", lost)
	err := put(traceEvent{Name: "process_name", Phase: "M", Args: map[string]any{"name": fmt.Sprintf("ring on %s (%s)", dev.ID(), dev.Name())}})
	threads := map[string]int{}
	for _, e := range events {
		if err != nil {
			break
		}
		thread, known := threads[e.track]
		if !known {
			thread = len(threads) + 1
			threads[e.track] = thread
			b.WriteByte(',')
			err = put(traceEvent{Name: "thread_name", Phase: "M", Thread: thread, Args: map[string]any{"name": e.track}})
		}
		b.WriteByte(',')
		err = cmp.Or(err, put(e.chrome(thread)))
	}
	b.WriteString("]}\n")
	err = cmp.Or(err, b.Flush())
	return out.n, err
}

// chrome returns the event in Chrome's format.
func (e event) chrome(thread int) traceEvent {
	c := traceEvent{Name: e.name, Phase: "i", Scope: "t", Thread: thread, Time: micros(e.at)}
	if e.took != instant {
		took := micros(e.took)
		c.Phase, c.Scope, c.Duration = "X", "", &took
	}
	args := map[string]any{}
	if e.n != 0 {
		args["n"] = e.n
	}
	if e.text != "" {
		args["text"] = e.text
	}
	if len(args) > 0 {
		c.Args = args
	}
	return c
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// counter counts what is written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
