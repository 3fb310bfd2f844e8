package actors

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/kernel"
	"quern.dev/ring"
)

func TestConcurrentAsksOfManyCallers(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		actors, callers := 100, fewer(10_000, 3000)
		if rt.Device().Backend() == gpu.Sim { // a message takes fifty times as long
			actors, callers = 20, 500
		}
		var list []*ring.Actor[Message, Message]
		for range actors {
			a, err := SpawnEcho(ctx, rt, ring.Options{Capacity: 37})
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, a)
		}
		var all sync.WaitGroup
		for i := range uint32(callers) {
			all.Go(func() {
				r, err := list[int(i)%actors].Ask(ctx, Message{[16]uint32{i, 15: ^i}}, ring.Priority(int(i)%256))
				if err != nil || r.Words[0] != i+1 || r.Words[15] != ^i+1 {
					t.Errorf("caller %d: %x, %v", i, r.Words, err)
				}
			})
		}
		all.Wait()
		handled := uint64(0)
		for i := range rt.Actors() {
			if i.Queued != 0 || i.Handled != i.Accepted {
				t.Errorf("%+v, want all messages handled", i)
			}
			handled += i.Handled
		}
		if handled != uint64(callers) {
			t.Errorf("%d messages were handled, want %d", handled, callers)
		}
	})
}

func TestQueuesLargerThanTheRings(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		n := 5000
		if rt.Device().Backend() == gpu.Sim {
			n = 1500
		}
		a, err := SpawnEcho(ctx, rt, ring.Options{Capacity: n, Full: ring.Reject, Inactive: true})
		if err != nil {
			t.Fatal(err)
		}
		msgs := make([]Message, n+1)
		for i := range msgs {
			msgs[i].Words[0] = uint32(i)
		}
		if sent, err := a.SendBatch(ctx, msgs); sent != n || !errors.Is(err, ring.ErrQueueFull) {
			t.Fatalf("%d messages, %v; want %d and ErrQueueFull", sent, err, n)
		}
		if err := a.Activate(); err != nil {
			t.Fatal(err)
		}
		for i := range uint32(n) {
			if r, err := a.Receive(ctx); err != nil || r.Words[0] != i+1 {
				t.Fatalf("reply %d: %d, %v", i, r.Words[0], err)
			}
		}
	})
}

func TestMessagesThatNobodyWaitsForLeaveTheQueue(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		a, err := SpawnAccumulate(ctx, rt, ring.Options{Capacity: 3000})
		if err != nil {
			t.Fatal(err)
		}
		n := fewer(2000, 1200) // more than the rings take, still
		for range n {
			if err := a.Tell(ctx, Sample{Value: 1, Kind: Quiet}); err != nil {
				t.Fatal(err)
			}
		}
		f, err := a.Terminate(ctx)
		if i := a.Info(); err != nil || f.DeadLettered+f.Dropped != 0 || i.Handled != uint64(n) {
			t.Errorf("%+v, %v, %+v; want %d messages handled", f, err, i, n)
		}
	})
}

func TestRepliesTellWhatWasSent(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		from, err := SpawnFirstOf(ctx, rt, ring.Options{Name: "from"})
		if err != nil {
			t.Fatal(err)
		}
		a, err := SpawnAccumulate(ctx, rt, ring.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			if err := a.Send(ctx, Sample{Value: int16(i)}, ring.Priority(i), ring.Correlation(1<<63|uint64(i)), ring.From(from), ring.TTL(time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		ids, count := map[uint64]bool{}, 0
		for m, err := range a.Messages(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			value := m.Body.Last[0]
			if m.Correlation != 1<<63|uint64(value) || m.Priority != int(value) || m.Sender != "from" || ids[m.ID] {
				t.Errorf("%+v", m)
			}
			ids[m.ID] = true
			if count++; count == 100 {
				break
			}
		}
	})
}

func TestActorsDoNotHandleMessagesThatHaveExpired(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		a, err := SpawnAccumulate(ctx, rt, ring.Options{})
		if err != nil {
			t.Fatal(err)
		}
		// They lie in the ring of an actor that is held.
		if err := rt.Quiesce("test"); err != nil {
			t.Fatal(err)
		}
		for i := range int16(3) {
			if err := a.Send(ctx, Sample{Value: 1 + i}, ring.TTL(time.Millisecond), ring.Correlation(uint64(i))); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Send(ctx, Sample{Value: 100}, ring.Deadline(time.Now().Add(time.Hour))); err != nil {
			t.Fatal(err)
		}
		for begin := time.Now(); time.Since(begin) < 3*time.Millisecond; {
		}
		if err := rt.Resume(); err != nil {
			t.Fatal(err)
		}
		if r, err := a.Receive(ctx); err != nil || r.Sum != 100 || r.Count != 1 {
			t.Errorf("%+v, %v; want the reply to the last message alone", r, err)
		}
		for i := range uint64(3) {
			l, err := rt.DeadLetters().Receive(ctx)
			if err != nil || l.Reason != ring.ReasonExpired || l.Correlation != i || l.Body != (Sample{Value: int16(1 + i)}) {
				t.Errorf("letter %d: %+v, %v", i, l, err)
			}
		}
		if i := a.Info(); i.Expired != 3 || i.Handled != 1 || i.Accepted != 4 {
			t.Errorf("%+v", i)
		}
	})
}

func TestDeadLettersOfActorsThatFailAndEnd(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		a, err := SpawnAccumulate(ctx, rt, ring.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var handler *ring.HandlerError
		if _, err := a.Ask(ctx, Sample{Value: 5, Kind: Crash}, ring.Correlation(77)); !errors.As(err, &handler) {
			t.Fatalf("%v, want a HandlerError", err)
		}
		l, err := rt.DeadLetters().Receive(ctx)
		if err != nil || l.Reason != ring.ReasonFailed || !errors.As(l.Err, &handler) || l.Correlation != 77 || l.Body != (Sample{Value: 5, Kind: Crash}) {
			t.Errorf("%+v, %v; want the message that the handler failed on", l, err)
		}
		if err := a.Restart(false); err != nil {
			t.Fatal(err)
		}
		if err := a.Deactivate(); err != nil {
			t.Fatal(err)
		}
		answers := make(chan error, 1)
		for i := range int16(5) {
			if i == 3 {
				go func() {
					_, err := a.Ask(ctx, Sample{Value: 3})
					answers <- err
				}()
				for a.Info().Queued != 4 {
					if ctx.Err() != nil {
						t.Fatal("the message does not come")
					}
				}
				continue
			}
			if err := a.Send(ctx, Sample{Value: i}); err != nil {
				t.Fatal(err)
			}
		}
		f, err := a.Terminate(ctx)
		if err != nil || f.DeadLettered != 5 || f.Drained != 0 {
			t.Errorf("%+v, %v; want 5 dead letters", f, err)
		}
		var state *ring.StateError
		if err := <-answers; !errors.As(err, &state) || state.State != ring.Terminated {
			t.Errorf("%v, want a StateError", err)
		}
		n := int16(0)
		for l := range rt.DeadLetters().All() {
			if l.Reason != ring.ReasonTerminated || l.Err == nil || l.Body != (Sample{Value: n}) {
				t.Errorf("letter %d: %+v", n, l)
			}
			n++
		}
		if n != 5 {
			t.Errorf("%d letters, want 5", n)
		}
	})
}

func TestFullQueuesDropTheirOldest(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		a, err := SpawnAccumulate(ctx, rt, ring.Options{Capacity: 4, Full: ring.DropOldest, Inactive: true})
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range []int{128, 7, 128, 7, 200, 128} {
			if err := a.Send(ctx, Sample{Value: int16(i)}, ring.Priority(p)); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Send(ctx, Sample{Value: 6}, ring.Priority(8)); !errors.Is(err, ring.ErrDropped) {
			t.Errorf("the lowest priority: %v, want ErrDropped", err)
		}
		if err := a.Send(ctx, Sample{Value: 7}, ring.Priority(128)); err != nil {
			t.Error(err)
		}
		dropped := ""
		for l := range rt.DeadLetters().All() {
			dropped += fmt.Sprint(l.Body.(Sample).Value, l.Reason, " ")
		}
		if want := "1 dropped 3 dropped 6 dropped 0 dropped "; dropped != want {
			t.Errorf("dropped %s, want %s", dropped, want)
		}
		if err := a.Activate(); err != nil {
			t.Fatal(err)
		}
		for i, want := range []uint8{4, 2, 5, 7} {
			if r, err := a.Receive(ctx); err != nil || r.Last[0] != want {
				t.Errorf("message %d: %+v, %v; want value %d", i, r, err, want)
			}
		}
	})
}

// TestSendersMayKnowTheIDOfAMessage: replies, dead letters and handlers have the same.
func TestSendersMayKnowTheIDOfAMessage(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		a := spawned(t, ctx, rt, SpawnEcho, ring.Options{Inactive: true, Capacity: 64})
		seen := map[uint64]bool{}
		var ids [12]uint64
		var told uint64
		if err := a.Tell(ctx, Message{}, ring.ID(&told), ring.TTL(time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Millisecond)
		for i := range ids {
			if i == 5 { // in the queue before that, in the rings after it
				if err := a.Activate(); err != nil {
					t.Fatal(err)
				}
			}
			if err := a.Send(ctx, Message{[16]uint32{uint32(i)}}, ring.ID(&ids[i])); err != nil {
				t.Fatal(err)
			}
			if ids[i] == 0 || seen[ids[i]] {
				t.Errorf("message %d has the ID %d", i, ids[i])
			}
			seen[ids[i]] = true
			if err := a.Tell(ctx, Message{}); err != nil { // without one
				t.Fatal(err)
			}
			if i >= 5 {
				m, err := a.ReceiveMessage(ctx)
				if err != nil || m.ID != ids[m.Body.Words[0]-1] {
					t.Fatalf("%+v, %v; want the ID %d", m, err, ids[m.Body.Words[0]-1])
				}
			}
		}
		for range 5 {
			if m, err := a.ReceiveMessage(ctx); err != nil || m.ID != ids[m.Body.Words[0]-1] {
				t.Fatalf("%+v, %v", m, err)
			}
		}
		if err := a.Send(ctx, Message{}); err != nil {
			t.Fatal(err)
		}
		if m, err := a.ReceiveMessage(ctx); err != nil || m.ID == 0 || seen[m.ID] {
			t.Errorf("a message whose sender did not ask has the ID %d, %v", m.ID, err)
		}
		if l, err := rt.DeadLetters().Receive(ctx); err != nil || l.ID != told || l.Reason != ring.ReasonExpired {
			t.Errorf("%+v, %v; want the ID %d", l, err, told)
		}
		var one uint64
		if _, err := a.SendBatch(ctx, make([]Message, 2), ring.ID(&one)); !errors.Is(err, ring.ErrInvalid) {
			t.Errorf("a batch: %v", err)
		}
		if err := a.Tell(ctx, Message{}, ring.ID(nil)); !errors.Is(err, ring.ErrInvalid) {
			t.Errorf("without a place: %v", err)
		}
	})
}

func TestHandlersInGoKnowTheIDThatTheSenderKnows(t *testing.T) {
	rt := open(t, gpu.CPU)
	ctx := within(t, 10*time.Second)
	a, err := ring.SpawnHost(ctx, rt, func(_ context.Context, c *ring.HostContext, _ *int, out *uint64) kernel.Action {
		*out = c.ID()
		return kernel.Reply
	}, ring.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		var id uint64
		if got, err := a.Ask(ctx, 1, ring.ID(&id)); err != nil || got != id || id == 0 {
			t.Fatalf("the handler has the ID %d, the sender %d, %v", got, id, err)
		}
		if got, err := a.Ask(ctx, 1); err != nil || got == id {
			t.Fatalf("another message has the ID %d, too, %v", got, err)
		}
	}
}
