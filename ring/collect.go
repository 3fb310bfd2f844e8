package ring

import (
	"context"
	"time"
	"unsafe"

	"quern.dev/ring/actor"
)

// collect waits for what becomes of a message that is asked for. It is an error if
// there is no reply.
func (c *core) collect(ctx context.Context, op string, p pending, reply unsafe.Pointer) error {
	begin := c.meter.begin(p.ticket)
	wait, among := c.patience(), false
	defer func() {
		if among {
			c.rt.mail.waiting.Add(-1)
		}
	}()
	for {
		if p.entry == nil {
			if r, ok := p.m.take(p.ticket, reply); ok {
				if !replies(r.outcome) {
					err := c.unanswered(op, p.m, p.ticket, r.outcome)
					p.m.settled(p.ticket, r.outcome)
					c.recount() // the actor may have gone before
					return err
				}
				p.m.free(p.ticket)
				c.meter.handled(r)
				c.meter.answered(begin)
				return nil
			}
			done, err := c.server.handled(ctx, p.m, p.ticket)
			if err != nil {
				p.m.abandon(p.ticket)
				return err
			}
			if done {
				continue
			}
		} else if placed, err := c.locate(op, &p); placed || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		if !among {
			among = true
			wait.among(int(c.rt.mail.waiting.Add(1)))
		}
		if wait.pause() {
			c.refill()
			c.server.kick()
			if err := c.patient(ctx, op, &p); err != nil {
				return err
			}
		}
	}
}

// patience is that of those who wait for the actor. A handler in Go runs once they
// let it.
func (c *core) patience() patience {
	if c.pulls {
		return patience{turns: looking}
	}
	return patience{}
}

// locate looks whether a message has left the queue, and reports whether it is in
// a ring now.
func (c *core) locate(op string, p *pending) (bool, error) {
	at := p.entry.place.Load()
	if at == queued {
		return false, nil
	}
	c.queue.mu.Lock()
	p.m = p.entry.ring
	c.queue.release(p.entry)
	c.queue.mu.Unlock()
	p.entry = nil
	switch {
	case at >= placed:
		p.ticket = at - placed
		return true, nil
	case at == gone+uint64(ReasonTerminated):
		return false, c.denied(op)
	}
	return false, c.about(op, reasonErrors[at-gone])
}

// handlesNoMore reports whether messages that are not handled now are not going to
// be, unless the actor is restarted. One that is about to end may still be at one.
func (c *core) handlesNoMore() bool {
	switch c.current() {
	case Failed:
		return true
	case Terminated:
		select {
		case <-c.over:
			return true
		default:
		}
	}
	return false
}

// overtime is how long after its deadline a message is given up that is in a ring
// whose actor does not look at it.
const overtime = time.Millisecond

// patient gives a message up, with an error, if its caller has to.
func (c *core) patient(ctx context.Context, op string, p *pending) error {
	var err error
	if why := ctx.Err(); why != nil {
		err = c.about(op, why)
	} else if c.handlesNoMore() {
		err = c.denied(op)
	}
	late := p.deadline != 0 && c.rt.clock() >= p.deadline
	if err == nil && !late {
		return nil
	}
	c.queue.mu.Lock()
	if p.entry != nil && p.entry.place.Load() == queued {
		if late {
			err = c.about(op, ErrExpired)
			p.entry.use = unheard
			c.expire(p.entry)
		} else {
			p.entry.use = unheard // it may be handled yet
		}
		c.queue.mu.Unlock()
		return err
	}
	c.queue.mu.Unlock()
	switch {
	case p.entry != nil || p.m.handled(p.ticket):
		return nil // the next look tells
	case err == nil && c.rt.clock() < p.deadline+int64(overtime):
		return nil
	case err == nil:
		err = c.about(op, ErrExpired)
	}
	p.m.abandon(p.ticket)
	return err
}

// unanswered is the error of a message that has no reply.
func (c *core) unanswered(op string, m *mailbox, ticket uint64, outcome uint32) error {
	switch outcome {
	case actor.HandlerFailed:
		if c.runs() { // the launch has not been looked at yet
			if err := restart(c.server); err != nil {
				return err
			}
		}
		return c.handlerError(m, ticket)
	case actor.Expired:
		return c.about(op, ErrExpired)
	case discarded:
		return c.denied(op)
	default:
		return c.about(op, ErrNoReply)
	}
}
