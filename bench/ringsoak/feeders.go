package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"quern.dev/ring"
)

// Messages that a stream sends, those of another priority than the default, those
// that are told, and replies that are taken, at a time.
const (
	mostSent   = 256
	mostUrgent = 16
	mostTold   = 16
	mostTaken  = 1024
)

// chance is true once in n times.
func chance(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }

// anyPriority is the default one half of the time.
func anyPriority(r *rand.Rand) ring.MessageOption {
	if chance(r, 2) {
		return ring.Priority(ring.DefaultPriority)
	}
	return ring.Priority(r.IntN(ring.MaxPriority + 1))
}

// streamer sends messages to actors, most of whose replies wait for a receiver.
type streamer struct {
	*soak
	batch [mostSent]message
	idle  idleness
}

func (s *streamer) round(_ context.Context, r *rand.Rand) error {
	m, most := s.actors[r.IntN(len(s.actors))], mostSent
	if !chance(r, 64) { // else it waits until there is room
		if m = s.roomy(r); m == nil {
			s.idle.pass()
			return nil
		}
		most = min(most, m.window/2)
	}
	priority := ring.Priority(ring.DefaultPriority)
	if chance(r, 8) {
		priority, most = anyPriority(r), min(most, mostUrgent)
	}
	s.idle = 0
	batch := s.batch[:1+r.IntN(most)]
	single := chance(r, 64)
	if single {
		batch = batch[:1]
	}
	compose(batch, r.Uint64())
	// Who receives has to know of messages before there are replies to them.
	all, answered := entries(batch)
	m.accepted.add(all)
	m.sent.add(answered)
	n, err := 0, error(nil)
	if !single {
		n, err = m.actor.SendBatch(context.Background(), batch, priority)
	} else if err = m.actor.Send(context.Background(), batch[0], priority, ring.Correlation(batch[0].Value)); err == nil {
		n = 1
	}
	if n < len(batch) {
		all, answered = entries(batch[n:])
		m.accepted.remove(all)
		m.sent.remove(answered)
	}
	s.messages.Add(uint64(n))
	if err != nil && !unsettled(err) {
		return fmt.Errorf("sending to %s: %w", m.name, err)
	}
	return nil
}

// roomy returns an actor that has room for messages, nil if there is none: one that
// is slow keeps nobody from sending to others.
func (s *soak) roomy(r *rand.Rand) *member {
	from := r.IntN(len(s.actors))
	for i := range s.actors {
		if m := s.actors[(from+i)%len(s.actors)]; m.outstanding() <= m.window/2 {
			return m
		}
	}
	return nil
}

// idleness counts how often there was nothing to do.
type idleness int

// pass lets others run, and sleeps once that was of no use for long: a sleep may take
// a millisecond.
func (i *idleness) pass() {
	if *i++; *i < 100 {
		runtime.Gosched()
		return
	}
	time.Sleep(50 * time.Microsecond)
}

// compose makes messages, of which every fourth or so is a quiet one. One random
// number is enough for all.
func compose(batch []message, value uint64) {
	for i := range batch {
		value += 0x9e3779b97f4a7c15
		kind := uint8(count)
		if value>>62 == 0 {
			kind = quiet
		}
		batch[i].set(kind, bySend, value)
	}
}

// entries are what messages add to the ledgers: all of them, and those with a reply.
func entries(batch []message) (all, answered ledger) {
	for i := range batch {
		m := &batch[i]
		all.Count++
		all.Sum += m.Value
		if m.Kind == count {
			answered.Count++
			answered.Sum += m.Value
		}
	}
	return all, answered
}

// receiver takes the replies of actors.
type receiver struct {
	replies [mostTaken]answer
	turn    int
}

// wait takes the replies of an actor as they come.
func (v *receiver) wait(ctx context.Context, m *member) error {
	for ctx.Err() == nil {
		switch _, err := v.take(ctx, m, 8); {
		case ctx.Err() != nil:
		case unsettled(err):
			time.Sleep(time.Millisecond)
		case err != nil:
			return err
		}
	}
	return nil
}

// look takes the replies of several actors, and waits for none of them.
func (v *receiver) look(ctx context.Context, members []*member) error {
	past, cancel := context.WithCancel(context.Background())
	cancel()
	idle := idleness(0)
	for ctx.Err() == nil {
		taken := 0
		for _, m := range members {
			if m.outstanding() <= 0 {
				continue
			}
			n, err := v.take(past, m, 64)
			if err != nil && !errors.Is(err, context.Canceled) && !unsettled(err) {
				return err
			}
			taken += n
		}
		if taken > 0 {
			idle = 0
		} else {
			idle.pass()
		}
	}
	return nil
}

// take takes what replies of an actor there are, but one alone every so many times.
func (v *receiver) take(ctx context.Context, m *member, every int) (n int, err error) {
	if v.turn++; v.turn%every != 0 {
		n, err = m.actor.ReceiveBatch(ctx, v.replies[:])
	} else if one, failed := m.actor.ReceiveMessage(ctx); failed != nil {
		err = failed
	} else {
		v.replies[0], n = one.Body, 1
		if one.Correlation != 0 && one.Correlation != ^one.Body.Value {
			return 0, fmt.Errorf("a reply to message %#x with the correlation %#x", ^one.Body.Value, one.Correlation)
		}
	}
	m.received.add(received(v.replies[:n]))
	return n, err
}

// received is what replies add to the ledger.
func received(replies []answer) (l ledger) {
	for i := range replies {
		l.Count++
		l.Sum += ^replies[i].Value
	}
	return l
}

// asker asks actors, one message at a time.
type asker struct {
	*soak
	number  uint16
	serials map[*member]uint64
	broke   time.Time // when it last had a handler fail
}

// breather is the time that an asker leaves at least from failure to failure.
const breather = 10 * time.Millisecond

func (a *asker) round(_ context.Context, r *rand.Rand) error {
	m := a.actors[r.IntN(len(a.actors))]
	if chance(r, 200) && time.Since(a.broke) > breather {
		a.broke = time.Now()
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
			m.accepted.add(ledger{1, msg.Value})
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
		m.accepted.add(ledger{1, msg.Value})
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

// pickUp is how often dead letters are taken: a look for new ones goes through the
// mailboxes of all actors.
const pickUp = 10 * time.Millisecond

// letters takes dead letters. What was asked its caller knows of.
func (s *soak) letters(ctx context.Context) error {
	for {
		l, err := s.rt.DeadLetters().Receive(ctx)
		if err != nil {
			return nil // the time is over
		}
		if err := s.letter(l); err != nil {
			return err
		}
		for l := range s.rt.DeadLetters().All() {
			if err := s.letter(l); err != nil {
				return err
			}
		}
		time.Sleep(pickUp)
	}
}

func (s *soak) letter(l ring.DeadLetter) error {
	msg, ok := l.Body.(message)
	if !ok {
		return fmt.Errorf("a dead letter of %s with a %T", l.Actor, l.Body)
	}
	if m := s.byName[l.Actor]; m != nil && msg.Way != byAsk {
		m.dead.add(ledger{1, msg.Value})
		if msg.Way == bySend {
			return fmt.Errorf("a dead letter of %s without a reason for one: %v", l.Actor, l.Err)
		}
	}
	s.dead.Add(1)
	return nil
}
