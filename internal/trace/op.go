package trace

import (
	"strconv"

	"quern.dev/internal/callsite"
	"quern.dev/internal/cupti"
)

// Op is an operation in progress. It is used by one goroutine.
type Op struct {
	recorder *Recorder
	id       uint64
	kind     Kind
	label    *Label
	track    *Track
	host     *Track
	section  *OpenSection
	stack    Stack
	start    int64
	bytes    int64
	waits    bool
}

// Waits says that the host waits for the device in the operation.
func (o *Op) Waits() { o.waits = true }

// Begin begins an operation on a stream.
func (r *Recorder) Begin(kind Kind, label *Label, track *Track, bytes int64) Op {
	return r.begin(kind, label, track, bytes, here())
}

func (r *Recorder) begin(kind Kind, label *Label, track *Track, bytes int64, stack Stack) Op {
	o := Op{
		recorder: r, id: r.ids.Add(1), kind: kind, label: label, track: track, stack: stack, bytes: bytes,
		section: track.section.Load(),
	}
	g := callsite.Goroutine()
	if kind < Wait {
		o.section.await(1)
	}
	r.mu.Lock()
	o.host = r.hosts[g]
	if o.host == nil {
		o.host = &Track{Process: "host", Thread: "goroutine " + strconv.Itoa(len(r.hosts)+1)}
		r.hosts[g] = o.host
	}
	r.ops[o.id%opRoom] = begun{id: o.id, kind: kind, label: label, track: track, stack: o.stack, section: o.section, bytes: bytes}
	r.mu.Unlock()
	o.start = Now()
	return o
}

// Mark makes CUPTI relate the driver's calls of this thread to the operation, until Unmark.
// The thread must be locked.
func (o *Op) Mark() { o.recorder.session.Load().Push(o.id) }

// Unmark ends Mark.
func (o *Op) Unmark() { o.recorder.session.Load().Pop() }

// End ends the host's part of the operation. If it failed, the device does nothing.
func (o *Op) End(failed bool) {
	end := Now()
	r := o.recorder
	if failed && o.kind < Wait {
		o.section.await(-1)
	}
	r.add(Event{
		Kind: o.kind, Label: o.label, Track: o.host, Start: o.start, Duration: end - o.start, Bytes: o.bytes,
		Stack: o.stack, Op: o.id, Section: o.section.name(),
		Waits: o.waits,
	})
}

// OnDevice records when the device did the operation.
func (o *Op) OnDevice(start, end int64) {
	r := o.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	r.device(o.id, start, end, nil)
}

// device records that an operation ran on the device. c is CUPTI's record, or nil. The
// caller holds r.mu.
func (r *Recorder) device(id uint64, start, end int64, c *cupti.Record) bool {
	b := &r.ops[id%opRoom]
	if id == 0 || b.id != id {
		return false
	}
	e := Event{Kind: b.kind, OnDevice: true, Label: b.label, Track: b.track, Start: start, Duration: end - start,
		Bytes: b.bytes, Stack: b.stack, Op: id, Section: b.section.name()}
	if c != nil {
		e.Grid, e.Block, e.Bytes = c.Grid, c.Block, int64(c.Bytes) // a copy may have several parts
		if !describes(b.kind, c.Kind) {
			e.Kind, e.Label = kindOf(c), r.labelOf(c)
		}
	}
	r.put(e)
	for s := b.section; s != nil; s = s.parent {
		s.include(start, end)
	}
	if !b.seen {
		b.section.await(-1)
	}
	b.seen = true
	return true
}

// begun is an operation that was begun.
type begun struct {
	id      uint64
	kind    Kind
	seen    bool // its device work
	label   *Label
	track   *Track
	stack   Stack
	section *OpenSection
	bytes   int64
}

// Span records an event with a track of its own, such as what an actor did.
func (r *Recorder) Span(track *Track, label *Label, start, duration int64) {
	r.add(Event{Kind: Span, Label: label, Track: track, Start: start, Duration: duration})
}

// Moment records an event without duration.
func (r *Recorder) Moment(track *Track, label *Label, text string) {
	r.add(Event{Kind: Mark, Label: label, Track: track, Start: Now(), Text: text})
}
