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

// Largest numbers of messages per stream round, of messages with a priority other than the
// default, of told messages, and of replies received at a time.
const (
	mostSent   = 256
	mostUrgent = 16
	mostTold   = 16
	mostTaken  = 1024
)

// chance returns true once in n calls on average.
func chance(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }

// anyPriority returns the default priority half of the time.
func anyPriority(r *rand.Rand) ring.MessageOption {
	if chance(r, 2) {
		return ring.Priority(ring.DefaultPriority)
	}
	return ring.Priority(r.IntN(ring.MaxPriority + 1))
}

// streamer sends messages to actors. The replies wait for a receiver.
type streamer struct {
	*soak
	batch [mostSent]message
	idle  backoff
}

func (s *streamer) round(_ context.Context, r *rand.Rand) error {
	m, most := s.actors[r.IntN(len(s.actors))], mostSent
	if !chance(r, 64) { // otherwise it waits until there is room
		if m = s.available(r); m == nil {
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
	// The receiver must account for the messages before their replies arrive.
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
		return fmt.Errorf("send to %s: %w", m.name, err)
	}
	return nil
}

// available returns an actor that has room for messages, or nil if there is none. A slow actor
// therefore does not block sends to others.
func (s *soak) available(r *rand.Rand) *member {
	from := r.IntN(len(s.actors))
	for i := range s.actors {
		if m := s.actors[(from+i)%len(s.actors)]; m.outstanding() <= m.window/2 {
			return m
		}
	}
	return nil
}

// backoff counts consecutive iterations without work.
type backoff int

// pass yields, and after many iterations without work sleeps, because a sleep may take a
// millisecond.
func (i *backoff) pass() {
	if *i++; *i < 100 {
		runtime.Gosched()
		return
	}
	time.Sleep(50 * time.Microsecond)
}

// compose creates messages. About one in four has no reply. One random number is enough
// for all.
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

// entries returns what messages add to the ledgers: all of them, and those with a reply.
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

// receiver receives the replies of actors.
type receiver struct {
	replies [mostTaken]answer
	turn    int
}

// wait receives the replies of one actor, blocking.
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

// poll receives the replies of several actors without blocking.
func (v *receiver) poll(ctx context.Context, members []*member) error {
	past, cancel := context.WithCancel(context.Background())
	cancel()
	idle := backoff(0)
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

// take receives the available replies of an actor, and one time in every only a single
// reply.
func (v *receiver) take(ctx context.Context, m *member, every int) (n int, err error) {
	if v.turn++; v.turn%every != 0 {
		n, err = m.actor.ReceiveBatch(ctx, v.replies[:])
	} else if one, failed := m.actor.ReceiveMessage(ctx); failed != nil {
		err = failed
	} else {
		v.replies[0], n = one.Body, 1
		if one.Correlation != 0 && one.Correlation != ^one.Body.Value {
			return 0, fmt.Errorf("a reply to message %#x has the correlation %#x", ^one.Body.Value, one.Correlation)
		}
	}
	m.received.add(received(v.replies[:n]))
	return n, err
}

// received returns what replies add to the ledger.
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
	broke   time.Time // time of the last handler failure that it caused
}

// failureInterval is the minimum time between two failures that an asker causes.
const failureInterval = 10 * time.Millisecond

func (a *asker) round(_ context.Context, r *rand.Rand) error {
	m := a.actors[r.IntN(len(a.actors))]
	if chance(r, 200) && time.Since(a.broke) > failureInterval {
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
			// It may have been handled. Ask again until the outcome is known.
			again = true
		default:
			return fmt.Errorf("ask %s: %w", m.name, err)
		}
	}
}

// ask asks once.
func (a *asker) ask(m *member, msg message, priority ring.MessageOption, expires, timeout bool) error {
	ctx := context.Background()
	if timeout {
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
		err = fmt.Errorf("the reply to message %#x belongs to %#x", msg.Value, ^r.Value)
	}
	return err
}

// breakDown makes the handler fail.
func (a *asker) breakDown(m *member, r *rand.Rand) error {
	_, err := m.actor.Ask(context.Background(), newMessage(fail, byAsk, r.Uint64()))
	if _, failed := errors.AsType[*ring.HandlerError](err); failed || unsettled(err) {
		return nil
	}
	return fmt.Errorf("the handler of %s should have failed: %v", m.name, err)
}

// tell tells actors messages, some of which expire.
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
	case err == nil, errors.Is(err, ring.ErrDropped): // a dropped message becomes a dead letter
		m.accepted.add(ledger{1, msg.Value})
		s.messages.Add(1)
	case errors.Is(err, ring.ErrExpired):
		s.expired.Add(1)
	case !unsettled(err):
		return fmt.Errorf("tell %s: %w", m.name, err)
	}
	return nil
}

// overflow tells the actor that drops messages more messages than it has room for, and
// waits until it has handled the rest.
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

// deadLetterInterval is the time between two receipts of dead letters. A search for new ones goes
// through the mailboxes of all actors.
const deadLetterInterval = 10 * time.Millisecond

// letters receives dead letters. It does not count asked messages, because their callers
// do.
func (s *soak) letters(ctx context.Context) error {
	for {
		l, err := s.rt.DeadLetters().Receive(ctx)
		if err != nil {
			return nil // the run is over
		}
		if err := s.letter(l); err != nil {
			return err
		}
		for l := range s.rt.DeadLetters().All() {
			if err := s.letter(l); err != nil {
				return err
			}
		}
		time.Sleep(deadLetterInterval)
	}
}

func (s *soak) letter(l ring.DeadLetter) error {
	msg, ok := l.Body.(message)
	if !ok {
		return fmt.Errorf("a dead letter of %s contains a %T", l.Actor, l.Body)
	}
	if m := s.byName[l.Actor]; m != nil && msg.Way != byAsk {
		m.dead.add(ledger{1, msg.Value})
		if msg.Way == bySend {
			return fmt.Errorf("an unexpected dead letter of %s: %v", l.Actor, l.Err)
		}
	}
	s.dead.Add(1)
	return nil
}
