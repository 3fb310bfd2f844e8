package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"quern.dev/gpu"
	"quern.dev/ring"
)

// soak is a run on one device.
type soak struct {
	rt      *ring.Runtime
	dev     *gpu.Device
	options options
	roles   roles
	actors  []*member // long-lived
	spill   *member   // its queue overflows
	byName  map[string]*member

	messages   atomic.Uint64 // handled, as far as the host knows
	asks       atomic.Uint64
	failures   atomic.Uint64 // of handlers, as reported to supervisors
	expired    atomic.Uint64
	dead       atomic.Uint64
	concurrent atomic.Uint64 // operations concurrent with the actors
	visitors   atomic.Uint64 // short-lived actors

	running            activities
	workers, receivers sync.WaitGroup
	receiving          context.Context // context of the goroutines that receive replies and dead letters
	stopReceivers      context.CancelCauseFunc
}

// member is an actor with the host's accounts.
type member struct {
	name     string
	actor    *ring.Actor[message, answer]
	window   int    // outstanding replies above which streams send to other actors
	accepted shared // accepted messages that the actor must count
	dead     shared // accepted messages found among the dead letters
	sent     shared // accepted messages whose replies are for Receive
	received shared // replies received
	final    ledger // the actor's own account at the end
}

// outstanding returns the number of replies that have not been received.
func (m *member) outstanding() int { return int(m.sent.count.Load() - m.received.count.Load()) }

// shared is a ledger that several goroutines update.
type shared struct{ count, sum atomic.Uint64 }

func (s *shared) add(l ledger) {
	s.count.Add(l.Count)
	s.sum.Add(l.Sum)
}

func (s *shared) remove(l ledger) { s.add(ledger{-l.Count, -l.Sum}) }

func (s *shared) ledger() ledger { return ledger{s.count.Load(), s.sum.Load()} }

func (l ledger) plus(m ledger) ledger { return ledger{l.Count + m.Count, l.Sum + m.Sum} }

func (l ledger) String() string { return fmt.Sprintf("%d messages with a sum of %#x", l.Count, l.Sum) }

// spillRoom is the capacity of the actor whose queue overflows.
const spillRoom = 128

// restartsAllowed is effectively no limit.
const restartsAllowed = 1 << 30

// largestWindow keeps most messages in the ring buffers of an actor, not in the queue
// behind them.
const largestWindow = 768

func newSoak(ctx context.Context, rt *ring.Runtime, o options) (*soak, error) {
	s := &soak{rt: rt, dev: rt.Device(), options: o, byName: map[string]*member{}}
	s.roles = rolesOn(s.dev.Backend(), runtime.GOMAXPROCS(0), o.actors)
	add := func(name string, ro ring.Options) (*member, error) {
		m, err := s.spawn(ctx, name, ro)
		if err == nil {
			m.window = min(ro.Capacity/4, largestWindow)
			s.byName[name] = m
		}
		return m, err
	}
	for i := range o.actors {
		m, err := add(fmt.Sprintf("stays-%d", i), ring.Options{Capacity: 64 << (i % 7)})
		if err != nil {
			return nil, err
		}
		s.actors = append(s.actors, m)
	}
	var err error
	s.spill, err = add("spills", ring.Options{Capacity: spillRoom, Full: ring.DropOldest})
	return s, err
}

// spawn spawns an actor that resumes after its handler fails.
func (s *soak) spawn(ctx context.Context, name string, o ring.Options) (*member, error) {
	o.Name, o.MaxRestarts = name, restartsAllowed
	o.Supervisor = func(ring.Failure) ring.Decision {
		s.failures.Add(1)
		return ring.Resume
	}
	a, err := SpawnTally(ctx, s.rt, o)
	return &member{name: name, actor: a}, err
}

// begin starts all workers. They run until ctx is done. If something is wrong, they call
// stop.
func (s *soak) begin(ctx context.Context, stop context.CancelCauseFunc) {
	worker := func(what string, number int, work func(ctx context.Context, r *rand.Rand) error) {
		name := fmt.Sprintf("%s %d", what, number)
		end := s.running.enter(name)
		s.workers.Go(func() {
			defer end()
			r := rand.New(rand.NewPCG(s.options.seed, uint64(number)))
			for ctx.Err() == nil {
				if err := work(ctx, r); err != nil {
					err = fmt.Errorf("%s: %w", name, err)
					fmt.Println(err) // print now, because other workers may wait forever
					stop(err)
				}
			}
		})
	}
	for i := range s.roles.streams {
		worker("stream", i, (&streamer{soak: s}).round)
	}
	for i := range s.roles.askers {
		a := &asker{soak: s, number: uint16(i), serials: map[*member]uint64{}}
		worker("asker", 1000+i, a.round)
	}
	worker("teller", 2000, s.tell)
	worker("spill", 2001, s.overflow)
	worker("visitor", 2002, s.visit)
	worker("switch", 2003, s.toggle)
	for i := range s.roles.concurrent {
		worker("device work", 3000+i, s.work)
	}
	s.startReceivers(stop)
}

// startReceivers starts the goroutines that receive replies and dead letters until stopReceivers is called.
func (s *soak) startReceivers(stop context.CancelCauseFunc) {
	s.receiving, s.stopReceivers = context.WithCancelCause(context.Background())
	start := func(what string, receive func(ctx context.Context) error) {
		s.receivers.Go(func() {
			if err := receive(s.receiving); err != nil {
				err = fmt.Errorf("%s: %w", what, err)
				stop(err)
				s.stopReceivers(err)
			}
		})
	}
	start("dead letters", s.letters)
	for _, m := range s.actors[:s.roles.blocking] {
		start("replies of "+m.name, func(ctx context.Context) error { return new(receiver).wait(ctx, m) })
	}
	rest := s.actors[s.roles.blocking:]
	for i := range s.roles.polling {
		var members []*member
		for k := i; k < len(rest); k += s.roles.polling {
			members = append(members, rest[k])
		}
		start("replies", func(ctx context.Context) error { return new(receiver).poll(ctx, members) })
	}
}

// end waits for all workers and then compares the accounts. ctx is done, with the reason
// as its cause.
func (s *soak) end(ctx context.Context) error {
	s.workers.Wait()
	err := context.Cause(ctx)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || err == errEnough {
		err = s.settle()
	}
	s.stopReceivers(errSettled)
	s.receivers.Wait()
	if cause := context.Cause(s.receiving); cause != errSettled && !errors.Is(err, cause) {
		err = errors.Join(err, cause)
	}
	if err != nil {
		return err
	}
	return s.compare()
}

var (
	errEnough  = errors.New("enough messages")
	errSettled = errors.New("no more replies or dead letters")
)

// roles holds the number of goroutines for each task.
type roles struct {
	streams, askers, concurrent int
	// Number of receivers that poll several actors, and of actors with their own receiver,
	// which blocks.
	polling, blocking int
}

// rolesOn returns the roles for a device and a number of processors. Where kernels run on
// these processors, a few goroutines are enough.
func rolesOn(b gpu.Backend, processors, actors int) roles {
	if b != gpu.CUDA {
		return roles{streams: 2, askers: 3, concurrent: 1, blocking: actors}
	}
	blocking := min(2, actors-1)
	return roles{
		streams:    max(2, min(processors/2, actors)),
		askers:     max(2, min(processors/4, feeders)),
		concurrent: 2,
		blocking:   blocking,
		polling:    max(1, min(processors/4, actors-blocking)),
	}
}

// settleTimeout is the time limit for handling the remaining messages.
const settleTimeout = 30 * time.Second

// settle waits until all messages are handled and all replies are received, and terminates
// the actors.
func (s *soak) settle() error {
	ctx, cancel := context.WithTimeout(s.receiving, settleTimeout)
	defer cancel()
	for _, m := range s.byName {
		if err := s.running.during("the account of "+m.name, func() error { return m.settle(ctx) }); err != nil {
			return err
		}
	}
	return s.running.during("dead letters", func() error {
		letters := s.rt.DeadLetters()
		for letters.Len() > 0 || s.dead.Load()+letters.Overflow() < letters.Total() {
			if ctx.Err() != nil {
				return fmt.Errorf("%d of %d dead letters were received", s.dead.Load(), letters.Total())
			}
			time.Sleep(time.Millisecond)
		}
		return nil
	})
}

// settle waits until the actor has handled all messages and its replies are received, and
// terminates it.
func (m *member) settle(ctx context.Context) (err error) {
	for m.outstanding() > 0 {
		if ctx.Err() != nil {
			return fmt.Errorf("%s: received replies for %v, want %v", m.name, m.received.ledger(), m.sent.ledger())
		}
		time.Sleep(time.Millisecond)
	}
	if m.final, err = m.read(ctx); err != nil {
		return fmt.Errorf("the account of %s: %w", m.name, err)
	}
	if f, err := m.actor.Terminate(ctx); err != nil || f != (ring.Termination{}) {
		return fmt.Errorf("terminate %s, which is idle: %+v, %w", m.name, f, err)
	}
	return nil
}

// compare compares the actors' accounts with the host's.
func (s *soak) compare() error {
	var errs []error
	if n := s.rt.DeadLetters().Overflow(); n > 0 {
		errs = append(errs, fmt.Errorf("%d dead letters were lost because they arrived faster than they were received", n))
	}
	var total ledger
	for _, m := range s.byName {
		total = total.plus(m.final)
		errs = append(errs, m.compare())
	}
	err := errors.Join(errs...)
	if err == nil {
		fmt.Printf("%-7s %v: the actors' accounts match the host's\n", s.dev.ID(), total)
	}
	return err
}

// compare compares the actor's account with the host's.
func (m *member) compare() error {
	if want, got := m.accepted.ledger(), m.final.plus(m.dead.ledger()); got != want {
		return fmt.Errorf("%s: accepted %v, handled %v, dead letters %v", m.name, want, m.final, m.dead.ledger())
	}
	if sent, received := m.sent.ledger(), m.received.ledger(); sent != received {
		return fmt.Errorf("%s: sent %v, received replies for %v", m.name, sent, received)
	}
	return nil
}

// read asks an actor for its account once its queue is empty.
func (m *member) read(ctx context.Context) (ledger, error) {
	for {
		for m.actor.Info().Queued > 0 {
			if err := ctx.Err(); err != nil {
				return ledger{}, err
			}
			time.Sleep(100 * time.Microsecond)
		}
		r, err := m.actor.Ask(ctx, newMessage(account, byAsk, 0))
		if !unsettled(err) && !errors.Is(err, ring.ErrDropped) {
			return r.ledger, err
		}
		time.Sleep(time.Millisecond)
	}
}

// unsettled reports whether err says that the actor is temporarily failed or inactive.
func unsettled(err error) bool {
	_, state := errors.AsType[*ring.StateError](err)
	return state
}
