package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"quern.dev/gpu"
	"quern.dev/ring"
)

// soak is the use of one device.
type soak struct {
	rt      *ring.Runtime
	dev     *gpu.Device
	options options
	actors  []*member // that stay
	spill   *member   // whose queue overflows
	byName  map[string]*member

	messages atomic.Uint64 // handled, as far as the host knows
	asks     atomic.Uint64
	failures atomic.Uint64 // of handlers, as supervisors learn of them
	expired  atomic.Uint64
	dead     atomic.Uint64
	beside   atomic.Uint64 // operations beside the actors
	visitors atomic.Uint64 // actors that have come and gone
}

// member is an actor with what the host knows of it.
type member struct {
	name     string
	actor    *ring.Actor[message, answer]
	accepted shared // messages that it has taken and is to count
	dead     shared // of these, found among the dead letters
	sent     shared // of these, with a reply for Receive
	received shared // such replies
	final    ledger // of the actor, at the end
}

// shared is a ledger that goroutines share.
type shared struct{ count, sum atomic.Uint64 }

func (s *shared) add(n, sum uint64) {
	s.count.Add(n)
	s.sum.Add(sum)
}

func (s *shared) ledger() ledger { return ledger{s.count.Load(), s.sum.Load()} }

func (l ledger) plus(m ledger) ledger { return ledger{l.Count + m.Count, l.Sum + m.Sum} }

func (l ledger) String() string { return fmt.Sprintf("%d messages with a sum of %#x", l.Count, l.Sum) }

// spillRoom is the capacity of the actor whose queue overflows.
const spillRoom = 128

// restartsAllowed is that a handler may fail as often as it is asked to.
const restartsAllowed = 1 << 30

func newSoak(ctx context.Context, rt *ring.Runtime, o options) (*soak, error) {
	s := &soak{rt: rt, dev: rt.Device(), options: o, byName: map[string]*member{}}
	add := func(name string, ro ring.Options) (*member, error) {
		m, err := s.spawn(ctx, name, ro)
		if err == nil {
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

// spawn makes an actor that is restarted when its handler fails.
func (s *soak) spawn(ctx context.Context, name string, o ring.Options) (*member, error) {
	o.Name, o.MaxRestarts = name, restartsAllowed
	o.Supervisor = func(ring.Failure) ring.Decision {
		s.failures.Add(1)
		return ring.Resume
	}
	a, err := SpawnTally(ctx, s.rt, o)
	return &member{name: name, actor: a}, err
}

// run has everybody at work until the time is over, the messages are enough or
// something is wrong, and compares the accounts then.
func (s *soak) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.duration)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var group sync.WaitGroup
	begin := func(what string, number int, work func(ctx context.Context, r *rand.Rand) error) {
		group.Go(func() {
			r := rand.New(rand.NewPCG(s.options.seed, uint64(number)))
			for ctx.Err() == nil {
				if err := work(ctx, r); err != nil {
					err = fmt.Errorf("%s %d: %w", what, number, err)
					fmt.Println(err) // others may wait for what does not come any more
					stop(err)
				}
			}
		})
	}
	for i := range s.roles().streams {
		begin("stream", i, s.stream)
	}
	for i := range s.roles().askers {
		a := &asker{soak: s, number: uint16(i), serials: map[*member]uint64{}}
		begin("asker", 100+i, a.round)
	}
	begin("teller", 200, s.tell)
	begin("spill", 201, s.overflow)
	begin("visitor", 202, s.visit)
	begin("switch", 203, s.toggle)
	for i := range s.roles().beside {
		begin("work beside", 300+i, s.work)
	}
	listening, hush := context.WithCancel(context.Background())
	defer hush()
	var listeners sync.WaitGroup
	listen := func(what string, hear func(ctx context.Context) error) {
		listeners.Go(func() {
			if err := hear(listening); err != nil {
				stop(fmt.Errorf("%s: %w", what, err))
			}
		})
	}
	listen("dead letters", s.letters)
	for _, m := range s.actors {
		listen("replies of "+m.name, func(ctx context.Context) error { return s.receive(ctx, m) })
	}
	watch := &watch{soak: s, begun: time.Now()}
	watch.until(ctx, func() { stop(errEnough) })
	group.Wait()
	if cause := context.Cause(ctx); !errors.Is(cause, context.DeadlineExceeded) && !errors.Is(cause, context.Canceled) && cause != errEnough {
		hush()
		listeners.Wait()
		return cause
	}
	if err := s.settle(); err != nil {
		return err
	}
	hush()
	listeners.Wait()
	return errors.Join(s.compare(), watch.verdict())
}

var errEnough = errors.New("enough messages")

// roles is how many goroutines do what.
func (s *soak) roles() (n struct{ streams, askers, beside int }) {
	n.streams, n.askers, n.beside = 6, 6, 2
	if s.dev.Backend() != gpu.CUDA {
		n.streams, n.askers, n.beside = 2, 3, 1
	}
	return n
}

// farewell is how long an actor may take for what it has.
const farewell = 30 * time.Second

// settle waits until all that was sent is handled and its replies are taken, and
// ends the actors.
func (s *soak) settle() error {
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	for _, m := range s.byName {
		for m.received.count.Load() < m.sent.count.Load() {
			if ctx.Err() != nil {
				return fmt.Errorf("%s: replies came to %v, of %v", m.name, m.received.ledger(), m.sent.ledger())
			}
			time.Sleep(time.Millisecond)
		}
		var err error
		if m.final, err = m.read(ctx); err != nil {
			return fmt.Errorf("the account of %s: %w", m.name, err)
		}
		if f, err := m.actor.Terminate(ctx); err != nil || f != (ring.Farewell{}) {
			return fmt.Errorf("the end of %s, which has nothing to do: %+v, %w", m.name, f, err)
		}
	}
	letters := s.rt.DeadLetters()
	for letters.Len() > 0 || s.dead.Load()+letters.Overflow() < letters.Total() {
		if ctx.Err() != nil {
			return fmt.Errorf("%d dead letters were taken, of %d", s.dead.Load(), letters.Total())
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// compare compares what the actors have counted with what the host has.
func (s *soak) compare() error {
	var errs []error
	if n := s.rt.DeadLetters().Overflow(); n > 0 {
		errs = append(errs, fmt.Errorf("%d dead letters came faster than they were taken: their messages are not accounted for", n))
	}
	var total ledger
	for _, m := range s.byName {
		total = total.plus(m.final)
		errs = append(errs, m.compare())
	}
	err := errors.Join(errs...)
	if err == nil {
		fmt.Printf("%-7s %v: what the actors have counted is what the host has sent\n", s.dev.ID(), total)
	}
	return err
}

// compare compares what the actor has counted with what the host has.
func (m *member) compare() error {
	if want, got := m.accepted.ledger(), m.final.plus(m.dead.ledger()); got != want {
		return fmt.Errorf("%s: taken %v, handled %v, dead letters %v", m.name, want, m.final, m.dead.ledger())
	}
	if sent, received := m.sent.ledger(), m.received.ledger(); sent != received {
		return fmt.Errorf("%s: sent %v, replies came to %v", m.name, sent, received)
	}
	return nil
}

// read asks an actor for its account when it has handled all that it has.
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

// unsettled reports whether an error says that the actor was failed, or inactive,
// which does not last.
func unsettled(err error) bool {
	_, state := errors.AsType[*ring.StateError](err)
	return state
}
