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
	weight   int32
	own      *OpenSection // that the operation is
	shape    *Shape
	memory   uint64 // of the host
	data     uint64
}

// Waits says that the host waits for the device in the operation.
func (o *Op) Waits() { o.waits = true }

// Launches says what a launch uses.
func (o *Op) Launches(s *Shape) { o.shape = s }

// Inspects reports whether a sink wants to know the host's memory of a copy.
func (o *Op) Inspects() bool { return o.recorder.inspects.Load() }

// HostMemory says which memory of the host a copy reads or writes, and a sample of the data.
func (o *Op) HostMemory(address, data uint64) { o.memory, o.data = address, data }

// Begin begins an operation on a stream.
func (r *Recorder) Begin(kind Kind, label *Label, track *Track, bytes int64) Op {
	return r.begin(kind, label, track, bytes, here())
}

// StandsFor sets the number of operations that this one stands for; see Recorder.Take.
func (o *Op) StandsFor(weight int32) { o.weight = weight }

func (r *Recorder) begin(kind Kind, label *Label, track *Track, bytes int64, stack Stack) Op {
	o := Op{
		weight:   1,
		recorder: r, id: ids.Add(1), kind: kind, label: label, track: track, stack: stack, bytes: bytes,
	}
	o.host = r.goroutine(callsite.Goroutine())
	if kind != Section { // BeginSection knows that of a section
		o.section, _ = track.current(o.host)
	}
	if kind < Wait {
		o.section.await(1)
	}
	o.start = Now()
	return o
}

// hostSlots is the number of goroutines whose tracks are found without a lock.
const hostSlots = 64

// hostTrack is the track of a goroutine.
type hostTrack struct {
	goroutine uintptr
	track     Track
}

// goroutine returns the track of a goroutine.
func (r *Recorder) goroutine(g uintptr) *Track {
	slot := &r.recent[g>>6%hostSlots]
	if h := slot.Load(); h != nil && h.goroutine == g {
		return &h.track
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.hosts[g]
	if h == nil {
		h = &hostTrack{goroutine: g, track: Track{Process: "host", Thread: "goroutine " + strconv.Itoa(len(r.hosts)+1)}}
		r.hosts[g] = h
	}
	slot.Store(h)
	return &h.track
}

// Mark makes CUPTI relate the driver's calls of this thread to the operation, until Unmark.
// The thread must be locked.
func (o *Op) Mark() { o.recorder.session.Load().Push(o.id) }

// Unmark ends Mark.
func (o *Op) Unmark() { o.recorder.session.Load().Pop() }

// End ends the host's part of the operation. If the device does nothing that is measured,
// because the operation failed or is not measured, unseen is set.
func (o *Op) End(unseen bool) {
	end := Now()
	r := o.recorder
	if unseen && o.kind < Wait {
		o.section.await(-1)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !unseen {
		r.ops[o.id%opRoom] = begun{id: o.id, kind: o.kind, label: o.label, track: o.track, stack: o.stack, section: o.section, bytes: o.bytes, weight: o.weight}
	}
	r.put(Event{
		Kind: o.kind, Label: o.label, Track: o.host, Start: o.start, Duration: end - o.start, Bytes: o.bytes,
		Stack: o.stack, Op: o.id, Section: o.section.name(), In: o.scope(),
		Waits: o.waits, Shape: o.shape, Host: o.memory, Data: o.data, Weight: o.weight,
	})
}

// scope returns the section that the event of an operation belongs to.
func (o *Op) scope() *OpenSection {
	if o.own != nil {
		return o.own
	}
	return o.section
}

// OnDevice records when the device did the operation, after End.
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
		Bytes: b.bytes, Stack: b.stack, Op: id, Section: b.section.name(), In: b.section, Weight: b.weight}
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
	weight  int32
}

// Allocated records that memory was allocated, and returns the number of the allocation.
func (r *Recorder) Allocated(track *Track, label *Label, bytes int64) uint64 {
	id := ids.Add(1)
	r.add(Event{Kind: Alloc, Label: label, Track: track, Start: Now(), Bytes: bytes, Stack: here(), Op: id})
	return id
}

// Freed records that memory was freed.
func (r *Recorder) Freed(track *Track, label *Label, allocation uint64) {
	r.add(Event{Kind: Free, Label: label, Track: track, Start: Now(), Op: allocation})
}

// Span records an event with a track of its own, such as what an actor did.
func (r *Recorder) Span(track *Track, label *Label, start, duration int64) {
	r.add(Event{Kind: Span, Label: label, Track: track, Start: start, Duration: duration})
}

// Moment records an event without duration.
func (r *Recorder) Moment(track *Track, label *Label, text string) {
	r.add(Event{Kind: Mark, Label: label, Track: track, Start: Now(), Text: text})
}
