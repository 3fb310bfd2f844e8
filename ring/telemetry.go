package ring

import (
	"sync/atomic"
	"time"

	"quern.dev/ring/internal/mail"
	"quern.dev/ring/internal/measure"
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
