package trace

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"quern.dev/internal/cupti"
)

// Bounds of a recorder.
const (
	opRoom    = 1 << 16 // operations that device records are related to
	eventRoom = 1 << 16 // events between two rounds
	eventWake = 1 << 12 // events that begin a round: no more than the processor's cache holds
	marksRoom = 1 << 16 // driver calls with a known operation
	lateRoom  = 1 << 14 // device records that wait for their mark
	mostOpen  = 1 << 12 // sections that wait for their work

	mostNested = 1 << 10 // sections of a stream that have not ended

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

var (
	active atomic.Pointer[Recorder]
	ids    atomic.Uint64 // of operations and allocations of all recorders
)

// Active returns the recorder, or nil if nothing is being recorded.
func Active() *Recorder { return active.Load() }

// Recorder records operations. It is safe for concurrent use.
type Recorder struct {
	inspects atomic.Bool
	recent   [hostSlots]atomic.Pointer[hostTrack]
	sampler  sampler

	cuda    sync.Once // starts the session
	session atomic.Pointer[cupti.Session]
	note    atomic.Pointer[string]

	mu       sync.Mutex // guards the fields below
	ops      []begun    // by number, modulo opRoom
	events   []Event
	lost     uint64
	sections []*OpenSection // that have ended and wait for their device work
	hosts    map[uintptr]*hostTrack

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

var starting sync.Mutex // guards the beginning and the end of recorders

// Start passes events to sink until stop is called. stop passes what has ended until then.
func Start(sink Sink) (stop func() error) {
	starting.Lock()
	defer starting.Unlock()
	r := active.Load()
	if r == nil {
		r = &Recorder{
			ops: make([]begun, opRoom), events: make([]Event, 0, eventRoom), spare: make([]Event, 0, eventRoom),
			hosts: map[uintptr]*hostTrack{}, threads: map[uint32]*Track{}, foreign: map[[2]uint32]*Track{}, kernels: map[string]*Label{},
			calls: make([]call, marksRoom),
			wake:  make(chan struct{}, 1), done: make(chan struct{}), quit: make(chan struct{}),
		}
		r.sinks = []Sink{sink}
		r.inspect()
		r.sampler.looked = Now()
		active.Store(r)
		go r.run()
	} else {
		r.round.Lock()
		r.pass(false)
		r.sinks = append(slices.Clone(r.sinks), sink)
		r.inspect()
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
		r.inspect()
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

// inspect notes whether a sink inspects copies. The caller holds r.round, or is alone.
func (r *Recorder) inspect() {
	r.inspects.Store(slices.ContainsFunc(r.sinks, func(s Sink) bool { _, ok := s.(Inspector); return ok }))
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
		r.adapt()
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

// add adds an event.
func (r *Recorder) add(e Event) {
	r.mu.Lock()
	r.put(e)
	r.mu.Unlock()
}

// put adds an event, if there is room. The caller holds r.mu.
func (r *Recorder) put(e Event) {
	if len(r.events) == cap(r.events) {
		r.lost++
		return
	}
	r.events = append(r.events, e)
	if len(r.events)%eventWake == 0 {
		r.hurry()
	}
}

// hurry begins a round early.
func (r *Recorder) hurry() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Flush passes what has ended to the sinks of the recorder, if there is one.
func Flush() {
	if r := active.Load(); r != nil {
		r.Flush()
	}
}
