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

	"quern.dev/ring/internal/mail"
	"quern.dev/ring/internal/measure"
	"quern.dev/ring/internal/prometheus"
	"quern.dev/ring/internal/trace"
)

// Info is what is known of an actor at a time. Every message that its mailbox has
// taken, from the program or from actors on the device, is in one of the counts that
// follow it:
//
//	Accepted = Queued + Handled + Failed + Expired + Dropped
//
// The message of a handler that does not return is Queued until it does, or the actor
// has ended: then it is Handled, Failed or Dropped as any other. Each message that
// failed, expired or was dropped becomes one dead letter, at once or when somebody
// looks; one that was asked for when its caller gets the error.
type Info struct {
	Name  string
	State State
	Err   error // why it has failed

	Accepted uint64 // messages that its mailbox has taken
	Queued   uint64 // not handled yet, or at the moment
	Handled  uint64 // by its handler
	Failed   uint64 // its handler failed on them
	Expired  uint64 // their deadline passed first
	Dropped  uint64 // given up for others, or because the actor has ended

	DeadLetters uint64 // made of messages that failed, expired or were dropped
	Rejected    uint64 // messages that were not accepted, since the mailbox was full
	Refused     uint64 // calls of actor.Send that were not, also since the actor has ended: their senders know, and a message that is tried again counts again; no dead letter is made
	Restarts    uint64 // after failures

	// Rate is the number of messages a second that were done with, over the last
	// second or two, or since somebody looked last if that is longer ago.
	Rate float64

	// Waiting is how long messages were with the actor before the handler began,
	// Handler how long it took, for the messages whose replies were taken. On a GPU
	// both are by its clock, and Waiting begins when the actor has fetched the message.
	// Elsewhere Waiting begins when the message is accepted, and is measured of every
	// 64th. The simulator's clock counts instructions: what passes within a run is in
	// these.
	Waiting, Handler Durations
	// RoundTrip is how long callers of Ask waited for a reply, for every 16th
	// message of the actor: reading the host's clock costs more than the rest of the
	// accounting.
	RoundTrip Durations
}

// Durations describe a distribution. Percentiles are too large by an eighth at
// most; Sum and Max are exact.
type Durations struct {
	Count              uint64
	Sum                time.Duration
	P50, P95, P99, Max time.Duration
}

// tripEvery is the share of messages whose round trip is measured.
const tripEvery = 16

// meter is what is counted of an actor. It is safe for concurrent use.
type meter struct {
	perCycle uint64 // nanoseconds of a cycle of the device's clock, in parts of 1<<cycleBits

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

// nanoseconds of cycles of the device's clock.
func (m *meter) nanoseconds(cycles uint32) uint32 {
	return uint32(min(uint64(cycles)*m.perCycle>>cycleBits, 1<<32-1))
}

// handled notes how long the handler took for a message, and how long the message
// waited.
func (m *meter) handled(r result) {
	m.handler.Add(m.nanoseconds(r.Cycles))
	if r.timed {
		m.waiting.Add(m.nanoseconds(r.Waited))
	}
}

// begin is called before a caller waits for the reply to a message, answered
// with its result after that.
func (m *meter) begin(ticket uint64) time.Time {
	if ticket%tripEvery != 0 {
		return time.Time{}
	}
	return time.Now()
}

func (m *meter) answered(begin time.Time) {
	if !begin.IsZero() {
		m.trip.Add(uint32(min(time.Since(begin), 1<<32-1)))
	}
}

// tally is [meter.handled] for many messages, of which most have similar
// durations: those that follow each other cost one access to the counts.
type tally struct{ handler, waiting measure.Streak }

func (t *tally) add(m *meter, r result) {
	t.handler.Add(&m.handler, m.nanoseconds(r.Cycles))
	if r.timed {
		t.waiting.Add(&m.waiting, m.nanoseconds(r.Waited))
	}
}

// flush counts what add has kept back.
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
	// After the counts above, so that what they have counted is among these.
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

// posted is what an actor's mailbox for messages from actors on the device counts. A
// host actor's are counted with those of the program, but for those that were refused.
type posted struct {
	taken, waiting, refused, expired uint64
	last                             bool // the mailbox is another actor's now, or gone
}

// posted returns the counts. On a GPU that is a copy, which is left out where no
// actor can know another one.
func (c *core) posted() posted {
	box, h := c.box, (*hostActor)(nil)
	if h, _ = c.server.(*hostActor); h != nil {
		if b := h.inbox.Load(); b != nil {
			box = b.box
		}
	}
	if box.Number == 0 || !c.rt.referred.Load() {
		return posted{}
	}
	before := c.meter.posted.Load()
	if before != nil && before.last {
		return *before
	}
	var w [mail.BoxWords]uint64
	switch err := c.rt.post.Read(box.At(), w[:]); {
	case err != nil:
	case h != nil:
		c.meter.posted.Store(&posted{refused: w[mail.BoxRefused]})
	default:
		// The words may be of different times.
		waiting := max(int32(uint32(w[mail.BoxTail])-uint32(w[mail.BoxHead])), 0)
		c.meter.posted.CompareAndSwap(before, &posted{taken: w[mail.BoxTail] - c.box.First, waiting: uint64(waiting), refused: w[mail.BoxRefused], expired: w[mail.BoxExpired]})
	}
	if last := c.meter.posted.Load(); last != nil {
		return *last
	}
	return posted{}
}

// Stats is what is known of a runtime at a time. Its counts are the sums of those
// of its actors, also of those that are gone; [Info] says what they mean.
type Stats struct {
	Actors map[State]int // number by state

	Accepted, Queued, Handled, Failed, Expired, Dropped uint64
	DeadLetters, Rejected, Refused, Restarts            uint64

	Rate float64 // messages a second

	// Launches counts those of resident loops. They end and begin anew when actors
	// come and go, and around what waits for an idle GPU: that are Pauses, by cause.
	Launches uint64
	Pauses   []Pause
}

// Pause is how often and how long resident actors made way for something.
type Pause struct {
	Cause    string // "free", "load module", ...
	Duration Durations

	// Its parts, one after another.
	Leaving   Durations // until the loops had said that they leave
	Ending    Durations // until their launches had ended, as far as the host knew
	Away      Durations // what they made way for
	Beginning Durations // until all launches were made anew
}

// Stats returns what is known of the runtime.
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

// pausing is the times of a pause. left is zero if some loop did not leave.
type pausing struct{ asked, left, ended, back, begun time.Time }

// paused notes that resident actors have made way for something.
func (rt *Runtime) paused(cause string, p *pausing) {
	rt.pauses.add(cause, p)
	rt.traces.Span(pauseTrack, cause, p.asked, 0)
}

// counts are the counts of an actor, in the order of Stats.counts.
func (i *Info) counts() [10]*uint64 {
	return [...]*uint64{&i.Accepted, &i.Queued, &i.Handled, &i.Failed, &i.Expired, &i.Dropped, &i.DeadLetters, &i.Rejected, &i.Refused, &i.Restarts}
}

func (s *Stats) counts() [10]*uint64 {
	return [...]*uint64{&s.Accepted, &s.Queued, &s.Handled, &s.Failed, &s.Expired, &s.Dropped, &s.DeadLetters, &s.Rejected, &s.Refused, &s.Restarts}
}

// add adds what an actor has counted.
func (s *Stats) add(i Info) {
	of := i.counts()
	for k, n := range s.counts() {
		*n += *of[k]
	}
}

// less returns what was counted between other and i.
func (i Info) less(other Info) Info {
	of := other.counts()
	for k, n := range i.counts() {
		*n -= *of[k]
	}
	return i
}

// depart adds what an actor that ends has counted to the sums of those that are gone.
func (c *core) depart() {
	c.departure.Lock()
	c.departed = true
	c.departure.Unlock()
	if h, ok := c.server.(*hostActor); ok {
		h.depart()
	}
	c.recount()
}

// recount adds to the sums what an actor that is gone has counted since it was added.
func (c *core) recount() {
	c.departure.Lock()
	defer c.departure.Unlock()
	if c.departed {
		i := c.info()
		if h, ok := c.server.(*hostActor); ok && h.inbox.Load() != nil {
			i.Refused = 0 // see refusals
		}
		c.rt.departed.add(i.less(c.counted))
		c.counted = i
	}
}

// departed adds up what actors had counted that a runtime knows no more.
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

// pauses counts the pauses of resident actors, by their cause.
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

// pause is the pauses of one cause.
type pause struct {
	cause                                   string
	whole, leaving, ending, away, beginning measure.Histogram
}

// all returns the pauses, by their cause.
func (p *pauses) all() []*pause {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []*pause
	for _, cause := range slices.Sorted(maps.Keys(p.by)) {
		list = append(list, p.by[cause])
	}
	return list
}

// load returns how often and how long they were.
func (p *pauses) load() []Pause {
	var list []Pause
	for _, v := range p.all() {
		list = append(list, Pause{v.cause, Durations(v.whole.Summary()), Durations(v.leaving.Summary()), Durations(v.ending.Summary()), Durations(v.away.Summary()), Durations(v.beginning.Summary())})
	}
	return list
}

// WritePrometheus writes what is known of the runtime and its actors in the text
// format of Prometheus, version 0.0.4. See [WritePrometheus].
func (rt *Runtime) WritePrometheus(w io.Writer) error { return WritePrometheus(w, rt) }

// WritePrometheus writes what is known of runtimes in the text format of
// Prometheus, version 0.0.4. Runtimes that are nil are left out. All series have the
// labels device and runtime, which is [Runtime.Number], and those of an actor the label
// actor; what actors have counted
// that are gone is in series without it, so that sums never fall. [Info] and [Stats]
// say what the numbers mean. Durations
// are histograms in seconds, whose bounds are powers of two of nanoseconds on every
// device.
func WritePrometheus(w io.Writer, runtimes ...*Runtime) error {
	if w == nil {
		return invalid("write metrics: the writer is nil")
	}
	var list []exposed
	for i, rt := range runtimes {
		if !rt.made() || slices.Contains(runtimes[:i], rt) {
			continue // no series may come twice
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

// exposed is what is known of a runtime.
type exposed struct {
	labels   []prometheus.Label // of all series
	actors   []exposedActor
	gone     Stats
	launches uint64
	pauses   []*pause
	letters  int
	lost     uint64
}

// with returns the labels of all series and more.
func (e *exposed) with(more ...prometheus.Label) []prometheus.Label {
	return append(e.labels[:len(e.labels):len(e.labels)], more...)
}

func label(name, value string) prometheus.Label { return prometheus.Label{Name: name, Value: value} }

type exposedActor struct {
	Info
	meter *meter
}

// family is the series with a name.
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
	{"quern_ring_accepted_messages_total", "counter", "Messages that mailboxes have taken.",
		count(func(i Info) uint64 { return i.Accepted }, func(s Stats) uint64 { return s.Accepted })},
	{"quern_ring_queued_messages", "gauge", "Messages that are not handled yet, or at the moment.", func(p *prometheus.Writer, name string, e *exposed) {
		for _, a := range e.actors {
			p.Sample(name, float64(a.Queued), e.with(label("actor", a.Name))...)
		}
	}},
	{"quern_ring_messages_total", "counter", "Messages that are done with, by what became of them.", writeOutcomes},
	{"quern_ring_dead_letters_total", "counter", "Dead letters made of messages that failed, expired or were dropped.",
		count(func(i Info) uint64 { return i.DeadLetters }, func(s Stats) uint64 { return s.DeadLetters })},
	{"quern_ring_dead_letters", "gauge", "Dead letters that are kept, to be taken.", func(p *prometheus.Writer, name string, e *exposed) {
		p.Sample(name, float64(e.letters), e.labels...)
	}},
	{"quern_ring_lost_dead_letters_total", "counter", "Dead letters that were not kept, since newer ones came before anybody had taken them.", func(p *prometheus.Writer, name string, e *exposed) {
		p.Sample(name, float64(e.lost), e.labels...)
	}},
	{"quern_ring_rejected_messages_total", "counter", "Messages that were not accepted, since the mailbox was full.",
		count(func(i Info) uint64 { return i.Rejected }, func(s Stats) uint64 { return s.Rejected })},
	{"quern_ring_refused_sends_total", "counter", "Calls of actor.Send whose message was not accepted.",
		count(func(i Info) uint64 { return i.Refused }, func(s Stats) uint64 { return s.Refused })},
	{"quern_ring_restarts_total", "counter", "Restarts after failures.",
		count(func(i Info) uint64 { return i.Restarts }, func(s Stats) uint64 { return s.Restarts })},
	{"quern_ring_waiting_seconds", "histogram", "Time from when the actor had a message until its handler began; where actors are not resident, of a sample of the messages.",
		spread(func(m *meter) *measure.Histogram { return &m.waiting })},
	{"quern_ring_handler_seconds", "histogram", "Time that the handler took for a message, by the clock of the device.",
		spread(func(m *meter) *measure.Histogram { return &m.handler })},
	{"quern_ring_round_trip_seconds", "histogram", "Time that callers of Ask waited for replies; a sample of them.",
		spread(func(m *meter) *measure.Histogram { return &m.trip })},
	{"quern_ring_launches_total", "counter", "Launches of resident loops.", func(p *prometheus.Writer, name string, e *exposed) {
		p.Sample(name, float64(e.launches), e.labels...)
	}},
	{"quern_ring_pause_seconds", "histogram", "Time that resident actors made way for what waits for an idle device.", func(p *prometheus.Writer, name string, e *exposed) {
		for _, v := range e.pauses {
			p.Histogram(name, &v.whole, e.with(label("cause", v.cause))...)
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

// count writes a count of each actor, and of those that are gone.
func count(of func(Info) uint64, gone func(Stats) uint64) func(*prometheus.Writer, string, *exposed) {
	return func(p *prometheus.Writer, name string, e *exposed) {
		for _, a := range e.actors {
			p.Sample(name, float64(of(a.Info)), e.with(label("actor", a.Name))...)
		}
		p.Sample(name, float64(gone(e.gone)), e.labels...)
	}
}

// spread writes a histogram of each actor.
func spread(of func(*meter) *measure.Histogram) func(*prometheus.Writer, string, *exposed) {
	return func(p *prometheus.Writer, name string, e *exposed) {
		for _, a := range e.actors {
			p.Histogram(name, of(a.meter), e.with(label("actor", a.Name))...)
		}
	}
}

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
