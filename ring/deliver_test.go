package ring

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quern.dev/kernel"
	"quern.dev/ring/internal/mail"
	"quern.dev/ring/internal/rings"
)

type numbered struct{ Number, Priority uint32 }

// adds is the number that the fake device adds to each word of a reply.
const adds = 1

func TestCapacityIsExact(t *testing.T) {
	for _, capacity := range []int{1, 2, 3, 5, 16, 63, 64, 65, 100, 129, 1000, 4096, MaxCapacity} {
		if capacity == MaxCapacity && rings.RaceEnabled && testing.Short() {
			continue
		}
		for _, inactive := range []bool{true, false} {
			a, d := newDouble[numbered](t, Options{Capacity: capacity, Full: Reject, Inactive: inactive})
			ctx := context.Background()
			for i := range capacity {
				if err := a.Tell(ctx, numbered{Number: uint32(i)}, Priority(i%256)); err != nil {
					t.Fatalf("capacity %d, inactive %v: message %d: %v", capacity, inactive, i, err)
				}
			}
			for p := range 256 {
				if err := a.Tell(ctx, numbered{}, Priority(p)); !errors.Is(err, ErrQueueFull) {
					t.Fatalf("capacity %d, inactive %v: one more of priority %d: %v, want ErrQueueFull", capacity, inactive, p, err)
				}
			}
			if i := a.Info(); i.Queued != uint64(capacity) || i.Accepted != i.Queued || i.Rejected != 256 {
				t.Errorf("capacity %d, inactive %v: %+v", capacity, inactive, i)
			}
			if inactive {
				a.core.setState(Active)
				a.core.refill()
			}
			if d.step(1) != 1 {
				t.Fatalf("capacity %d, inactive %v: nothing to handle", capacity, inactive)
			}
			if err := a.Tell(ctx, numbered{}); err != nil {
				t.Errorf("capacity %d, inactive %v: after one was handled: %v", capacity, inactive, err)
			}
			if err := a.Tell(ctx, numbered{}); !errors.Is(err, ErrQueueFull) {
				t.Errorf("capacity %d, inactive %v: full again: %v, want ErrQueueFull", capacity, inactive, err)
			}
			a.core.setState(Deactivated)
		}
	}
}

func TestQueuesKeepExactOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		a, d := newDouble[numbered](t, Options{Capacity: 4096, Inactive: true})
		ctx := context.Background()
		var want []numbered
		for i := range uint32(3000) {
			p := uint32(rng.IntN(256))
			if rng.IntN(3) == 0 {
				p = 128
			}
			msg := numbered{i, p}
			if err := a.Tell(ctx, msg, Priority(int(p))); err != nil {
				t.Fatal(err)
			}
			want = append(want, msg)
		}
		slices.SortStableFunc(want, func(x, y numbered) int { return int(y.Priority) - int(x.Priority) })
		var got []numbered
		d.handle = func(_ int, _ uint64, in, out []uint32) uint32 {
			got = append(got, numbered{in[0], in[1]})
			return uint32(kernel.Done)
		}
		// No other goroutine moves messages, so the test is deterministic.
		a.core.moving.Store(true)
		a.core.setState(Active)
		for len(got) < len(want) {
			a.core.refill()
			if d.step(1+rng.IntN(20)) == 0 {
				t.Fatalf("nothing to handle after %d messages", len(got))
			}
		}
		if !slices.Equal(got, want) {
			t.Fatal("messages were handled in another order")
		}
	}
}

func TestMessagesOfOnePriorityStayInOrder(t *testing.T) {
	a, d := newDouble[numbered](t, Options{Capacity: 300})
	var next [256]uint32
	d.handle = func(_ int, _ uint64, in, out []uint32) uint32 {
		if p := in[1]; in[0] != next[p] {
			t.Errorf("priority %d: message %d, want %d", p, in[0], next[p])
		}
		next[in[1]]++
		return uint32(kernel.Done)
	}
	d.run(t)
	ctx := context.Background()
	var senders sync.WaitGroup
	const each = 3000
	for s := range 4 {
		senders.Go(func() {
			priorities := []int{64*s + 1, 64*s + 2, 64*s + 40}
			for i := range each {
				for _, p := range priorities {
					if err := a.Tell(ctx, numbered{uint32(i), uint32(p)}, Priority(p)); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	senders.Wait()
	for a.core.queued() > 0 {
		runtime.Gosched()
	}
	if i := a.Info(); i.Handled != 4*3*each || i.Accepted != i.Handled {
		t.Errorf("%+v, want %d messages handled", i, 4*3*each)
	}
}

func TestDropOldest(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	a, d := newDouble[numbered](t, Options{Capacity: 50, Full: DropOldest, Inactive: true})
	ctx := context.Background()
	var kept, dropped []numbered
	for i := range uint32(500) {
		msg := numbered{i, uint32(rng.IntN(8) * 30)}
		err := a.Send(ctx, msg, Priority(int(msg.Priority)), Correlation(uint64(i)))
		if len(kept) < 50 {
			kept = append(kept, msg)
		} else {
			lowest := 0
			for k, m := range kept {
				if m.Priority < kept[lowest].Priority {
					lowest = k
				}
			}
			if msg.Priority < kept[lowest].Priority {
				if !errors.Is(err, ErrDropped) {
					t.Fatalf("message %d has the lowest priority: %v, want ErrDropped", i, err)
				}
				dropped = append(dropped, msg)
				continue
			}
			dropped = append(dropped, kept[lowest])
			kept = append(slices.Delete(kept, lowest, lowest+1), msg)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	letters := a.core.rt.DeadLetters()
	if n := letters.Count(ReasonDropped); n != uint64(len(dropped)) {
		t.Errorf("%d letters, want %d", n, len(dropped))
	}
	if n := letters.Overflow(); n != uint64(len(dropped)-16) {
		t.Errorf("%d letters were not kept, want %d", n, len(dropped)-16)
	}
	last := dropped[len(dropped)-16:]
	ids := map[uint64]bool{}
	for l := range letters.All() {
		want := last[0]
		last = last[1:]
		if l.Body != want || l.Priority != int(want.Priority) || l.Correlation != uint64(want.Number) || l.Reason != ReasonDropped || !errors.Is(l.Err, ErrDropped) || l.Actor != a.Name() || l.Time.IsZero() || ids[l.ID] {
			t.Errorf("%+v, want message %+v", l, want)
		}
		ids[l.ID] = true
	}
	if len(last) != 0 || letters.Len() != 0 {
		t.Errorf("%d letters are missing, %d are left", len(last), letters.Len())
	}
	slices.SortStableFunc(kept, func(x, y numbered) int { return int(y.Priority) - int(x.Priority) })
	var got []numbered
	d.handle = func(_ int, _ uint64, in, out []uint32) uint32 {
		got = append(got, numbered{in[0], in[1]})
		return uint32(kernel.Done)
	}
	a.core.moving.Store(true)
	a.core.setState(Active)
	for a.core.refill(); d.step(1) > 0; a.core.refill() {
	}
	if !slices.Equal(got, kept) {
		t.Errorf("handled %v, want %v", got, kept)
	}
	if i := a.Info(); i.Dropped != uint64(len(dropped)) || i.Handled != 50 || i.Accepted != 500 || i.DeadLetters != i.Dropped {
		t.Errorf("%+v", i)
	}
}

func TestAskOfAMessageThatIsDropped(t *testing.T) {
	a, _ := newDouble[numbered](t, Options{Capacity: 1, Full: DropOldest, Inactive: true})
	ctx := context.Background()
	first, err := asks(ctx, a, numbered{Number: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Send(ctx, numbered{Number: 2}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.collect(ctx, first); !errors.Is(err, ErrDropped) {
		t.Errorf("%v, want ErrDropped", err)
	}
	if _, err := a.Ask(ctx, numbered{Number: 3}, Priority(1)); !errors.Is(err, ErrDropped) {
		t.Errorf("a lower priority: %v, want ErrDropped", err)
	}
}

// Errors name the call and the actor.
func TestErrorsNameTheCallAndTheActor(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	ctx := context.Background()
	inactive := func() *Actor[numbered, numbered] {
		a, _ := newDouble[numbered](t, Options{Name: "slow", Capacity: 1, Inactive: true})
		return a
	}
	full := inactive()
	if err := full.Tell(ctx, numbered{}); err != nil {
		t.Fatal(err)
	}
	past := Deadline(time.Now().Add(-time.Second))
	for _, c := range []struct {
		op   string
		is   error
		call func() error
	}{
		{"ask", ErrExpired, func() error { _, err := inactive().Ask(ctx, numbered{}, TTL(time.Millisecond)); return err }},
		{"ask", ErrExpired, func() error { _, err := inactive().Ask(ctx, numbered{}, past); return err }},
		{"send", ErrExpired, func() error { _, err := inactive().SendBatch(ctx, make([]numbered, 2), past); return err }},
		{"tell", ErrExpired, func() error { return full.Tell(ctx, numbered{}, TTL(time.Millisecond)) }},
		{"ask", context.Canceled, func() error { _, err := inactive().Ask(cancelled, numbered{}); return err }},
		{"send", context.Canceled, func() error { return full.Send(cancelled, numbered{}) }},
		{"receive", context.Canceled, func() error { _, err := inactive().Receive(cancelled); return err }},
	} {
		if err := c.call(); !errors.Is(err, c.is) || err.Error() != "ring: "+c.op+": actor slow: "+c.is.Error() {
			t.Errorf("%s: %v, want %v with the call and the actor", c.op, err, c.is)
		}
	}
}

func TestDeadlinesInRings(t *testing.T) {
	const unit = 1 << mail.DeadlineShift
	for _, now := range []int64{1 << 20, 1 << 42, 1<<42 + 1<<30} {
		for _, ago := range []int64{unit, int64(time.Second), int64(20 * time.Minute)} {
			e := envelope{deadline: now - ago}
			if e.deadline <= 0 {
				continue
			}
			if got := deadlineOf(deadlineWord(e.deadline, e.deadline-1), now); got > e.deadline || got <= e.deadline-unit {
				t.Errorf("now %d: a deadline at %d is read as %d", now, e.deadline, got)
			}
		}
		if got := deadlineOf(0, now); got != 0 {
			t.Errorf("now %d: no deadline is read as %d", now, got)
		}
	}
}

func TestMessagesExpireInTheQueue(t *testing.T) {
	a, d := newDouble[numbered](t, Options{Capacity: 3, Full: Reject, Inactive: true})
	ctx := context.Background()
	if _, err := a.Ask(ctx, numbered{Number: 1}, TTL(2*time.Millisecond)); !errors.Is(err, ErrExpired) {
		t.Errorf("Ask: %v, want ErrExpired", err)
	}
	for i := range uint32(2) {
		if err := a.Send(ctx, numbered{Number: 2 + i}, TTL(time.Millisecond), From(a)); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Send(ctx, numbered{Number: 4}, Deadline(time.Now().Add(time.Hour))); err != nil {
		t.Fatal(err)
	}
	letters := a.core.rt.DeadLetters()
	wait, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for i := range uint32(3) {
		l, err := letters.Receive(wait)
		if err != nil || l.Body != (numbered{Number: 1 + i}) || l.Reason != ReasonExpired || !errors.Is(l.Err, ErrExpired) {
			t.Errorf("letter %d: %+v, %v", i, l, err)
		}
		if want := a.Name(); i > 0 && l.Sender != want {
			t.Errorf("letter %d is from %q, want %q", i, l.Sender, want)
		}
	}
	for i := range uint32(2) { // there is room again
		if err := a.Send(ctx, numbered{Number: 5 + i}); err != nil {
			t.Error(err)
		}
	}
	if err := a.Send(ctx, numbered{}); !errors.Is(err, ErrQueueFull) {
		t.Errorf("%v, want ErrQueueFull", err)
	}
	a.core.setState(Active)
	a.core.refill()
	d.run(t)
	for i := range uint32(3) {
		r, err := a.ReceiveMessage(wait)
		if err != nil || r.Body.Number != 4+i+adds {
			t.Errorf("reply %d: %+v, %v", i, r, err)
		}
	}
	if i := a.Info(); i.Accepted != 6 || i.Expired != 3 || i.Handled != 3 {
		t.Errorf("%+v", i)
	}
}

func TestCancelledAsksLeaveTheirMessages(t *testing.T) {
	a, d := newDouble[numbered](t, Options{Inactive: true})
	giveUp := func(number uint32) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		if _, err := a.Ask(ctx, numbered{Number: number}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want DeadlineExceeded", err)
		}
	}
	for i := range uint32(5) {
		giveUp(i)
	}
	a.core.setState(Active)
	giveUp(5)
	n := uint32(0)
	d.handle = func(_ int, _ uint64, in, out []uint32) uint32 {
		if in[0] != n {
			t.Errorf("message %d, want %d", in[0], n)
		}
		n++
		return uint32(kernel.Reply)
	}
	d.run(t)
	for a.core.queued() > 0 {
		runtime.Gosched()
	}
	if i := a.Info(); n != 6 || i.Handled != 6 || i.Accepted != 6 {
		t.Errorf("%d messages, %+v; want 6", n, i)
	}
	if n := a.core.queue.Used(); n != 0 {
		t.Errorf("%d entries of the queue are in use", n)
	}
}

// In every case a message is either handled or a dead letter, exactly once.
func TestNothingIsLost(t *testing.T) {
	for _, policy := range []Policy{Block, Reject, DropOldest} {
		for _, capacity := range []int{1, 7, 100, 2000} {
			a, d := newDouble[numbered](t, Options{Capacity: capacity, Full: policy})
			a.core.rt.messages.letters.limit = 1 << 17
			var handled, expired atomic.Uint64
			seen := map[uint32]int{}
			d.handle = func(_ int, ticket uint64, in, out []uint32) uint32 {
				seen[in[0]]++
				copy(out, in)
				if in[0]%11 == 0 {
					expired.Add(1)
					return mail.Expired
				}
				handled.Add(1)
				if in[0]%7 == 0 {
					return uint32(kernel.Done)
				}
				return uint32(kernel.Reply)
			}
			d.run(t)
			var numbers atomic.Uint64
			ctx, cancel := context.WithCancel(context.Background())
			var senders, receiver sync.WaitGroup
			receiver.Go(func() {
				for m, err := range a.Messages(ctx) {
					if err != nil {
						return
					}
					if m.Body.Number%7 == 0 || m.Body.Number%11 == 0 {
						t.Errorf("message %d has a reply", m.Body.Number)
					}
				}
			})
			for s := range 6 {
				senders.Go(func() {
					rng := rand.New(rand.NewPCG(uint64(s), uint64(capacity)))
					for range 1000 {
						n := uint32(numbers.Add(1))
						msg, p := numbered{Number: n}, Priority(rng.IntN(256))
						var opts []MessageOption
						switch rng.IntN(3) {
						case 0:
							opts = append(opts, p)
						case 1:
							opts = append(opts, p, TTL(time.Duration(1+rng.IntN(2000))*time.Microsecond))
						}
						var err error
						switch rng.IntN(3) {
						case 0:
							one, stop := context.WithTimeout(ctx, time.Duration(50+rng.IntN(3000))*time.Microsecond)
							var r numbered
							r, err = a.Ask(one, msg, opts...)
							stop()
							if err == nil && r != msg {
								t.Errorf("message %d has the reply to %d", msg.Number, r.Number)
							}
						case 1:
							err = a.Send(ctx, msg, opts...)
						default:
							err = a.Tell(ctx, msg, opts...)
						}
						var state *StateError
						if errors.As(err, &state) {
							return
						}
					}
				})
			}
			if capacity == 100 { // it ends in the middle
				for handled.Load() < 500 {
					runtime.Gosched()
				}
				a.core.setState(Terminating)
				a.core.shut()
				a.core.setState(Terminated)
				d.held.Store(true)
				for d.busy.Load() {
					runtime.Gosched()
				}
				a.core.discard()
			}
			senders.Wait()
			for a.core.queued() > 0 {
				runtime.Gosched()
			}
			cancel()
			receiver.Wait()
			i := a.Info()
			name := []string{"Block", "Reject", "DropOldest"}[policy]
			if i.Queued != 0 || i.Handled != handled.Load() || i.Accepted != i.Handled+i.Expired+i.Dropped+i.Failed {
				t.Errorf("%s, capacity %d: %+v; %d were handled", name, capacity, i, handled.Load())
			}
			letters := a.core.rt.DeadLetters()
			if i.DeadLetters != i.Expired+i.Dropped || letters.Total() != i.DeadLetters || uint64(letters.Len()) != i.DeadLetters {
				t.Errorf("%s, capacity %d: %d letters, %+v", name, capacity, letters.Total(), i)
			}
			if i.Expired < expired.Load() {
				t.Errorf("%s, capacity %d: the actor let %d expire, %+v", name, capacity, expired.Load(), i)
			}
			ids := map[uint64]bool{}
			for l := range letters.All() {
				n := l.Body.(numbered).Number
				if l.Reason != ReasonExpired || n%11 != 0 {
					seen[n]++
				}
				if ids[l.ID] {
					t.Errorf("%s, capacity %d: two letters have the id %d", name, capacity, l.ID)
				}
				ids[l.ID] = true
			}
			for n, times := range seen {
				if times != 1 && n%11 != 0 {
					t.Errorf("%s, capacity %d: message %d was handled or a letter %d times", name, capacity, n, times)
				}
			}
			if used := a.core.queue.Used(); used != 0 {
				t.Errorf("%s, capacity %d: %d entries of the queue are in use", name, capacity, used)
			}
		}
	}
}

func TestRepliesDoNotHoldUpMessages(t *testing.T) {
	for _, priority := range []int{DefaultPriority, MaxPriority} {
		a, d := newDouble[numbered](t, Options{Capacity: 3000})
		d.run(t)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		const n = 2500 // more than the rings hold
		for i := range uint32(n) {
			if err := a.Send(ctx, numbered{Number: i, Priority: 7}, Priority(priority)); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range []int{0, DefaultPriority, MaxPriority} {
			if r, err := a.Ask(ctx, numbered{Number: 100}, Priority(p)); err != nil || r.Number != 100+adds {
				t.Errorf("%+v, %v", r, err)
			}
		}
		for i := range uint32(n) {
			if r, err := a.ReceiveMessage(ctx); err != nil || r.Body != (numbered{i + adds, 7 + adds}) || r.Priority != priority {
				t.Fatalf("reply %d: %+v, %v", i, r, err)
			}
		}
		if n := a.core.stashed; n != 0 {
			t.Errorf("%d replies are stashed", n)
		}
	}
}

func TestFullQueuesSayThatRepliesWait(t *testing.T) {
	a, d := newDouble[numbered](t, Options{Capacity: 10, Full: Reject})
	a.core.moving.Store(true) // no other goroutine moves messages
	ctx := context.Background()
	const unheard = "at least 10 replies were not received"
	fill := func() (err error) {
		for range 1000 {
			if err = a.Send(ctx, numbered{}); err != nil {
				return err
			}
		}
		return nil
	}
	if err := fill(); !errors.Is(err, ErrQueueFull) || strings.Contains(err.Error(), unheard) {
		t.Errorf("before any was handled: %v, want an ErrQueueFull without a word of replies", err)
	}
	for more := true; more; {
		if err := fill(); !errors.Is(err, ErrQueueFull) {
			t.Fatalf("%v, want ErrQueueFull", err)
		}
		more = d.step(1000) > 0
	}
	if err := fill(); !errors.Is(err, ErrQueueFull) || !strings.Contains(err.Error(), unheard) {
		t.Errorf("with unreceived replies: %v, want an ErrQueueFull that says so", err)
	}
	if _, err := a.Receive(ctx); err != nil {
		t.Fatal(err)
	}
	a.core.refill()
	if d.step(1) != 1 {
		t.Error("after one was received: nothing to handle")
	}
	if err := a.Send(ctx, numbered{}); err != nil {
		t.Errorf("after one was received: %v", err)
	}
	a.core.setState(Deactivated)
}

func TestReceiveSleepsUntilAMessageIsSent(t *testing.T) {
	a, d := newDouble[numbered](t, Options{})
	d.run(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for i := range uint32(5) {
		got := make(chan numbered, 1)
		go func() {
			r, err := a.Receive(ctx)
			if err != nil {
				t.Error(err)
			}
			got <- r
		}()
		for a.core.parked.Load() == 0 {
			runtime.Gosched()
		}
		if err := a.Send(ctx, numbered{Number: i}); err != nil {
			t.Fatal(err)
		}
		if r := <-got; r.Number != i+adds {
			t.Errorf("reply %d: %+v", i, r)
		}
	}
}

func TestReceiveMessageReturnsTheMetadata(t *testing.T) {
	a, d := newDouble[numbered](t, Options{Name: "first", Inactive: true})
	ctx := context.Background()
	for i := range 30 {
		if err := a.Send(ctx, numbered{Number: uint32(i)}, Priority(200), Correlation(1<<40+uint64(i)), From(a)); err != nil {
			t.Fatal(err)
		}
	}
	a.core.setState(Active)
	a.core.refill()
	d.run(t)
	ids := map[uint64]bool{}
	for i := range 30 {
		m, err := a.ReceiveMessage(ctx)
		if err != nil || m.Body.Number != uint32(i+adds) || m.Priority != 200 || m.Correlation != 1<<40+uint64(i) || m.Sender != "first" || ids[m.ID] {
			t.Fatalf("%+v, %v", m, err)
		}
		ids[m.ID] = true
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	ctx := context.Background()
	for _, tt := range []struct {
		name string
		opts []MessageOption
	}{
		{"without options", nil},
		{"with options", []MessageOption{Priority(200), TTL(time.Hour), Correlation(7)}},
	} {
		a, d := newDouble[line](t, Options{Capacity: 2000})
		a.core.moving.Store(true) // starting a goroutine may allocate
		msgs, replies := make([]line, 1500), make([]line, 1500)
		rounds := func() {
			p, err := asks(ctx, a, line{}, tt.opts...)
			if err != nil {
				t.Fatal(err)
			}
			d.step(1)
			if _, err := a.collect(ctx, p); err != nil {
				t.Fatal(err)
			}
			if _, err := a.SendBatch(ctx, msgs, tt.opts...); err != nil {
				t.Fatal(err)
			}
			for n := 0; n < len(replies); {
				d.step(64)
				k, err := a.ReceiveBatch(ctx, replies[n:])
				if err != nil {
					t.Fatal(err)
				}
				n += k
			}
		}
		rounds() // the queue grows
		if n := testing.AllocsPerRun(5, rounds); n != 0 {
			t.Errorf("%s: %v allocations for 1501 messages", tt.name, n)
		}
	}
}

func TestLimitsOfTheConfiguration(t *testing.T) {
	for capacity := 1; capacity <= 3000; capacity++ {
		for _, full := range []Policy{Block, Reject, DropOldest} {
			o := Options{Capacity: capacity, Full: full}
			if err := o.normalise(); err != nil {
				t.Fatal(err)
			}
			n := o.slots()
			if n < 1 || n > capacity || n&(n-1) != 0 || o.sideSlots() > n || o.Batch > n {
				t.Fatalf("capacity %d: %d slots, %d at the side, a batch of %d", capacity, n, o.sideSlots(), o.Batch)
			}
			if capacity >= smallCapacity && full != DropOldest && !o.roomy() {
				t.Fatalf("capacity %d: the rings take more", capacity)
			}
		}
	}
}

// asks is the first half of Ask.
func asks[In, Out any](ctx context.Context, a *Actor[In, Out], msg In, opts ...MessageOption) (pending, error) {
	p, err := a.post(ctx, "ask", asked, &msg, opts)
	a.core.kick()
	return p, err
}
