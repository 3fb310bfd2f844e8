package ring

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"quern.dev/internal/prometheus"
	"quern.dev/ring/internal/mail"
	"quern.dev/ring/internal/measure"
	"quern.dev/ring/internal/trace"
)

// Info is the status of an actor. Every message that its mailbox has accepted, from
// the program or from actors on the device, is in exactly one of the other counts:
//
//	Accepted = Queued + Handled + Failed + Expired + Dropped
//
// While a handler does not return, its message is Queued. When it returns, or the
// actor ends, the message becomes Handled, Failed or Dropped like any other. Each
// message that failed, expired or was dropped becomes one dead letter, at once or
// when the runtime notices it; a message of Ask becomes one when its caller gets the
// error. The exception is a message from one actor on the device to another that
// expired: it is only counted.
type Info struct {
	Name  string
	State State
	Err   error // why the actor has failed

	Accepted uint64 // messages that the mailbox has accepted
	Queued   uint64 // not handled yet, or being handled
	Handled  uint64 // by its handler
	Failed   uint64 // its handler failed on them
	Expired  uint64 // the deadline passed first
	Dropped  uint64 // dropped for others, or because the actor has ended

	DeadLetters uint64 // made of messages that failed, expired or were dropped; see above
	Rejected    uint64 // messages that were not accepted because the mailbox was full
	// Refused counts calls of actor.Send whose message was not accepted, also because the
	// actor has ended. Senders know, retries count again, and there is no dead letter.
	// After the end of an actor, each actor that has sent to it before may get one more
	// message accepted, which counts as dropped. An actor may get the mailbox of one that
	// has ended, and then counts the calls for it.
	Refused  uint64
	Restarts uint64 // after failures

	// Rate is the number of messages per second that were settled, over the last one
	// or two seconds, or since the previous call of Info if that is longer ago.
	Rate float64

	// Waiting is how long messages were with the actor before the handler began, and
	// Handler how long the handler took, for messages whose replies were taken. On a
	// GPU both are measured by its clock, and Waiting begins when the actor has fetched
	// the message. Elsewhere Waiting begins when the message is accepted, and is
	// measured for every 64th message. The clock of the simulator counts instructions,
	// so times within a run are in instructions.
	Waiting, Handler Durations
	// RoundTrip is how long callers of Ask waited for a reply, for every 16th message
	// of the actor: reading the host's clock costs more than the rest of the
	// accounting.
	RoundTrip Durations
}

// Durations describe a distribution. Percentiles are at most an eighth too large. Sum
// and Max are exact.
type Durations struct {
	Count              uint64
	Sum                time.Duration
	P50, P95, P99, Max time.Duration
}

// Every tripEvery-th round trip is measured.
const tripEvery = 16

// meter contains the measurements of an actor. It is safe for concurrent use.
type meter struct {
	perCycle uint64 // nanoseconds per cycle of the device's clock, times 1<<cycleBits

	failed, expired, dropped atomic.Uint64
	deadLetters, rejected    atomic.Uint64
	failures, restarts       atomic.Uint64
	handler, waiting, trip   measure.Histogram
	posted                   atomic.Pointer[posted]
	rate                     measure.Rate
}

const cycleBits = 20

// start begins the accounting. perCycle is in nanoseconds.
func (m *meter) start(perCycle float64) {
	m.perCycle = uint64(perCycle * (1 << cycleBits))
	m.rate.Start(time.Now())
}

// nanoseconds converts cycles of the device's clock.
func (m *meter) nanoseconds(cycles uint32) uint32 {
	return uint32(min(uint64(cycles)*m.perCycle>>cycleBits, 1<<32-1))
}

// handled records how long the handler took for a message, and how long the message
// waited.
func (m *meter) handled(r result) {
	m.handler.Add(m.nanoseconds(r.Cycles))
	if r.timed {
		m.waiting.Add(m.nanoseconds(r.Waited))
	}
}

// begin is called before a caller waits for a reply, and answered, with the result of
// begin, after that.
func (m *meter) begin(ticket uint64) time.Time {
	if !measuresTrip(ticket) {
		return time.Time{}
	}
	return time.Now()
}

// measuresTrip reports whether the round trip of a message is measured.
func measuresTrip(ticket uint64) bool { return ticket%tripEvery == 0 }

func (m *meter) answered(begin time.Time) {
	if !begin.IsZero() {
		m.trip.Add(uint32(min(time.Since(begin), 1<<32-1)))
	}
}

// tally is [meter.handled] for many messages. Consecutive messages with similar
// durations cost one access to the counts.
type tally struct{ handler, waiting measure.Streak }

func (t *tally) add(m *meter, r result) {
	t.handler.Add(&m.handler, m.nanoseconds(r.Cycles))
	if r.timed {
		t.waiting.Add(&m.waiting, m.nanoseconds(r.Waited))
	}
}

// flush adds what is pending to the counts.
func (t *tally) flush(m *meter) {
	t.handler.Flush(&m.handler)
	t.waiting.Flush(&m.waiting)
}

func (c *core) info() Info {
	c.sweep()
	m := &c.meter
	i := Info{Name: c.name, State: c.current(), Err: c.cause(),
		Failed: m.failed.Load(), Expired: m.expired.Load(), Dropped: m.dropped.Load(),
		DeadLetters: m.deadLetters.Load(), Rejected: m.rejected.Load(), Restarts: m.restarts.Load(),
		Waiting: Durations(m.waiting.Summary()), Handler: Durations(m.handler.Summary()), RoundTrip: Durations(m.trip.Summary())}
	// After the counts above, so that it includes the messages in them.
	i.Accepted, i.Queued = c.traffic()
	posted := c.posted()
	i.Accepted += posted.taken
	i.Refused = posted.refused
	i.Expired += posted.expired
	if i.State == Terminated {
		i.Dropped += posted.waiting
	} else {
		i.Queued += posted.waiting
	}
	done := i.Accepted - i.Queued
	i.Handled = done - min(done, i.Failed+i.Expired+i.Dropped)
	i.Rate = m.rate.At(time.Now(), done)
	return i
}

// posted contains the counts of an actor's mailbox for messages from actors on the
// device. Messages to a host actor are counted with those of the program, except for
// refused ones.
type posted struct {
	taken, waiting, refused, expired uint64
	last                             bool // the mailbox has been reused or removed
}

// posted returns the counts. On a GPU that takes a copy, which is skipped if no actor
// can have a Ref to another.
func (c *core) posted() posted {
	if h, ok := c.server.(*hostActor); ok {
		if b := h.inbox.Load(); b != nil {
			return posted{refused: b.refused.read(c.rt.post)}
		}
		return posted{}
	}
	if c.box.Number == 0 || !c.rt.referred.Load() {
		return posted{}
	}
	before := c.meter.posted.Load()
	if before != nil && before.last {
		return *before
	}
	var w [mail.BoxWords]uint64
	if c.rt.post.Read(c.box.At(), w[:]) == nil {
		// The words may be from different times.
		waiting := max(int32(uint32(w[mail.BoxTail])-uint32(w[mail.BoxHead])), 0)
		c.meter.posted.CompareAndSwap(before, &posted{taken: w[mail.BoxTail] - c.box.First, waiting: uint64(waiting), refused: w[mail.BoxRefused], expired: w[mail.BoxExpired]})
	}
	if last := c.meter.posted.Load(); last != nil {
		return *last
	}
	return posted{}
}

// Stats is the status of a runtime. Its counts are the sums over its actors,
// including those that have ended; see [Info] for their meaning.
type Stats struct {
	Actors map[State]int // number of actors by state

	Accepted, Queued, Handled, Failed, Expired, Dropped uint64
	DeadLetters, Rejected, Refused, Restarts            uint64

	Rate float64 // messages per second

	// Launches is the number of launches of resident loops. Launches are restarted
	// when actors come and go, and around operations that need an idle GPU; Pauses
	// are the latter, by cause.
	Launches uint64
	Pauses   []Pause
}

// Pause counts and times the pauses of resident actors with one cause.
type Pause struct {
	Cause    string // "free", "load module", ...
	Duration Durations

	// The parts of a pause, in order.
	Leaving   Durations // until the loops had reported that they leave
	Ending    Durations // until their launches had ended, as far as the host knew
	Away      Durations // the operation that needed the pause
	Beginning Durations // until all launches had begun again
}

// Stats returns the current status of the runtime.
func (rt *Runtime) Stats() Stats {
	if !rt.made() {
		return Stats{Actors: map[State]int{}}
	}
	rt.recountInboxes()
	s := rt.departed.load()
	s.Actors = map[State]int{}
	for i := range rt.Actors() {
		s.add(i)
		s.Actors[i.State]++
		s.Rate += i.Rate
	}
	s.Launches, s.Pauses = rt.launches.Load(), rt.pauses.load()
	return s
}

// pausing contains the times of a pause. left is zero if some loop did not leave.
type pausing struct{ asked, left, ended, back, begun time.Time }

// paused records a pause of resident actors.
func (rt *Runtime) paused(cause string, p *pausing) {
	rt.pauses.add(cause, p)
	rt.traces.Span(pauseTrack, cause, p.asked, 0)
}

// counts returns the counts of an actor, in the order of Stats.counts.
func (i *Info) counts() [10]*uint64 {
	return [...]*uint64{&i.Accepted, &i.Queued, &i.Handled, &i.Failed, &i.Expired, &i.Dropped, &i.DeadLetters, &i.Rejected, &i.Refused, &i.Restarts}
}

func (s *Stats) counts() [10]*uint64 {
	return [...]*uint64{&s.Accepted, &s.Queued, &s.Handled, &s.Failed, &s.Expired, &s.Dropped, &s.DeadLetters, &s.Rejected, &s.Refused, &s.Restarts}
}

// add adds the counts of an actor.
func (s *Stats) add(i Info) {
	of := i.counts()
	for k, n := range s.counts() {
		*n += *of[k]
	}
}

// less returns the counts of i minus those of other.
func (i Info) less(other Info) Info {
	of := other.counts()
	for k, n := range i.counts() {
		*n -= *of[k]
	}
	return i
}

// depart adds the counts of an actor that ends to the sums of ended actors.
func (c *core) depart() {
	c.departed.Store(true)
	if h, ok := c.server.(*hostActor); ok {
		h.depart()
	}
	c.recount()
}

// recount adds what an ended actor has counted since depart to the sums. Whoever counts
// without the queue's lock calls it afterwards, because the actor may end meanwhile.
func (c *core) recount() {
	if !c.departed.Load() {
		return // depart counts it
	}
	c.departure.Lock()
	defer c.departure.Unlock()
	i := c.info()
	if h, ok := c.server.(*hostActor); ok && h.inbox.Load() != nil {
		i.Refused = 0 // see refusals
	}
	c.rt.departed.add(i.less(c.counted))
	c.counted = i
}

// departed is the sum of the counts of ended actors.
type departed struct {
	mu    sync.Mutex
	stats Stats
}

func (d *departed) add(i Info) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stats.add(i)
}

func (d *departed) load() Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stats
}

// pauses counts the pauses of resident actors by cause.
type pauses struct {
	mu sync.Mutex
	by map[string]*pause
}

func (p *pauses) add(cause string, at *pausing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by == nil {
		p.by = map[string]*pause{}
	}
	of := p.by[cause]
	if of == nil {
		of = &pause{cause: cause}
		p.by[cause] = of
	}
	if at.left.IsZero() {
		at.left = at.ended
	}
	of.whole.Time(at.asked, at.begun)
	of.leaving.Time(at.asked, at.left)
	of.ending.Time(at.left, at.ended)
	of.away.Time(at.ended, at.back)
	of.beginning.Time(at.back, at.begun)
}

// pause contains the pauses with one cause.
type pause struct {
	cause                                   string
	whole, leaving, ending, away, beginning measure.Histogram
}

// all returns the pauses by cause.
func (p *pauses) all() []*pause {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []*pause
	for _, cause := range slices.Sorted(maps.Keys(p.by)) {
		list = append(list, p.by[cause])
	}
	return list
}

// load returns the number and duration of the pauses.
func (p *pauses) load() []Pause {
	var list []Pause
	for _, v := range p.all() {
		list = append(list, Pause{v.cause, Durations(v.whole.Summary()), Durations(v.leaving.Summary()), Durations(v.ending.Summary()), Durations(v.away.Summary()), Durations(v.beginning.Summary())})
	}
	return list
}

// WritePrometheus writes the metrics of the runtime and its actors in the text format
// of Prometheus, version 0.0.4. See the function [WritePrometheus].
func (rt *Runtime) WritePrometheus(w io.Writer) error { return WritePrometheus(w, rt) }

// WritePrometheus writes the metrics of runtimes in the text format of Prometheus,
// version 0.0.4. It skips nil runtimes. All series have the labels device and runtime,
// which is [Runtime.Number]; series of an actor also have the label actor. The counts
// of ended actors are in series without that label, so that sums never decrease. [Info]
// and [Stats] define the numbers. Durations are histograms in seconds. Their bounds are
// powers of two of nanoseconds on every device.
func WritePrometheus(w io.Writer, runtimes ...*Runtime) error {
	if w == nil {
		return invalid("write metrics: the writer is nil")
	}
	var list []exposed
	for i, rt := range runtimes {
		if !rt.made() || slices.Contains(runtimes[:i], rt) {
			continue // a series must not appear twice
		}
		rt.recountInboxes()
		e := exposed{labels: []prometheus.Label{label("device", rt.dev.ID()), label("runtime", strconv.FormatUint(rt.number, 10))}, gone: rt.departed.load(), launches: rt.launches.Load(), pauses: rt.pauses.all(),
			letters: rt.DeadLetters().Len(), lost: rt.DeadLetters().Overflow()}
		for _, c := range rt.living() {
			e.actors = append(e.actors, exposedActor{c.info(), &c.meter})
		}
		list = append(list, e)
	}
	p := prometheus.NewWriter(w)
	for _, f := range families {
		p.Family(f.name, f.kind, f.help)
		for i := range list {
			f.write(p, f.name, &list[i])
		}
	}
	return p.Flush()
}

// exposed contains the metrics of a runtime.
type exposed struct {
	labels   []prometheus.Label // common to all series
	actors   []exposedActor
	gone     Stats
	launches uint64
	pauses   []*pause
	letters  int
	lost     uint64
}

// with returns the common labels and the given ones.
func (e *exposed) with(more ...prometheus.Label) []prometheus.Label {
	return append(e.labels[:len(e.labels):len(e.labels)], more...)
}

func label(name, value string) prometheus.Label { return prometheus.Label{Name: name, Value: value} }

type exposedActor struct {
	Info
	meter *meter
}

// family is a metric with all its series.
type family struct {
	name, kind, help string
	write            func(p *prometheus.Writer, name string, e *exposed)
}

var families = []family{
	{"quern_ring_actors", "gauge", "Actors by state.", writeStates},
	{"quern_ring_actor_state", "gauge", "1 for the state that the actor is in.", func(p *prometheus.Writer, name string, e *exposed) {
		for _, a := range e.actors {
			p.Sample(name, 1, e.with(label("actor", a.Name), label("state", a.State.String()))...)
		}
	}},
	{"quern_ring_accepted_messages_total", "counter", "Messages that mailboxes have accepted.",
		count(func(i Info) uint64 { return i.Accepted }, func(s Stats) uint64 { return s.Accepted })},
	{"quern_ring_queued_messages", "gauge", "Messages that are not handled yet, or being handled.", func(p *prometheus.Writer, name string, e *exposed) {
		for _, a := range e.actors {
			p.Sample(name, float64(a.Queued), e.with(label("actor", a.Name))...)
		}
	}},
	{"quern_ring_messages_total", "counter", "Settled messages by outcome.", writeOutcomes},
	{"quern_ring_dead_letters_total", "counter", "Dead letters made of messages that failed, expired or were dropped.",
		count(func(i Info) uint64 { return i.DeadLetters }, func(s Stats) uint64 { return s.DeadLetters })},
	{"quern_ring_dead_letters", "gauge", "Dead letters that are kept.", func(p *prometheus.Writer, name string, e *exposed) {
		p.Sample(name, float64(e.letters), e.labels...)
	}},
	{"quern_ring_lost_dead_letters_total", "counter", "Dead letters that were discarded because newer ones came before they were taken.", func(p *prometheus.Writer, name string, e *exposed) {
		p.Sample(name, float64(e.lost), e.labels...)
	}},
	{"quern_ring_rejected_messages_total", "counter", "Messages that were not accepted because the mailbox was full.",
		count(func(i Info) uint64 { return i.Rejected }, func(s Stats) uint64 { return s.Rejected })},
	{"quern_ring_refused_sends_total", "counter", "Calls of actor.Send whose message was not accepted.",
		count(func(i Info) uint64 { return i.Refused }, func(s Stats) uint64 { return s.Refused })},
	{"quern_ring_restarts_total", "counter", "Restarts after failures.",
		count(func(i Info) uint64 { return i.Restarts }, func(s Stats) uint64 { return s.Restarts })},
	{"quern_ring_waiting_seconds", "histogram", "Time from when the actor had a message until its handler began; a sample if actors are not resident.",
		spread(func(m *meter) *measure.Histogram { return &m.waiting })},
	{"quern_ring_handler_seconds", "histogram", "Time that the handler took for a message, by the clock of the device.",
		spread(func(m *meter) *measure.Histogram { return &m.handler })},
	{"quern_ring_round_trip_seconds", "histogram", "Time that callers of Ask waited for replies; a sample.",
		spread(func(m *meter) *measure.Histogram { return &m.trip })},
	{"quern_ring_launches_total", "counter", "Launches of resident loops.", func(p *prometheus.Writer, name string, e *exposed) {
		p.Sample(name, float64(e.launches), e.labels...)
	}},
	{"quern_ring_pause_seconds", "histogram", "Time that resident actors paused for operations that need an idle device.", func(p *prometheus.Writer, name string, e *exposed) {
		for _, v := range e.pauses {
			writeHistogram(p, name, &v.whole, e.with(label("cause", v.cause))...)
		}
	}},
}

func writeStates(p *prometheus.Writer, name string, e *exposed) {
	for s := range stateNames {
		n := 0
		for _, a := range e.actors {
			if a.State == State(s) {
				n++
			}
		}
		p.Sample(name, float64(n), e.with(label("state", stateNames[s]))...)
	}
}

func writeOutcomes(p *prometheus.Writer, name string, e *exposed) {
	outcomes := func(labels []prometheus.Label, handled, failed, expired, dropped uint64) {
		for _, o := range []struct {
			name string
			n    uint64
		}{{"handled", handled}, {"failed", failed}, {"expired", expired}, {"dropped", dropped}} {
			p.Sample(name, float64(o.n), append(labels[:len(labels):len(labels)], label("outcome", o.name))...)
		}
	}
	for _, a := range e.actors {
		outcomes(e.with(label("actor", a.Name)), a.Handled, a.Failed, a.Expired, a.Dropped)
	}
	g := e.gone
	outcomes(e.labels, g.Handled, g.Failed, g.Expired, g.Dropped)
}

// count returns a function that writes a count of each actor, and of ended actors.
func count(of func(Info) uint64, gone func(Stats) uint64) func(*prometheus.Writer, string, *exposed) {
	return func(p *prometheus.Writer, name string, e *exposed) {
		for _, a := range e.actors {
			p.Sample(name, float64(of(a.Info)), e.with(label("actor", a.Name))...)
		}
		p.Sample(name, float64(gone(e.gone)), e.labels...)
	}
}

// spread returns a function that writes a histogram of each actor.
func spread(of func(*meter) *measure.Histogram) func(*prometheus.Writer, string, *exposed) {
	return func(p *prometheus.Writer, name string, e *exposed) {
		for _, a := range e.actors {
			writeHistogram(p, name, of(a.meter), e.with(label("actor", a.Name))...)
		}
	}
}

// Trace is a recording of events in a runtime: changes of actors' states, failures,
// batches of messages, launches of resident loops and their pauses.
// [Runtime.StartTrace] makes it. It is written as Chrome's trace-event JSON, which
// ui.perfetto.dev and chrome://tracing show as a timeline. It is safe for concurrent
// use.
type Trace struct {
	rt        *Runtime
	recording *trace.Recording
}

// Limits of the number of events in a trace.
const (
	DefaultTraceEvents = 1 << 16
	MaxTraceEvents     = 1 << 24
)

// pauseTrack is the track of pauses.
const pauseTrack = "pauses"

// StartTrace records events until [Trace.Stop]. The trace keeps the latest events, up
// to the given number, of about 100 bytes each; 0 means DefaultTraceEvents. A runtime
// records one trace at a time. If the runtime is closed, the error matches
// [ErrClosed]. Without a recording, tracing costs almost nothing.
func (rt *Runtime) StartTrace(events int) (*Trace, error) {
	if err := rt.usable("start a trace"); err != nil {
		return nil, err
	}
	if events == 0 {
		events = DefaultTraceEvents
	}
	if events < 1 || events > MaxTraceEvents {
		return nil, invalid("trace of %d events; want 1 to %d", events, MaxTraceEvents)
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

// Lost returns the number of events that were discarded to keep later ones.
func (t *Trace) Lost() uint64 {
	if !t.usable() {
		return 0
	}
	return t.recording.Lost()
}

// traceLaunch records a resident launch that has ended. The cohort has a track named
// after its first actor.
func (c *resident) traceLaunch() {
	if c.rt.traces.On() && len(c.actors) > 0 {
		c.rt.traces.Span("launches with "+c.actors[0].name, c.program.Name, c.began, len(c.actors))
	}
}

// WriteTo writes the events recorded so far, by time for each actor. It implements
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
