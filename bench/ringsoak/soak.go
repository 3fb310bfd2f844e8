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

// soak is the use of one device.
type soak struct {
	rt      *ring.Runtime
	dev     *gpu.Device
	options options
	roles   roles
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

	atWork             roster
	workers, listeners sync.WaitGroup
	listening          context.Context // of those who take replies and dead letters
	hush               context.CancelCauseFunc
}

// member is an actor with what the host knows of it.
type member struct {
	name     string
	actor    *ring.Actor[message, answer]
	window   int    // replies that may be outstanding before streams send to others
	accepted shared // messages that it has taken and is to count
	dead     shared // of these, found among the dead letters
	sent     shared // of these, with a reply for Receive
	received shared // such replies
	final    ledger // of the actor, at the end
}

// outstanding is how many replies have not been received.
func (m *member) outstanding() int { return int(m.sent.count.Load() - m.received.count.Load()) }

// shared is a ledger that goroutines share.
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

// restartsAllowed is that a handler may fail as often as it is asked to.
const restartsAllowed = 1 << 30

// largestWindow leaves most messages room in the rings of an actor, behind which is
// a queue.
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

// begin has everybody at work until ctx is done. It is stopped when something is
// wrong.
func (s *soak) begin(ctx context.Context, stop context.CancelCauseFunc) {
	worker := func(what string, number int, work func(ctx context.Context, r *rand.Rand) error) {
		name := fmt.Sprintf("%s %d", what, number)
		end := s.atWork.enter(name)
		s.workers.Go(func() {
			defer end()
			r := rand.New(rand.NewPCG(s.options.seed, uint64(number)))
			for ctx.Err() == nil {
				if err := work(ctx, r); err != nil {
					err = fmt.Errorf("%s: %w", name, err)
					fmt.Println(err) // others may wait for what does not come any more
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
	for i := range s.roles.beside {
		worker("work beside", 3000+i, s.work)
	}
	s.listen(stop)
}

// listen has replies and dead letters taken until they are hushed.
func (s *soak) listen(stop context.CancelCauseFunc) {
	s.listening, s.hush = context.WithCancelCause(context.Background())
	listener := func(what string, hear func(ctx context.Context) error) {
		s.listeners.Go(func() {
			if err := hear(s.listening); err != nil {
				err = fmt.Errorf("%s: %w", what, err)
				stop(err)
				s.hush(err)
			}
		})
	}
	listener("dead letters", s.letters)
	for _, m := range s.actors[:s.roles.waiting] {
		listener("replies of "+m.name, func(ctx context.Context) error { return new(receiver).wait(ctx, m) })
	}
	rest := s.actors[s.roles.waiting:]
	for i := range s.roles.looking {
		var members []*member
		for k := i; k < len(rest); k += s.roles.looking {
			members = append(members, rest[k])
		}
		listener("replies", func(ctx context.Context) error { return new(receiver).look(ctx, members) })
	}
}

// end waits until all that was begun has ended, and compares the accounts then. ctx
// is done, and says why.
func (s *soak) end(ctx context.Context) error {
	s.workers.Wait()
	err := context.Cause(ctx)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || err == errEnough {
		err = s.settle()
	}
	s.hush(errHushed)
	s.listeners.Wait()
	if heard := context.Cause(s.listening); heard != errHushed && !errors.Is(err, heard) {
		err = errors.Join(err, heard)
	}
	if err != nil {
		return err
	}
	return s.compare()
}

var (
	errEnough = errors.New("enough messages")
	errHushed = errors.New("nothing is to be heard any more")
)

// roles is how many goroutines do what.
type roles struct {
	streams, askers, beside int
	// Receivers, and how many actors have one of their own, which waits for replies.
	// Those of the others look after several.
	looking, waiting int
}

// rolesOn are those on a device beside a number of processors. Where kernels need
// these themselves a few goroutines are enough.
func rolesOn(b gpu.Backend, processors, actors int) roles {
	if b != gpu.CUDA {
		return roles{streams: 2, askers: 3, beside: 1, waiting: actors}
	}
	waiting := min(2, actors-1)
	return roles{
		streams: max(2, min(processors/2, actors)),
		askers:  max(2, min(processors/4, feeders)),
		beside:  2,
		waiting: waiting,
		looking: max(1, min(processors/4, actors-waiting)),
	}
}

// farewell is how long an actor may take for what it has.
const farewell = 30 * time.Second

// settle waits until all that was sent is handled and its replies are taken, and
// ends the actors.
func (s *soak) settle() error {
	ctx, cancel := context.WithTimeout(s.listening, farewell)
	defer cancel()
	for _, m := range s.byName {
		if err := s.atWork.during("the account of "+m.name, func() error { return m.settle(ctx) }); err != nil {
			return err
		}
	}
	return s.atWork.during("dead letters", func() error {
		letters := s.rt.DeadLetters()
		for letters.Len() > 0 || s.dead.Load()+letters.Overflow() < letters.Total() {
			if ctx.Err() != nil {
				return fmt.Errorf("%d dead letters were taken, of %d", s.dead.Load(), letters.Total())
			}
			time.Sleep(time.Millisecond)
		}
		return nil
	})
}

// settle waits until all that the actor was sent is handled and its replies are
// taken, and ends it.
func (m *member) settle(ctx context.Context) (err error) {
	for m.outstanding() > 0 {
		if ctx.Err() != nil {
			return fmt.Errorf("%s: replies came to %v, of %v", m.name, m.received.ledger(), m.sent.ledger())
		}
		time.Sleep(time.Millisecond)
	}
	if m.final, err = m.read(ctx); err != nil {
		return fmt.Errorf("the account of %s: %w", m.name, err)
	}
	if f, err := m.actor.Terminate(ctx); err != nil || f != (ring.Farewell{}) {
		return fmt.Errorf("the end of %s, which has nothing to do: %+v, %w", m.name, f, err)
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
