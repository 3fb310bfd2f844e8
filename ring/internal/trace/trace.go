// Package trace records events and writes them as Chrome's trace-event JSON.
package trace

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

	profile "quern.dev/internal/trace"
)

// Tracer passes events to the current recording, if there is one, and to recordings of package
// profile. The zero Tracer has none of its own. It is safe for concurrent use.
type Tracer struct {
	recording atomic.Pointer[Recording]

	mu     sync.Mutex // guards the names in recordings of package profile
	tracks map[string]*profile.Track
	labels map[string]*profile.Label
}

// mostNames bounds the tracks and the labels that are kept. Further ones share one.
const mostNames = 1 << 14

const others = "others"

// profileTrack returns the track of an actor and the label of an event.
func (t *Tracer) profileTrack(track, name string) (*profile.Track, *profile.Label) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tracks == nil {
		t.tracks, t.labels = map[string]*profile.Track{}, map[string]*profile.Label{}
	}
	if t.tracks[track] == nil && len(t.tracks) >= mostNames {
		track = others
	}
	if t.tracks[track] == nil {
		t.tracks[track] = &profile.Track{Process: "actors", Thread: track}
	}
	if t.labels[name] == nil && len(t.labels) >= mostNames {
		name = others
	}
	if t.labels[name] == nil {
		t.labels[name] = &profile.Label{Name: name}
	}
	return t.tracks[track], t.labels[name]
}

// Recording is a recording of events. It is safe for concurrent use.
type Recording struct {
	begin time.Time
	most  int

	mu     sync.Mutex
	events []event // ring buffer; the oldest event is at next
	next   int
	lost   uint64
	ended  bool
}

// event is one recorded event.
type event struct {
	at, took time.Duration // since the start of the recording; took is instant for an event without duration
	track    string
	name     string
	n        int    // 0 for none
	text     string // "" for none
}

const instant = -1

// Start begins a recording that keeps the given number of latest events. It returns
// nil if there is a recording already.
func (t *Tracer) Start(events int) *Recording {
	r := &Recording{begin: time.Now(), most: events}
	if !t.recording.CompareAndSwap(nil, r) {
		return nil
	}
	return r
}

// Stop ends a recording.
func (t *Tracer) Stop(r *Recording) {
	t.recording.CompareAndSwap(r, nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
}

// On reports whether there is a recording.
func (t *Tracer) On() bool { return t.recording.Load() != nil || profile.Active() != nil }

// Mark records an event without duration. n and text are left out if they are zero.
func (t *Tracer) Mark(track, name string, n int, text string) {
	if r := t.recording.Load(); r != nil {
		r.add(event{at: time.Since(r.begin), took: instant, track: track, name: name, n: n, text: text})
	}
	if p := profile.Active(); p != nil {
		at, label := t.profileTrack(track, name)
		p.Moment(at, label, text)
	}
}

// Span records an event with a duration, from began until now. It is clipped to the
// start of the recording.
func (t *Tracer) Span(track, name string, began time.Time, n int) {
	if r := t.recording.Load(); r != nil {
		at := max(began.Sub(r.begin), 0)
		r.add(event{at: at, took: time.Since(r.begin) - at, track: track, name: name, n: n})
	}
	if p := profile.Active(); p != nil {
		on, label := t.profileTrack(track, name)
		at := profile.Position(began)
		p.Span(on, label, at, profile.Now()-at)
	}
}

// Begin records the name of a track's first state.
func (r *Recording) Begin(track, name string) {
	r.add(event{took: instant, track: track, name: name})
}

// Lost returns the number of events that were not kept.
func (r *Recording) Lost() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lost
}

// add records an event.
func (r *Recording) add(e event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.ended:
	case len(r.events) < r.most:
		r.events = append(r.events, e)
	default:
		r.events[r.next] = e
		r.next = (r.next + 1) % r.most
		r.lost++
	}
}

// traceEvent is an event in Chrome's trace-event format. Times are in
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

// Write writes the events so far, by time for each track. It returns the number of bytes.
func (r *Recording) Write(w io.Writer, process string) (int64, error) {
	r.mu.Lock()
	events := slices.Concat(r.events[r.next:], r.events[:r.next]) // a copy, because add continues
	lost := r.lost
	r.mu.Unlock()

	out := &counter{w: w}
	b := bufio.NewWriter(out)
	enc := json.NewEncoder(b)
	put := func(e traceEvent) error {
		e.Process = 1
		return enc.Encode(e)
	}
	fmt.Fprintf(b, `{"displayTimeUnit":"ns","otherData":{"lost":%d},"traceEvents":[`+"\n", lost)
	err := put(traceEvent{Name: "process_name", Phase: "M", Args: map[string]any{"name": process}})
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

// counter counts the bytes written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
