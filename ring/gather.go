package ring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"quern.dev/ring/internal/backoff"
)

// Gather asks several actors at the same time: message i goes to actor i, and result i
// is its reply. The slices must have the same length. An actor that is in the list
// several times gets its messages in their order. The error joins the errors of the
// actors without a reply, and names them; the other replies are valid.
func Gather[In, Out any](ctx context.Context, actors []*Actor[In, Out], msgs []In) ([]Out, error) {
	if len(actors) != len(msgs) {
		return nil, invalid("%d messages for %d actors", len(msgs), len(actors))
	}
	for i, a := range actors {
		if _, err := a.made("gather"); err != nil {
			return nil, fmt.Errorf("actor %d of %d: %w", i, len(actors), err)
		}
	}
	ctx = orBackground(ctx)
	replies := make([]Out, len(msgs))
	if len(msgs) == 0 {
		return replies, nil
	}
	escapes(&msgs[0]) // escape analysis does not distinguish elements
	g := newGathering(ctx, len(msgs), actors[0].core)
	defer g.end()
	for !g.done() {
		// A reply keeps its slot until it is taken, and others may be waiting for that
		// slot. So no wait is for one message while other replies may come.
		clear(g.full)
		g.unsent = slices.DeleteFunc(g.unsent, func(i int) bool { return g.send(actors[i].core, i, unsafe.Pointer(&msgs[i])) })
		g.sent = slices.DeleteFunc(g.sent, func(i int) bool { return g.take(actors[i].core, i, unsafe.Pointer(&replies[i])) })
		if len(g.unsent) == 0 && len(g.sent) == 1 {
			i := g.sent[0]
			g.errs[i] = actors[i].core.collect(ctx, "ask", g.asked[i], unsafe.Pointer(&replies[i]))
			break
		}
		if g.pause() {
			g.sent = slices.DeleteFunc(g.sent, func(i int) bool { return g.check(actors[i].core, i) })
		}
		if g.wait.Sleeps() && len(g.sent) > 0 && g.rest(actors[g.sent[0]].core, g.sent[0]) {
			g.sent = g.sent[1:]
		}
	}
	for i, err := range g.errs {
		if err != nil {
			replies[i] = *new(Out)
		}
	}
	return replies, errors.Join(g.errs...)
}

// gathering is the state of a call of Gather. Messages have the numbers of the call.
type gathering struct {
	ctx          context.Context
	rt           *Runtime
	unsent, sent []int // messages that are not accepted yet, and those without an outcome, in order
	asked        []pending
	errs         []error
	began        time.Time
	full         map[*core]bool // actors that have no room in this round
	wait         backoff.Wait
}

// newGathering returns the state for n messages, the first one to c.
func newGathering(ctx context.Context, n int, c *core) *gathering {
	g := &gathering{ctx: ctx, rt: c.rt, unsent: make([]int, n), sent: make([]int, 0, n), asked: make([]pending, n), errs: make([]error, n), began: time.Now()}
	for i := range g.unsent {
		g.unsent[i] = i
	}
	if !c.rt.resident {
		g.wait = backoff.Yielding()
	}
	return g
}

func (g *gathering) done() bool { return len(g.unsent)+len(g.sent) == 0 }

// end ends what pause has begun.
func (g *gathering) end() {
	if g.wait.Joined() {
		g.rt.messages.waiting.Add(-1)
	}
}

// send sends message i if the actor has room, and no room is needed for an earlier
// message. It reports whether that is done, successfully or not.
func (g *gathering) send(c *core, i int, msg unsafe.Pointer) bool {
	if g.full[c] {
		return false
	}
	err := c.usable(g.ctx, "ask")
	if err == nil {
		g.asked[i], err = c.askIfRoom(g.ctx, msg)
	}
	switch {
	case errors.Is(err, errNoRoom):
		if g.full == nil {
			g.full = map[*core]bool{}
		}
		g.full[c] = true
		return false
	case err != nil:
		g.errs[i] = err
	default:
		g.sent = append(g.sent, i)
	}
	return true
}

// take takes the reply to message i. It reports whether there is one, or never will be.
func (g *gathering) take(c *core, i int, reply unsafe.Pointer) bool {
	p := &g.asked[i]
	if p.entry != nil {
		placed, err := c.locate("ask", p)
		if g.errs[i] = err; !placed {
			return err != nil
		}
	}
	r, ok := p.m.take(p.ticket, reply)
	if !ok {
		return false
	}
	began := g.began
	if !measuresTrip(p.ticket) {
		began = time.Time{}
	}
	g.errs[i] = c.conclude("ask", p, r, began)
	return true
}

// pause waits for a moment. It reports whether to check for rare events as well.
func (g *gathering) pause() bool {
	if !g.wait.Joined() {
		g.wait.Join(int(g.rt.messages.waiting.Add(1)))
	}
	return g.wait.Pause()
}

// check makes sure that message i is going to be handled. It reports whether the message
// was given up instead.
func (g *gathering) check(c *core, i int) bool {
	c.refill()
	c.kick()
	g.errs[i] = c.giveUpIfDue(g.ctx, "ask", &g.asked[i])
	return g.errs[i] != nil
}

// rest waits for message i for a moment, unless it is in the queue. It reports whether the
// actor cannot run.
func (g *gathering) rest(c *core, i int) bool {
	p := &g.asked[i]
	if p.entry != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(g.ctx, time.Millisecond)
	defer cancel()
	if _, err := c.server.handled(ctx, p.m, p.ticket); err != nil {
		p.m.abandon(p.ticket)
		g.errs[i] = err
		return true
	}
	return false
}
