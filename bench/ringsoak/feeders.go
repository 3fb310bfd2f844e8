package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"quern.dev/ring"
)

// Messages that a stream sends, and those that are told, at a time.
const (
	mostSent = 256
	mostTold = 16
)

// window is how many replies of an actor wait to be taken, at most: there has to be
// room for other messages.
const window = 4096

// chance is true once in n times.
func chance(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }

// anyPriority is the default one half of the time.
func anyPriority(r *rand.Rand) ring.MessageOption {
	if chance(r, 2) {
		return ring.Priority(ring.DefaultPriority)
	}
	return ring.Priority(r.IntN(ring.MaxPriority + 1))
}

// stream sends messages to an actor, most of whose replies wait for receive.
func (s *soak) stream(_ context.Context, r *rand.Rand) error {
	m := s.actors[r.IntN(len(s.actors))]
	if m.sent.count.Load()-m.received.count.Load() > window {
		time.Sleep(50 * time.Microsecond)
		return nil
	}
	batch := make([]message, 1+r.IntN(mostSent))
	for i := range batch {
		kind := uint8(count)
		if chance(r, 4) {
			kind = quiet
		}
		batch[i] = newMessage(kind, bySend, r.Uint64())
	}
	n, err := 0, error(nil)
	if chance(r, 8) {
		batch = batch[:1]
		if err = m.actor.Send(context.Background(), batch[0], anyPriority(r), ring.Correlation(batch[0].Value)); err == nil {
			n = 1
		}
	} else {
		option := ring.Priority(ring.DefaultPriority)
		if chance(r, 8) {
			option = anyPriority(r)
		}
		n, err = m.actor.SendBatch(context.Background(), batch, option)
	}
	for _, msg := range batch[:n] {
		m.accepted.add(1, msg.Value)
		if msg.Kind == count {
			m.sent.add(1, msg.Value)
		}
	}
	s.messages.Add(uint64(n))
	if err != nil && !unsettled(err) {
		return fmt.Errorf("sending to %s: %w", m.name, err)
	}
	return nil
}

// receive takes the replies of an actor.
func (s *soak) receive(ctx context.Context, m *member) error {
	replies := make([]answer, mostSent)
	for turn := 0; ; turn++ {
		n, err := 0, error(nil)
		if turn%8 == 0 {
			var one ring.Message[answer]
			if one, err = m.actor.ReceiveMessage(ctx); err == nil {
				replies[0], n = one.Body, 1
				if one.Correlation != 0 && one.Correlation != ^one.Body.Value {
					return fmt.Errorf("a reply to message %#x with the correlation %#x", ^one.Body.Value, one.Correlation)
				}
			}
		} else {
			n, err = m.actor.ReceiveBatch(ctx, replies)
		}
		for _, a := range replies[:n] {
			m.received.add(1, ^a.Value)
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case unsettled(err):
			time.Sleep(time.Millisecond)
		case err != nil:
			return err
		}
	}
}

// asker asks actors, one message at a time.
type asker struct {
	*soak
	number  uint16
	serials map[*member]uint64
}

func (a *asker) round(_ context.Context, r *rand.Rand) error {
	m := a.actors[r.IntN(len(a.actors))]
	if chance(r, 200) {
		return a.breakDown(m, r)
	}
	msg := newMessage(count, byAsk, r.Uint64())
	a.serials[m]++
	msg.Feeder, msg.Serial = a.number, a.serials[m]
	priority, again := anyPriority(r), false
	for {
		err := a.ask(m, msg, priority, !again && chance(r, 10), chance(r, 50))
		switch {
		case err == nil:
			m.accepted.add(1, msg.Value)
			a.messages.Add(1)
			a.asks.Add(1)
			return nil
		case errors.Is(err, ring.ErrExpired):
			a.expired.Add(1)
			return nil
		case unsettled(err) || errors.Is(err, context.DeadlineExceeded):
			// It may be handled yet: it is asked again until that is sure.
			again = true
		default:
			return fmt.Errorf("asking %s: %w", m.name, err)
		}
	}
}

// ask asks once.
func (a *asker) ask(m *member, msg message, priority ring.MessageOption, expires, impatient bool) error {
	ctx := context.Background()
	if impatient {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 200*time.Microsecond)
		defer cancel()
	}
	options := []ring.MessageOption{priority, ring.Correlation(msg.Value)}
	if expires {
		options = append(options, ring.TTL(100*time.Microsecond))
	}
	r, err := m.actor.Ask(ctx, msg, options...)
	if err == nil && r.Value != ^msg.Value {
		err = fmt.Errorf("the reply to message %#x is one to %#x", msg.Value, ^r.Value)
	}
	return err
}

// breakDown has the handler fail.
func (a *asker) breakDown(m *member, r *rand.Rand) error {
	_, err := m.actor.Ask(context.Background(), newMessage(fail, byAsk, r.Uint64()))
	if _, failed := errors.AsType[*ring.HandlerError](err); failed || unsettled(err) {
		return nil
	}
	return fmt.Errorf("the handler of %s was to fail: %v", m.name, err)
}

// tell tells actors, some of it too late.
func (s *soak) tell(_ context.Context, r *rand.Rand) error {
	m := s.actors[r.IntN(len(s.actors))]
	for range 1 + r.IntN(mostTold) {
		options := []ring.MessageOption{anyPriority(r)}
		if chance(r, 16) {
			options = append(options, ring.TTL(50*time.Microsecond))
		}
		if err := s.tellOne(m, r, options...); err != nil {
			return err
		}
	}
	return nil
}

func (s *soak) tellOne(m *member, r *rand.Rand, options ...ring.MessageOption) error {
	msg := newMessage(uint8(r.IntN(2)), byTell, r.Uint64())
	switch err := m.actor.Tell(context.Background(), msg, options...); {
	case err == nil, errors.Is(err, ring.ErrDropped): // what is dropped is a dead letter
		m.accepted.add(1, msg.Value)
		s.messages.Add(1)
	case errors.Is(err, ring.ErrExpired):
		s.expired.Add(1)
	case !unsettled(err):
		return fmt.Errorf("telling %s: %w", m.name, err)
	}
	return nil
}

// overflow tells the actor that drops messages more than it has room for, and waits
// until it has handled the rest.
func (s *soak) overflow(_ context.Context, r *rand.Rand) error {
	for range 4 * spillRoom {
		if err := s.tellOne(s.spill, r, anyPriority(r)); err != nil {
			return err
		}
	}
	_, err := s.spill.read(context.Background())
	time.Sleep(10 * time.Millisecond)
	return err
}

// letters takes dead letters. What was asked its caller knows of.
func (s *soak) letters(ctx context.Context) error {
	for {
		l, err := s.rt.DeadLetters().Receive(ctx)
		if err != nil {
			return nil // the time is over
		}
		msg, ok := l.Body.(message)
		if !ok {
			return fmt.Errorf("a dead letter of %s with a %T", l.Actor, l.Body)
		}
		if m := s.byName[l.Actor]; m != nil && msg.Way != byAsk {
			m.dead.add(1, msg.Value)
			if msg.Way == bySend {
				return fmt.Errorf("a dead letter of %s without a reason for one: %v", l.Actor, l.Err)
			}
		}
		s.dead.Add(1)
	}
}
