package actors

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"quern.dev/kernel"
	"quern.dev/ring"
	"quern.dev/ring/actor"
)

// mailed is how many numbers, from 1, the actor "scatter" sends in tests of what
// becomes of messages that wait for an actor: fewer than its mailbox holds.
const mailed = 100

// mail has numbers sent to an actor.
func mail(t *testing.T, ctx context.Context, rt *ring.Runtime, to *ring.Actor[int64, int64]) {
	t.Helper()
	from := spawned(t, ctx, rt, SpawnScatter, ring.Options{Name: "scatter"})
	if n, err := from.Ask(ctx, Burst{To: to.Ref(), First: 1, Count: mailed}); err != nil || n != mailed {
		t.Fatalf("%d messages were sent, %v", n, err)
	}
}

// letters takes the dead letters, all of which are numbers that were sent to an
// actor once, and counts them by reason.
func letters(t *testing.T, rt *ring.Runtime, to string) (counts map[ring.Reason]int) {
	t.Helper()
	counts = map[ring.Reason]int{}
	seen, ids := map[int64]bool{}, map[uint64]bool{}
	for l := range rt.DeadLetters().All() {
		n, ok := l.Body.(int64)
		if !ok || n < 1 || n > mailed || seen[n] || ids[l.ID] || l.Actor != to || l.Sender != "scatter" || l.Err == nil {
			t.Errorf("%+v: want a number once, from scatter to %s", l, to)
		}
		seen[n], ids[l.ID] = true, true
		counts[l.Reason]++
	}
	return counts
}

// eachAndTheDouble runs a test on every device there is, and with resident actors of
// the double.
func eachAndTheDouble(t *testing.T, test func(t *testing.T, ctx context.Context, rt *ring.Runtime)) {
	each(t, test)
	t.Run("double", func(t *testing.T) {
		rt, _ := double(t, 32, ring.Config{})
		test(t, within(t, 10*time.Second), rt)
	})
}

func addsUp(t *testing.T, rt *ring.Runtime) {
	t.Helper()
	s := rt.Stats()
	if s.Accepted != s.Queued+s.Handled+s.Failed+s.Expired+s.Dropped || s.DeadLetters != rt.DeadLetters().Total() {
		t.Errorf("the account does not add up: %d dead letters, %+v", rt.DeadLetters().Total(), s)
	}
}

func TestMailOfActorsThatHaveEnded(t *testing.T) {
	for _, tt := range []struct {
		name string
		ends bool // before the runtime
		heir bool // an actor comes in its place
	}{
		{"before the runtime is closed", true, false},
		{"before another actor comes in their place", true, true},
		{"with the runtime", false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			eachAndTheDouble(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
				a := spawned(t, ctx, rt, SpawnSum, ring.Options{Name: "a", Inactive: true})
				mail(t, ctx, rt, a)
				if tt.ends {
					if _, err := a.Terminate(ctx); err != nil {
						t.Fatal(err)
					}
				}
				if tt.heir {
					heir := spawned(t, ctx, rt, SpawnSum, ring.Options{})
					if got, err := heir.Ask(ctx, 7); err != nil || got != 7 {
						t.Errorf("the actor in its place: %d, %v", got, err)
					}
					if n := rt.DeadLetters().Count(ring.ReasonTerminated); n != mailed {
						t.Errorf("%d dead letters, want %d", n, mailed)
					}
				}
				if err := rt.Close(); err != nil {
					t.Errorf("closed: %v", err)
				}
				if got := letters(t, rt, "a"); got[ring.ReasonTerminated] != mailed || len(got) != 1 {
					t.Errorf("dead letters %v, want all messages, of an actor that has terminated", got)
				}
				if i := a.Info(); i.Accepted != mailed || i.Dropped != mailed || i.DeadLetters != mailed || i.Handled != 0 || i.Queued != 0 {
					t.Errorf("%+v, want %d messages dropped", i, mailed)
				}
				addsUp(t, rt)
			})
		})
	}
}

func TestMailOfActorsThatFail(t *testing.T) {
	const flaw = 40
	for _, thread := range []int32{-1, 0, 20} {
		for _, decision := range []ring.Decision{ring.Leave, ring.Resume, ring.End} {
			name := map[ring.Decision]string{ring.Leave: "stays failed", ring.Resume: "goes on", ring.End: "ends"}[decision]
			t.Run(fmt.Sprintf("in thread %d and the actor %s", thread, name), func(t *testing.T) {
				eachAndTheDouble(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
					a := spawned(t, ctx, rt, SpawnFlawed, ring.Options{Name: "a", Inactive: true, State: Flaw{Number: flaw, Thread: thread},
						Supervisor: func(ring.Failure) ring.Decision { return decision }})
					mail(t, ctx, rt, a)
					if err := a.Activate(); err != nil {
						t.Fatal(err)
					}
					l, err := rt.DeadLetters().Receive(ctx)
					var handler *ring.HandlerError
					if err != nil || l.Reason != ring.ReasonFailed || l.Body != int64(flaw) || !errors.As(l.Err, &handler) || handler.Actor != "a" || l.Sender != "scatter" {
						t.Fatalf("%+v, %v; want the message that the handler failed on", l, err)
					}
					asked := uint64(0)
					if decision == ring.Resume {
						for a.State() == ring.Failed {
							if ctx.Err() != nil {
								t.Fatal("the actor stays failed")
							}
						}
						for got, want := int64(0), int64(mailed*(mailed+1)/2-flaw); got != want; asked++ {
							if got, err = a.Ask(ctx, 0); err != nil || got > want {
								t.Fatalf("the sum of the other messages is %d, %v; want %d", got, err, want)
							}
						}
					}
					if err := rt.Close(); err != nil {
						t.Errorf("closed: %v", err)
					}
					i, got := a.Info(), letters(t, rt, "a")
					if ended := uint64(got[ring.ReasonTerminated]); i.Accepted != mailed+asked || i.Failed != 1 || i.Handled+ended+1 != i.Accepted || i.Dropped != ended || decision == ring.Resume && ended > 0 {
						t.Errorf("%+v, dead letters %v; want each message handled or a letter", i, got)
					}
					addsUp(t, rt)
				})
			})
		}
	}
}

// TestTerminatedActorsHandleWhatOthersHaveSent ends actors that have only messages of
// other actors: an actor, and a host actor whose queue is full.
func TestTerminatedActorsHandleWhatOthersHaveSent(t *testing.T) {
	test := func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		for range 5 {
			a := spawned(t, ctx, rt, SpawnSum, ring.Options{Name: "a"})
			from := spawned(t, ctx, rt, SpawnScatter, ring.Options{Name: "scatter"})
			if n, err := from.Ask(ctx, Burst{To: a.Ref(), First: 1, Count: mailed}); err != nil || n != mailed {
				t.Fatalf("%d messages were sent, %v", n, err)
			}
			f, err := a.Terminate(ctx)
			if i := a.Info(); err != nil || i.Handled != mailed || i.Dropped != 0 || f.DeadLettered != 0 || f.Dropped != 0 || f.Drained > mailed {
				t.Fatalf("%+v, %v, %+v; want %d messages handled", f, err, i, mailed)
			}
			if _, err := from.Terminate(ctx); err != nil {
				t.Fatal(err)
			}
		}
		addsUp(t, rt)
	}
	each(t, test)
	t.Run("double", func(t *testing.T) {
		if slowness > 1 {
			t.Skip("the host copies memory of the double while actors write it, as it may that of a GPU; the race detector sees it")
		}
		rt, _ := double(t, 32, ring.Config{})
		test(t, within(t, 10*time.Second), rt)
	})
	t.Run("host", func(t *testing.T) {
		each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
			begin, sum := make(chan struct{}), int64(0)
			h, err := ring.SpawnHost(ctx, rt, func(_ context.Context, _ *ring.HostContext, in *int64, _ *int64) kernel.Action {
				<-begin
				sum += *in
				return kernel.Done
			}, ring.Options{Name: "host", Capacity: 4})
			if err != nil {
				t.Fatal(err)
			}
			mail(t, ctx, rt, h)
			if i := h.Info(); i.Accepted != mailed || i.Queued != mailed {
				t.Errorf("%+v, want %d messages queued", i, mailed)
			}
			time.AfterFunc(10*time.Millisecond, func() { close(begin) })
			f, err := h.Terminate(ctx)
			if i := h.Info(); err != nil || i.Handled != mailed || i.Dropped != 0 || f.DeadLettered != 0 || f.Dropped != 0 || sum != mailed*(mailed+1)/2 {
				t.Errorf("%+v, %v, %+v, a sum of %d; want %d messages handled", f, err, i, sum, mailed)
			}
			addsUp(t, rt)
		})
	})
}

// refusing sends numbers to an actor that has ended. Each thread of the sender tries once.
func refusing(t *testing.T, ctx context.Context, rt *ring.Runtime, to actor.Ref[int64]) {
	t.Helper()
	from := spawned(t, ctx, rt, SpawnScatter, ring.Options{})
	if n, err := from.Ask(ctx, Burst{To: to, Count: 32}); err != nil || n != -1 {
		t.Fatalf("%d messages were sent, %v, want -1", n, err)
	}
	if _, err := from.Terminate(ctx); err != nil {
		t.Fatal(err)
	}
}

func sinkOnHost(t *testing.T, ctx context.Context, rt *ring.Runtime) *ring.Actor[int64, int64] {
	t.Helper()
	a, err := ring.SpawnHost(ctx, rt, func(context.Context, *ring.HostContext, *int64, *int64) kernel.Action { return kernel.Done }, ring.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestRefusalsForHostActorsThatHaveEndedAreCounted(t *testing.T) {
	eachAndTheDouble(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		a := sinkOnHost(t, ctx, rt)
		ref := a.Ref()
		if _, err := a.Terminate(ctx); err != nil {
			t.Fatal(err)
		}
		refusing(t, ctx, rt, ref)
		if i, s := a.Info(), rt.Stats(); i.Refused != 32 || s.Refused != 32 {
			t.Errorf("%d refusals, %d of the runtime, want 32", i.Refused, s.Refused)
		}
		refusing(t, ctx, rt, ref)
		if err := rt.Close(); err != nil {
			t.Fatal(err)
		}
		if i, s := a.Info(), rt.Stats(); i.Refused != 64 || s.Refused != 64 {
			t.Errorf("after Close: %d refusals, %d of the runtime, want 64", i.Refused, s.Refused)
		}
	})
}

func TestHostActorsGetTheMailboxesOfThoseThatHaveEnded(t *testing.T) {
	eachAndTheDouble(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		const rounds = 5
		first := sinkOnHost(t, ctx, rt)
		old := first.Ref()
		mail(t, ctx, rt, first)
		until(t, ctx, func() bool { return first.Info().Handled == mailed })
		if _, err := first.Terminate(ctx); err != nil {
			t.Fatal(err)
		}
		refusing(t, ctx, rt, old)
		for range rounds {
			a := sinkOnHost(t, ctx, rt)
			if ref := a.Ref(); ref.Mailbox != old.Mailbox || ref.Actor == old.Actor {
				t.Fatalf("%+v follows %+v", ref, old)
			}
			if s, err := ring.Find[Burst, int32](rt, "scatter"); err != nil {
				t.Fatal(err)
			} else if _, err := s.Terminate(ctx); err != nil {
				t.Fatal(err)
			}
			mail(t, ctx, rt, a)
			refusing(t, ctx, rt, old)
			until(t, ctx, func() bool { return a.Info().Handled == mailed })
			if i := a.Info(); i.Accepted != mailed || i.Refused != 32 {
				t.Errorf("%d messages were accepted, and %d refused, want %d and 32", i.Accepted, i.Refused, mailed)
			}
			if _, err := a.Terminate(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if i, s := first.Info(), rt.Stats(); i.Refused != 32 || s.Refused != 32*(1+rounds) {
			t.Errorf("%d refusals for the first, %d of the runtime, want 32 and %d", i.Refused, s.Refused, 32*(1+rounds))
		}
		addsUp(t, rt)
	})
}

func TestActorsThatEndedWithoutARefRefuseMessages(t *testing.T) {
	eachAndTheDouble(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		terminated, stopped := spawned(t, ctx, rt, SpawnSum, ring.Options{}), spawned(t, ctx, rt, SpawnMutter, ring.Options{})
		if _, err := terminated.Terminate(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := stopped.Ask(ctx, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := stopped.Terminate(ctx); err != nil {
			t.Fatal(err)
		}
		for _, a := range []*ring.Actor[int64, int64]{terminated, stopped} {
			refusing(t, ctx, rt, a.Ref())
			if i := a.Info(); i.Refused != 32 || i.Accepted != i.Handled {
				t.Errorf("%+v, want 32 messages refused", i)
			}
		}
		host := sinkOnHost(t, ctx, rt)
		if _, err := host.Terminate(ctx); err != nil {
			t.Fatal(err)
		}
		if ref := host.Ref(); ref != (actor.Ref[int64]{}) {
			t.Errorf("a host actor that has ended gets the mailbox %+v", ref)
		}
		refusing(t, ctx, rt, actor.Ref[int64]{})
		addsUp(t, rt)
	})
}

func TestMailFromAnActorToItselfIsNotLost(t *testing.T) {
	eachAndTheDouble(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		a := spawned(t, ctx, rt, SpawnMutter, ring.Options{})
		if n, err := a.Ask(ctx, mailed); err != nil || n != mailed {
			t.Fatalf("%d messages, %v", n, err)
		}
		if err := rt.Close(); err != nil {
			t.Fatal(err)
		}
		if i, n := a.Info(), rt.DeadLetters().Count(ring.ReasonTerminated); n != mailed || i.Accepted != mailed+1 || i.Dropped != mailed || i.Handled != 1 {
			t.Errorf("%d dead letters, %+v, want %d", n, i, mailed)
		}
		addsUp(t, rt)
	})
}
