package trace

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"quern.dev/internal/callsite"
	"quern.dev/internal/cupti"
)

// Bounds of a recorder.
const (
	opRoom    = 1 << 16 // operations that device records are related to
	eventRoom = 1 << 16 // events between two rounds
	marksRoom = 1 << 16 // driver calls with a known operation
	lateRoom  = 1 << 14 // device records that wait for their mark
	mostOpen  = 1 << 12 // sections that wait for their work

	interval = 100 * time.Millisecond // between rounds
)

// Sink receives events, in no particular order.
type Sink interface {
	// Events passes events; the slice is used again.
	Events(list []Event)
	// Round is called after each round.
	Round(Summary)
}

// Summary is the state of a recording after a round.
type Summary struct {
	Lost   uint64 // events so far for which there was no room
	Note   string // about the recording, or ""
	Urgent bool   // the program may end soon
	Final  bool   // this is the last round of the sink
}

// Poller finds the times of device work that has ended.
type Poller interface {
	// Poll passes on what has ended. all means that everything has ended.
	Poll(all bool)
}

var active atomic.Pointer[Recorder]

// Active returns the recorder, or nil if nothing is being recorded.
func Active() *Recorder { return active.Load() }

// Recorder records operations. It is safe for concurrent use.
type Recorder struct {
	ids atomic.Uint64

	cuda    sync.Once // starts the session
	session atomic.Pointer[cupti.Session]
	note    atomic.Pointer[string]

	mu       sync.Mutex // guards the fields below
	ops      []begun    // by number, modulo opRoom
	events   []Event
	lost     uint64
	sections []*OpenSection // that have ended and wait for their device work
	hosts    map[uintptr]*Track

	wake chan struct{}
	done chan struct{}
	quit chan struct{}

	round   sync.Mutex // guards a round, and the fields below
	spare   []Event
	sinks   []Sink
	pollers []Poller
	calls   []call // by correlation number, modulo marksRoom
	late    []cupti.Record
	threads map[uint32]*Track
	foreign map[[2]uint32]*Track
	kernels map[string]*Label
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

// call relates a call of the driver to an operation.
type call struct {
	correlation uint32
	op          uint64
}

// library opens CUPTI. Tests replace it.
var library = cupti.Open

// SetLibrary replaces CUPTI by a substitute, until restore is called.
func SetLibrary(open func() (cupti.Library, error)) (restore func()) {
	before := library
	library = open
	return func() { library = before }
}

var starting sync.Mutex // guards the beginning and the end of recorders

// Start passes events to sink until stop is called. stop passes what has ended until then.
func Start(sink Sink) (stop func() error) {
	starting.Lock()
	defer starting.Unlock()
	r := active.Load()
	if r == nil {
		r = &Recorder{
			ops: make([]begun, opRoom), events: make([]Event, 0, eventRoom), spare: make([]Event, 0, eventRoom),
			hosts: map[uintptr]*Track{}, threads: map[uint32]*Track{}, foreign: map[[2]uint32]*Track{}, kernels: map[string]*Label{},
			calls: make([]call, marksRoom),
			wake:  make(chan struct{}, 1), done: make(chan struct{}), quit: make(chan struct{}),
		}
		r.sinks = []Sink{sink}
		active.Store(r)
		go r.run()
	} else {
		r.round.Lock()
		r.pass(false)
		r.sinks = append(slices.Clone(r.sinks), sink)
		r.round.Unlock()
	}
	return sync.OnceValue(func() error { return r.stop(sink) })
}

// stop removes a sink, and ends the recorder with the last one.
func (r *Recorder) stop(sink Sink) error {
	starting.Lock()
	defer starting.Unlock()
	r.round.Lock()
	last := len(r.sinks) == 1
	if !last {
		r.pass(false)
		sink.Round(r.summary(true, true))
		r.sinks = slices.DeleteFunc(slices.Clone(r.sinks), func(s Sink) bool { return s == sink })
		r.round.Unlock()
		return nil
	}
	r.round.Unlock()

	active.Store(nil)
	close(r.quit)
	<-r.done
	r.round.Lock()
	defer r.round.Unlock()
	for _, p := range r.pollers {
		p.Poll(false)
	}
	var err error
	if s := r.session.Load(); s != nil {
		offset := clock(s)
		err = s.Stop(func(c *cupti.Record) { r.record(c, offset, true) })
	}
	r.relate(r.late)
	r.pass(true)
	sink.Round(r.summary(true, true))
	r.sinks = nil
	return err
}

// run passes events to the sinks until the recorder ends.
func (r *Recorder) run() {
	defer close(r.done)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-r.quit:
			return
		case <-tick.C:
		case <-r.wake:
		}
		r.flush(false)
	}
}

// Flush passes what has ended to the sinks.
func (r *Recorder) Flush() { r.flush(true) }

func (r *Recorder) flush(urgent bool) {
	r.round.Lock()
	defer r.round.Unlock()
	r.pass(false)
	summary := r.summary(urgent, false)
	for _, s := range r.sinks {
		s.Round(summary)
	}
}

// AddPoller makes each round call p, until RemovePoller.
func (r *Recorder) AddPoller(p Poller) {
	r.round.Lock()
	defer r.round.Unlock()
	r.pollers = append(r.pollers, p)
}

// RemovePoller removes p.
func (r *Recorder) RemovePoller(p Poller) {
	r.round.Lock()
	defer r.round.Unlock()
	r.pollers = slices.DeleteFunc(r.pollers, func(o Poller) bool { return o == p })
}

// pass passes events to the sinks. The caller holds r.round.
func (r *Recorder) pass(final bool) {
	if !final {
		for _, p := range r.pollers {
			p.Poll(false)
		}
		r.read()
	}
	r.mu.Lock()
	r.settle(final)
	r.mu.Unlock()
	r.deliver()
}

// deliver passes the events so far to the sinks. The caller holds r.round.
func (r *Recorder) deliver() {
	r.mu.Lock()
	list := r.events
	r.events, r.spare = r.spare[:0], list
	r.mu.Unlock()
	if len(list) == 0 {
		return
	}
	for _, s := range r.sinks {
		s.Events(list)
	}
}

// makeRoom delivers events if there is little room for more. The caller holds r.round.
func (r *Recorder) makeRoom() {
	r.mu.Lock()
	full := len(r.events) > eventRoom/2
	r.mu.Unlock()
	if full {
		r.deliver()
	}
}

func (r *Recorder) losses() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.lost
	if s := r.session.Load(); s != nil {
		n += s.Dropped()
	}
	return n
}

func (r *Recorder) summary(urgent, final bool) Summary {
	s := Summary{Lost: r.losses(), Urgent: urgent, Final: final}
	if p := r.note.Load(); p != nil {
		s.Note = *p
	}
	return s
}

// fromCUPTI begins the message of a recording with CUPTI.
const fromCUPTI = "times are from CUPTI"

// UseCUDA starts CUPTI when work of an NVIDIA GPU is recorded for the first time. It reports
// whether CUPTI measures the work; if not, the caller does.
func (r *Recorder) UseCUDA() bool {
	r.cuda.Do(func() {
		note := ""
		lib, err := library()
		if err == nil {
			var s *cupti.Session
			if s, err = cupti.Start(lib); err == nil {
				r.session.Store(s)
				note = fmt.Sprintf(fromCUPTI+" %d.%d", s.Version()/10000, s.Version()/100%100)
			}
		}
		if err != nil {
			note = "times are from events in the streams: " + err.Error()
		}
		r.note.Store(&note)
	})
	return r.session.Load() != nil
}

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
	if kind < Wait && o.section != nil {
		o.section.pending.Add(1)
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
	if failed && o.kind < Wait && o.section != nil {
		o.section.pending.Add(-1)
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
	if !r.put(e) {
		return true
	}
	for s := b.section; s != nil; s = s.parent {
		s.include(start, end)
	}
	if !b.seen && b.section != nil {
		b.section.pending.Add(-1)
	}
	b.seen = true
	return true
}

// describes reports whether records of kind c are the work of operations of kind k.
func describes(k Kind, c cupti.Kind) bool {
	switch c {
	case cupti.Kernel:
		return k == Launch
	case cupti.Copy:
		return k == CopyIn || k == CopyOut || k == CopyWithin || k == CopyPeer
	default:
		return k == Fill
	}
}

func kindOf(c *cupti.Record) Kind {
	switch c.Kind {
	case cupti.Kernel:
		return Launch
	case cupti.Fill:
		return Fill
	case cupti.Call:
		return Call
	}
	switch c.Direction {
	case cupti.In:
		return CopyIn
	case cupti.Out:
		return CopyOut
	case cupti.Between:
		return CopyPeer
	default:
		return CopyWithin
	}
}

// labelOf returns the label of a record that is not of a single operation. The caller holds
// r.mu and r.round.
func (r *Recorder) labelOf(c *cupti.Record) *Label {
	if c.Name == "" {
		return labels[kindOf(c)]
	}
	l := r.kernels[c.Name]
	if l == nil {
		l = &Label{Name: c.Name}
		r.kernels[c.Name] = l
	}
	return l
}

// add adds an event.
func (r *Recorder) add(e Event) {
	r.mu.Lock()
	r.put(e)
	r.mu.Unlock()
}

// put adds an event, if there is room. The caller holds r.mu.
func (r *Recorder) put(e Event) bool {
	if len(r.events) == cap(r.events) {
		r.lost++
		return false
	}
	r.events = append(r.events, e)
	if len(r.events) == cap(r.events)/2 {
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
	return true
}

// Span records an event with a track of its own, such as what an actor did.
func (r *Recorder) Span(track *Track, label *Label, start, duration int64) {
	r.add(Event{Kind: Span, Label: label, Track: track, Start: start, Duration: duration})
}

// Moment records an event without duration.
func (r *Recorder) Moment(track *Track, label *Label, text string) {
	r.add(Event{Kind: Mark, Label: label, Track: track, Start: Now(), Text: text})
}

// clock returns what to add to CUPTI's time to get the time since Epoch.
func clock(s *cupti.Session) int64 {
	var offset int64
	best := int64(-1)
	for range 3 {
		before := Now()
		at := int64(s.Now())
		after := Now()
		if best < 0 || after-before < best {
			best, offset = after-before, before+(after-before)/2-at
		}
	}
	return offset
}

// read reads CUPTI's records. The caller holds r.round.
func (r *Recorder) read() {
	s := r.session.Load()
	if s == nil {
		return
	}
	offset := clock(s)
	late := r.late
	r.late = nil
	if err := s.Read(false, func(c *cupti.Record) { r.record(c, offset, true) }); err != nil {
		note := "CUPTI has failed: " + err.Error()
		r.note.Store(&note)
	}
	r.relate(late)
}

// relate passes on records that came before their marks, which have come by now, or never
// will. The caller holds r.round.
func (r *Recorder) relate(late []cupti.Record) {
	for i := range late {
		r.record(&late[i], 0, false)
	}
}

// record passes on a record of CUPTI. If retry is set, it is kept for the next round if its
// operation is not known yet.
func (r *Recorder) record(c *cupti.Record, offset int64, retry bool) {
	if c.Kind == cupti.External {
		r.calls[c.Correlation%marksRoom] = call{c.Correlation, c.External}
		r.makeRoom()
		return
	}
	if c.Start == 0 || c.End < c.Start { // it has not ended
		return
	}
	var op uint64
	if k := r.calls[c.Correlation%marksRoom]; k.correlation == c.Correlation {
		op = k.op
	}
	start, end := int64(c.Start)+offset, int64(c.End)+offset
	if op == 0 && retry && c.Kind != cupti.Call && len(r.late) < lateRoom {
		late := *c
		late.Start, late.End = uint64(start), uint64(end)
		r.late = append(r.late, late)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.Kind == cupti.Call {
		e := Event{Kind: Call, Label: r.labelOf(c), Track: r.thread(c.Thread), Start: start, Duration: end - start, Op: op}
		if b := &r.ops[op%opRoom]; op != 0 && b.id == op {
			e.Stack, e.Section = b.stack, b.section.name()
		}
		r.put(e)
		return
	}
	if r.device(op, start, end, c) {
		return
	}
	r.put(Event{Kind: kindOf(c), OnDevice: true, Label: r.labelOf(c), Track: r.other(c), Start: start, Duration: end - start,
		Bytes: int64(c.Bytes), Grid: c.Grid, Block: c.Block})
}

// thread returns the track of a thread of the operating system.
func (r *Recorder) thread(number uint32) *Track {
	t := r.threads[number]
	if t == nil {
		t = &Track{Process: "host", Thread: fmt.Sprintf("driver calls of thread %d", number)}
		r.threads[number] = t
	}
	return t
}

// other returns the track of a stream that Quern did not make.
func (r *Recorder) other(c *cupti.Record) *Track {
	key := [2]uint32{c.Device, c.Stream}
	t := r.foreign[key]
	if t == nil {
		t = &Track{Process: fmt.Sprintf("cuda:%d", c.Device), Thread: fmt.Sprintf("other work, stream %d", c.Stream)}
		r.foreign[key] = t
	}
	return t
}

// OpenSection is a section of a program in progress.
type OpenSection struct {
	recorder *Recorder
	label    *Label
	parent   *OpenSection
	track    *Track
	op       Op
	pending  atomic.Int64 // operations whose device work was not seen

	first, last int64 // guarded by recorder.mu
	worked      bool
}

// name returns the label of the section; s may be nil.
func (s *OpenSection) name() *Label {
	if s == nil {
		return nil
	}
	return s.label
}

// include extends the section by the time of device work.
func (s *OpenSection) include(start, end int64) {
	if !s.worked {
		s.first, s.last, s.worked = start, end, true
		return
	}
	s.first, s.last = min(s.first, start), max(s.last, end)
}

// BeginSection begins a section: later operations of the stream belong to it.
func (r *Recorder) BeginSection(track *Track, label *Label) *OpenSection {
	s := &OpenSection{recorder: r, label: label, track: track}
	s.op = r.begin(Section, label, track, 0, here())
	s.parent = track.section.Load()
	track.section.Store(s)
	return s
}

// End ends the section.
func (s *OpenSection) End() {
	s.track.section.CompareAndSwap(s, s.parent)
	s.op.End(false)
	r := s.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.sections) < mostOpen {
		r.sections = append(r.sections, s)
	} else {
		r.lost++
	}
}

// settle records the device's part of sections whose work was seen. The caller holds r.mu.
func (r *Recorder) settle(final bool) {
	r.sections = slices.DeleteFunc(r.sections, func(s *OpenSection) bool {
		if s.pending.Load() > 0 && !final {
			return false
		}
		if s.worked {
			r.put(Event{Kind: Section, OnDevice: true, Label: s.label, Track: s.track, Start: s.first, Duration: s.last - s.first,
				Stack: s.op.stack, Op: s.op.id, Section: s.parent.name()})
		}
		return true
	})
}

// Flush passes what has ended to the sinks of the recorder, if there is one.
func Flush() {
	if r := active.Load(); r != nil {
		r.Flush()
	}
}
