package ring_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/internal/conformance/routing"
	"quern.dev/kernel"
	"quern.dev/ring"
)

// command is a message of the tests' actor.
type command int

const (
	count command = iota // reply with the count so far
	crash
	wait // for the gate
)

// subject is an actor, and the gate that its handler waits for.
type subject struct {
	*ring.Actor[command, int]
	begun, gate chan bool
	open        func()
}

func newSubject(t *testing.T, rt *ring.Runtime, o ring.Options) *subject {
	s := &subject{begun: make(chan bool, 1), gate: make(chan bool)}
	s.open = sync.OnceFunc(func() { close(s.gate) })
	n := 0
	s.Actor = spawn(t, rt, o, func(_ context.Context, _ *ring.HostContext, in *command, out *int) kernel.Action {
		switch *in {
		case crash:
			panic("asked to")
		case wait:
			s.begun <- true
			<-s.gate
		}
		n++
		*out = n
		return kernel.Reply
	})
	return s
}

// in puts a new actor into a state.
func (s place) in(t *testing.T, ctx context.Context, rt *ring.Runtime) *subject {
	a := newSubject(t, rt, ring.Options{Inactive: s.state == ring.Launched, MaxRestarts: 1})
	do := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	switch s.state {
	case ring.Deactivated:
		do(a.Deactivate())
	case ring.Terminating:
		do(a.Tell(ctx, wait))
		<-a.begun
		go a.Terminate(ctx)
		for a.State() != ring.Terminating {
			do(ctx.Err())
		}
	case ring.Terminated:
		_, err := a.Terminate(ctx)
		do(err)
	case ring.Failed:
		if _, err := a.Ask(ctx, crash); err == nil {
			t.Fatal("the handler did not fail")
		}
	}
	if a.State() != s.state {
		t.Fatalf("the actor is %v, want %v", a.State(), s.state)
	}
	return a
}

type place struct{ state ring.State }

func TestOperationsInEveryState(t *testing.T) {
	type outcome int
	const (
		ok outcome = iota
		denied
		waits // until its context is cancelled
	)
	states := []ring.State{ring.Launched, ring.Active, ring.Deactivated, ring.Terminating, ring.Terminated, ring.Failed}
	all := func(o outcome) map[ring.State]outcome {
		m := map[ring.State]outcome{}
		for _, s := range states {
			m[s] = o
		}
		return m
	}
	only := func(allowed ...ring.State) map[ring.State]outcome {
		m := all(denied)
		for _, s := range allowed {
			m[s] = ok
		}
		return m
	}
	asks := only(ring.Active)
	asks[ring.Launched], asks[ring.Deactivated] = waits, waits
	receives := all(waits)
	receives[ring.Terminated], receives[ring.Failed] = denied, denied
	for _, tt := range []struct {
		name, op string
		do       func(context.Context, *subject) error
		want     map[ring.State]outcome
	}{
		{"Ask", "ask", func(ctx context.Context, a *subject) error { _, err := a.Ask(ctx, count); return err }, asks},
		{"Send", "send", func(ctx context.Context, a *subject) error { return a.Send(ctx, count) }, only(ring.Launched, ring.Active, ring.Deactivated)},
		{"Tell", "tell", func(ctx context.Context, a *subject) error { return a.Tell(ctx, count) }, only(ring.Launched, ring.Active, ring.Deactivated)},
		{"SendBatch", "send", func(ctx context.Context, a *subject) error {
			_, err := a.SendBatch(ctx, []command{count, count})
			return err
		}, only(ring.Launched, ring.Active, ring.Deactivated)},
		{"Receive", "receive", func(ctx context.Context, a *subject) error { _, err := a.Receive(ctx); return err }, receives},
		{"Activate", "activate", func(_ context.Context, a *subject) error { return a.Activate() }, only(ring.Launched, ring.Deactivated)},
		{"Deactivate", "deactivate", func(_ context.Context, a *subject) error { return a.Deactivate() }, only(ring.Active)},
		{"Restart with state", "restart", func(_ context.Context, a *subject) error { return a.Restart(false) }, only(ring.Failed)},
		{"Restart without", "restart", func(_ context.Context, a *subject) error { return a.Restart(true) }, only(ring.Failed)},
		{"Terminate", "terminate", func(ctx context.Context, a *subject) error { a.open(); _, err := a.Terminate(ctx); return err }, all(ok)},
		{"Info", "info", func(_ context.Context, a *subject) error {
			if i := a.Info(); i.State != a.State() {
				return fmt.Errorf("%+v", i)
			}
			return nil
		}, all(ok)},
	} {
		for _, s := range states {
			t.Run(fmt.Sprintf("%s of an actor that is %v", tt.name, s), func(t *testing.T) {
				rt, ctx := open(t, ring.Config{}), within(t)
				a := place{s}.in(t, ctx, rt)
				t.Cleanup(func() { a.Terminate(ctx) })
				t.Cleanup(a.open)
				short, cancel := ctx, context.CancelFunc(func() {})
				if tt.want[s] == waits {
					short, cancel = context.WithTimeout(ctx, 5*time.Millisecond)
				}
				defer cancel()
				err := tt.do(short, a)
				var state *ring.StateError
				switch want := tt.want[s]; {
				case want == ok && err != nil:
					t.Errorf("%v, want success", err)
				case want == waits && !errors.Is(err, context.DeadlineExceeded):
					t.Errorf("%v, want it to wait", err)
				case want == denied && (!errors.As(err, &state) || state.Actor != a.Name() || state.State != s || state.Op != tt.op):
					t.Errorf("%v, want a StateError", err)
				case want == denied && s == ring.Failed && state.Err == nil:
					t.Errorf("%v does not say why the actor has failed", err)
				}
			})
		}
	}
}

func TestTerminateAccountsForEveryMessage(t *testing.T) {
	for _, tt := range []struct {
		name        string
		state       ring.State
		letters     int // capacity for dead letters
		giveUpIfDue bool
		want        ring.Termination
	}{
		{"an active actor handles its messages", ring.Active, 100, true, ring.Termination{Drained: 20}},
		{"one that may not take its time has handled some", ring.Active, 100, false, ring.Termination{Drained: 1, DeadLettered: 19}},
		{"an inactive one handles none", ring.Launched, 100, true, ring.Termination{DeadLettered: 20}},
		{"nor does a deactivated one", ring.Deactivated, 100, true, ring.Termination{DeadLettered: 20}},
		{"there may be too little room for dead letters", ring.Deactivated, 8, true, ring.Termination{DeadLettered: 8, Dropped: 12}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt, ctx := open(t, ring.Config{DeadLetters: tt.letters}), within(t)
			a := newSubject(t, rt, ring.Options{Inactive: tt.state == ring.Launched})
			if tt.state == ring.Deactivated {
				if err := a.Deactivate(); err != nil {
					t.Fatal(err)
				}
			}
			for range 20 {
				if err := a.Tell(ctx, wait); err != nil {
					t.Fatal(err)
				}
			}
			limited := ctx
			if tt.giveUpIfDue {
				a.open()
				go func() {
					for range a.begun {
					}
				}()
				defer close(a.begun)
			} else {
				c, cancel := context.WithCancel(ctx)
				cancel()
				limited = c
				<-a.begun
				go func() {
					for a.State() == ring.Active {
						time.Sleep(time.Millisecond)
					}
					time.Sleep(10 * time.Millisecond) // until it has been asked to leave
					a.open()
					for range a.begun {
					}
				}()
				defer close(a.begun)
			}
			var terminations [3]ring.Termination
			var callers sync.WaitGroup
			for i := range terminations {
				callers.Go(func() {
					f, err := a.Terminate(limited)
					for errors.Is(err, context.Canceled) { // another call ends it
						f, err = a.Terminate(ctx)
					}
					if err != nil {
						t.Error(err)
					}
					terminations[i] = f
				})
			}
			callers.Wait()
			for _, f := range terminations {
				switch {
				case f == tt.want:
				case tt.state == ring.Active && tt.giveUpIfDue && f.Drained <= 20 && f.DeadLettered+f.Dropped == 0:
				case tt.state == ring.Active && !tt.giveUpIfDue && f.Drained >= 1 && f.Drained < 20 && f.Drained+f.DeadLettered == 20:
				default:
					t.Errorf("%+v, want %+v", f, tt.want)
				}
			}
			if n := rt.DeadLetters().Len(); n != terminations[0].DeadLettered {
				t.Errorf("%d dead letters, want %d", n, terminations[0].DeadLettered)
			}
		})
	}
}

func TestAsksOfActorsThatTerminateEnd(t *testing.T) {
	rt, ctx := open(t, ring.Config{}), within(t)
	a := newSubject(t, rt, ring.Options{Inactive: true})
	errs := make(chan error)
	for range 10 {
		go func() {
			_, err := a.Ask(ctx, count)
			errs <- err
		}()
	}
	for a.Info().Queued < 10 {
		if ctx.Err() != nil {
			t.Fatal("the messages do not arrive")
		}
	}
	if f, err := a.Terminate(ctx); err != nil || f.DeadLettered != 10 {
		t.Errorf("%+v, %v", f, err)
	}
	for range 10 {
		var state *ring.StateError
		if err := <-errs; !errors.As(err, &state) || state.State != ring.Terminated || state.Op != "ask" {
			t.Errorf("%v, want a StateError", err)
		}
	}
}

func TestMessagesThatAreSentWhileAnActorTerminatesAreNotLost(t *testing.T) {
	rt, ctx := open(t, ring.Config{DeadLetters: 1 << 16}), within(t)
	for range 50 {
		handled := 0
		a := spawn(t, rt, ring.Options{}, func(context.Context, *ring.HostContext, *int, *int) kernel.Action { handled++; return kernel.Done })
		before := rt.DeadLetters().Total()
		var senders sync.WaitGroup
		var sent [2]int
		for i := range sent {
			senders.Go(func() {
				for a.Tell(ctx, i) == nil {
					sent[i]++
				}
			})
		}
		for a.Info().Accepted < 100 {
			if ctx.Err() != nil {
				t.Fatal("no messages are accepted")
			}
		}
		now, cancel := context.WithCancel(ctx)
		cancel()
		f, err := a.Terminate(now)
		senders.Wait()
		letters := int(rt.DeadLetters().Total() - before)
		if err != nil || handled+letters != sent[0]+sent[1] || letters != f.DeadLettered+f.Dropped {
			t.Fatalf("sent %v, handled %d, %d dead letters; %+v, %v", sent, handled, letters, f, err)
		}
	}
}

func TestDeadLettersSayWhenItHappened(t *testing.T) {
	rt, ctx := open(t, ring.Config{}), within(t)
	idle := spawn(t, rt, ring.Options{Name: "idle", Inactive: true}, double)
	deadline := time.Now().Add(time.Millisecond)
	if err := idle.Tell(ctx, 1, ring.Deadline(deadline)); err != nil {
		t.Fatal(err)
	}
	a := newSubject(t, rt, ring.Options{Name: "failed"})
	if err := a.Tell(ctx, crash); err != nil {
		t.Fatal(err)
	}
	resumed := newSubject(t, rt, ring.Options{Name: "resumed", Supervisor: func(ring.Failure) ring.Decision { return ring.Resume }})
	if err := resumed.Tell(ctx, crash); err != nil {
		t.Fatal(err)
	}
	for (a.State() != ring.Failed || resumed.Info().Restarts == 0) && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	failed := time.Now()
	time.Sleep(50 * time.Millisecond) // before any check
	n := 0
	for l := range rt.DeadLetters().All() {
		n++
		if l.Actor == "idle" && l.Time.Sub(deadline).Abs() > time.Millisecond || l.Actor != "idle" && l.Time.After(failed) {
			t.Errorf("%+v, want the time of the deadline, %v, or before %v", l, deadline, failed)
		}
	}
	if n != 3 {
		t.Errorf("%d letters, want 3", n)
	}
}

func TestNamesOfTerminatedActorsAreFree(t *testing.T) {
	rt, ctx := open(t, ring.Config{}), within(t)
	for i := range 3 {
		a := spawn(t, rt, ring.Options{Name: "again"}, double)
		if found, err := ring.Find[int, int](rt, "again"); err != nil {
			t.Fatal(err)
		} else if r, err := found.Ask(ctx, i); err != nil || r != 2*i {
			t.Errorf("%d, %v", r, err)
		}
		if _, err := a.Terminate(ctx); err != nil {
			t.Fatal(err)
		}
		var unknown *ring.NameError
		if _, err := ring.Find[int, int](rt, "again"); !errors.As(err, &unknown) {
			t.Errorf("found after it has terminated: %v", err)
		}
		if _, err := rt.Lookup("again"); !errors.As(err, &unknown) {
			t.Errorf("looked up after it has terminated: %v", err)
		}
		if a.State() != ring.Terminated || a.Name() != "again" {
			t.Errorf("%s is %v", a.Name(), a.State())
		}
	}
	spawn(t, rt, ring.Options{Name: "beta"}, double)
	spawn(t, rt, ring.Options{Name: "alpha"}, double)
	var names []string
	for i := range rt.Actors() {
		names = append(names, i.Name)
	}
	if !slices.Equal(names, []string{"alpha", "beta"}) {
		t.Errorf("the actors are %q", names)
	}
}

func TestGeneratedNamesAreFree(t *testing.T) {
	rt := open(t, ring.Config{})
	for _, name := range []string{"a", "b", "tally-4"} { // the fourth actor would have this name
		spawn(t, rt, ring.Options{Name: name}, double)
	}
	a, err := routing.SpawnTally(within(t), rt, ring.Options{})
	if err != nil || a.Name() != "tally-5" {
		t.Errorf("%s, %v", a.Name(), err)
	}
	spawn(t, rt, ring.Options{Name: "host-6"}, double)
	spawn(t, rt, ring.Options{Name: "host-7"}, double)
	if b := spawn(t, rt, ring.Options{}, double); b.Name() != "host-8" {
		t.Error(b.Name())
	}
}

func TestCloseSaysWhatIsLeft(t *testing.T) {
	rt, ctx := openAlone(t, ring.Config{}), within(t)
	for i := range 3 {
		a := spawn(t, rt, ring.Options{Name: fmt.Sprintf("idle-%d", i), Inactive: true}, double)
		for range i {
			if err := a.Send(ctx, 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	asked := spawn(t, rt, ring.Options{Inactive: true}, double)
	answer := make(chan error)
	go func() {
		_, err := asked.Ask(ctx, 1)
		answer <- err
	}()
	for asked.Info().Queued == 0 {
		if ctx.Err() != nil {
			t.Fatal("the message does not arrive")
		}
	}
	closers := make(chan error, 3)
	for range 3 {
		go func() { closers <- rt.Close() }()
	}
	var left *ring.LeftError
	if err := errors.Join(<-closers, <-closers, <-closers); !errors.As(err, &left) || left.Messages != 4 || len(left.Actors) != 3 || !strings.Contains(err.Error(), "idle-2") {
		t.Errorf("%v, want 4 messages of 3 actors", err)
	}
	var state *ring.StateError
	if err := <-answer; !errors.As(err, &state) || state.State != ring.Terminated {
		t.Errorf("a waiting Ask: %v, want a StateError", err)
	}
	if _, err := ring.SpawnHost(ctx, rt, double, ring.Options{}); !errors.Is(err, ring.ErrClosed) {
		t.Errorf("spawned after it: %v, want ErrClosed", err)
	}
	if err := asked.Send(ctx, 1); !errors.As(err, &state) {
		t.Errorf("sent after it: %v, want a StateError", err)
	}
	for _, c := range []struct {
		name string
		call func() error
	}{
		{"spawn late", func() error {
			_, err := ring.SpawnHost(ctx, rt, double, ring.Options{Name: "late"})
			return err
		}},
		{"find actor \"late\"", func() error { _, err := ring.Find[int, int](rt, "late"); return err }},
		{"find actor \"gone\"", func() error { _, err := rt.Lookup("gone"); return err }},
		{"new group \"late\"", func() error { _, err := ring.NewGroup[int](rt, "late"); return err }},
		{"find group \"late\"", func() error { _, err := ring.FindGroup[int](rt, "late"); return err }},
		{"start a trace", func() error { _, err := rt.StartTrace(0); return err }},
		{"new payload", func() error { _, err := ring.NewPayload[int32](rt, 1); return err }},
	} {
		if err := c.call(); !errors.Is(err, ring.ErrClosed) || err.Error() != "ring: "+c.name+": the runtime is closed" {
			t.Errorf("%s after it: %v, want ErrClosed", c.name, err)
		}
	}
	if n := rt.DeadLetters().Total(); n != 4 {
		t.Errorf("%d dead letters, want 4", n)
	}
	if err := rt.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
}

func TestCloseIsSafeDuringAllOtherCalls(t *testing.T) {
	for range 20 {
		rt, ctx := openAlone(t, ring.Config{}), within(t)
		var users sync.WaitGroup
		for i := range 8 {
			a := spawn(t, rt, ring.Options{MaxRestarts: 1 << 20, Supervisor: func(ring.Failure) ring.Decision { return ring.Resume }}, func(ctx context.Context, c *ring.HostContext, in, out *int) kernel.Action {
				if *in%7 == 6 {
					panic(*in)
				}
				return double(ctx, c, in, out)
			})
			users.Go(func() {
				var state *ring.StateError
				for k := 0; a.State() != ring.Terminated; k++ {
					var err error
					switch (i + k) % 5 {
					case 0:
						_, err = a.Ask(ctx, k)
					case 1:
						err = a.Tell(ctx, k)
					case 2:
						err = a.Deactivate()
					case 3:
						err = a.Activate()
					case 4:
						short, cancel := context.WithTimeout(ctx, time.Microsecond)
						_, err = a.Ask(short, k)
						cancel()
					}
					var handler *ring.HandlerError
					if err != nil && !errors.As(err, &state) && !errors.As(err, &handler) && !errors.Is(err, ring.ErrClosed) && !errors.Is(err, context.DeadlineExceeded) {
						t.Error(err)
						return
					}
				}
			})
		}
		time.Sleep(time.Millisecond)
		var left *ring.LeftError
		if err := rt.Close(); err != nil && !errors.As(err, &left) {
			t.Error(err)
		}
		users.Wait()
	}
}

func TestCrashLoopsEnd(t *testing.T) {
	resume := func(ring.Failure) ring.Decision { return ring.Resume }
	for _, tt := range []struct {
		name            string
		own, whole      func(ring.Failure) ring.Decision
		most            int
		restarts        uint64
		state           ring.State
		note, escalated bool
	}{
		{"too many restarts are the runtime's case, which has no supervisor", resume, nil, 3, 3, ring.Failed, true, true},
		{"its supervisor may end the actor", resume, func(ring.Failure) ring.Decision { return ring.End }, 2, 2, ring.Terminated, false, true},
		{"or leave it", resume, func(ring.Failure) ring.Decision { return ring.Leave }, 1, 1, ring.Failed, false, true},
		{"an actor's supervisor may escalate at once", func(ring.Failure) ring.Decision { return ring.Escalate }, nil, 5, 0, ring.Failed, true, true},
		{"one that panics has not dealt with the failure", func(ring.Failure) ring.Decision { panic("no") }, nil, 5, 0, ring.Failed, true, true},
		{"without a supervisor of its own the runtime's decides", nil, func(ring.Failure) ring.Decision { return ring.End }, 5, 0, ring.Terminated, false, false},
		{"which may escalate", nil, func(ring.Failure) ring.Decision { return ring.Escalate }, 5, 0, ring.Failed, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var escalated []bool
			config := ring.Config{}
			if tt.whole != nil {
				config.Supervisor = func(f ring.Failure) ring.Decision {
					escalated = append(escalated, f.Escalated)
					return tt.whole(f)
				}
			}
			rt, ctx := openAlone(t, config), within(t)
			a := newSubject(t, rt, ring.Options{Name: "loop", Supervisor: tt.own, MaxRestarts: tt.most})
			for i := range tt.restarts + 1 {
				for a.Tell(ctx, crash) != nil { // until it has been restarted
					if ctx.Err() != nil {
						t.Fatal("the actor is not restarted")
					}
				}
				for a.Info().Failed <= i {
					if ctx.Err() != nil {
						t.Fatal("the actor does not fail")
					}
				}
			}
			for tt.state == ring.Terminated && a.State() != tt.state {
				if ctx.Err() != nil {
					t.Fatal("the actor does not end")
				}
			}
			err := rt.Close()
			var noted *ring.EscalationError
			if errors.As(err, &noted) != tt.note || tt.note && (noted.Failure.Actor != "loop" || noted.Failure.Escalated != tt.escalated || noted.Failure.Count != tt.restarts+1) {
				t.Errorf("closed: %v", err)
			}
			if i := a.Info(); i.Restarts != tt.restarts {
				t.Errorf("%d restarts, want %d", i.Restarts, tt.restarts)
			}
			if tt.whole != nil && !slices.Equal(escalated, []bool{tt.escalated}) {
				t.Errorf("the runtime's supervisor was called with Escalated %v", escalated)
			}
		})
	}
}

func TestSpawningAndTerminatingLeavesNothingBehind(t *testing.T) {
	rt, ctx := open(t, ring.Config{}), within(t)
	for i := range 2000 {
		a := spawn(t, rt, ring.Options{Capacity: 16}, double)
		if r, err := a.Ask(ctx, i); err != nil || r != 2*i {
			t.Fatal(r, err)
		}
		if _, err := a.Terminate(ctx); err != nil {
			t.Fatal(err)
		}
	}
	for i := range rt.Actors() {
		t.Errorf("%s is there", i.Name)
	}
}

func TestActorsThatStopWhileTheRuntimeIsClosed(t *testing.T) {
	rt, ctx := openAlone(t, ring.Config{}), within(t)
	begun := make(chan bool)
	a := spawn(t, rt, ring.Options{}, func(ctx context.Context, _ *ring.HostContext, _, _ *int) kernel.Action {
		begun <- true
		<-ctx.Done() // the runtime is being closed
		return kernel.Stop
	})
	if err := a.Tell(ctx, 1); err != nil {
		t.Fatal(err)
	}
	<-begun
	closed := make(chan error)
	go func() { closed <- rt.Close() }()
	select {
	case err := <-closed:
		if err != nil || a.State() != ring.Terminated {
			t.Errorf("closed: %v; the actor is %v", err, a.State())
		}
	case <-ctx.Done():
		t.Fatal("Close does not return")
	}
}

// TestHostActorsSpawnedDuringCloseEnd spawns host actors while their runtime is being
// closed. Those that are spawned in time end with it.
func TestHostActorsSpawnedDuringCloseEnd(t *testing.T) {
	dev, err := gpu.Open(gpu.Config{Require: gpu.CPU})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	for range 200 {
		rt, err := ring.New(dev, ring.Config{})
		if err != nil {
			t.Fatal(err)
		}
		var spawners sync.WaitGroup
		actors := make([]*ring.Actor[int, int], 4)
		for i := range actors {
			spawners.Go(func() {
				for {
					a, err := ring.SpawnHost(t.Context(), rt, double, ring.Options{})
					if err != nil {
						if !errors.Is(err, ring.ErrClosed) {
							t.Error(err)
						}
						return
					}
					actors[i] = a
				}
			})
		}
		time.Sleep(50 * time.Microsecond)
		if err := rt.Close(); err != nil {
			t.Fatal(err)
		}
		spawners.Wait()
		for _, a := range actors {
			if a != nil && a.State() != ring.Terminated {
				t.Fatalf("actor %s is %v after Close", a.Name(), a.State())
			}
		}
	}
}

func TestCloseWaitsForNobodyWhoSpawns(t *testing.T) {
	for _, supervises := range []bool{false, true} {
		for _, what := range []string{"spawn", "activate"} {
			rt, ctx := openAlone(t, ring.Config{}), within(t)
			other, err := routing.SpawnTally(ctx, rt, ring.Options{Inactive: true})
			if err != nil {
				t.Fatal(err)
			}
			begun, got := make(chan bool), make(chan error, 1)
			spawnDuringClose := func() {
				close(begun)
				for {
					if _, err := ring.NewGroup[int](rt, "group"); errors.Is(err, ring.ErrClosed) {
						break // Close has begun
					}
					time.Sleep(time.Millisecond)
				}
				if what == "spawn" {
					_, err := routing.SpawnTally(ctx, rt, ring.Options{})
					got <- err
				} else {
					got <- other.Activate()
				}
			}
			a := spawn(t, rt, ring.Options{Supervisor: func(ring.Failure) ring.Decision {
				spawnDuringClose()
				return ring.Leave
			}}, func(context.Context, *ring.HostContext, *int, *int) kernel.Action {
				if supervises {
					panic("asked to")
				}
				spawnDuringClose()
				return kernel.Done
			})
			if err := a.Tell(ctx, 1); err != nil {
				t.Fatal(err)
			}
			<-begun
			if err := rt.Close(); err != nil {
				t.Errorf("%s, by a supervisor: %v: %v", what, supervises, err)
			}
			err = <-got
			if _, ended := errors.AsType[*ring.StateError](err); !errors.Is(err, ring.ErrClosed) && !(ended && what == "activate") {
				t.Errorf("%s, by a supervisor: %v: got %v, want ErrClosed, or a StateError", what, supervises, err)
			}
		}
	}
}

func TestSupervisorsThatDecideNothingEscalate(t *testing.T) {
	for _, tt := range []struct {
		name   string
		decide func() ring.Decision
		says   string
	}{
		{"panics", func() ring.Decision { panic("asked to") }, "a supervisor of actor host-1: panic: asked to"},
		{"ends its goroutine", func() ring.Decision { runtime.Goexit(); return ring.End }, "a supervisor of actor host-1: panic: the supervisor called runtime.Goexit"},
		{"returns an unknown decision", func() ring.Decision { return 77 }, "a supervisor of actor host-1: it returned the unknown decision 77"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			escalated := make(chan ring.Failure, 1)
			rt := openAlone(t, ring.Config{Supervisor: func(f ring.Failure) ring.Decision {
				escalated <- f
				return tt.decide()
			}})
			a := spawn(t, rt, ring.Options{Supervisor: func(ring.Failure) ring.Decision { return tt.decide() }}, func(context.Context, *ring.HostContext, *int, *int) kernel.Action { panic("asked to") })
			if err := a.Tell(within(t), 1); err != nil {
				t.Fatal(err)
			}
			select {
			case f := <-escalated:
				if !f.Escalated {
					t.Errorf("%+v is not escalated", f)
				}
			case <-time.After(10 * time.Second):
				t.Fatal("the runtime's supervisor is not asked")
			}
			err := rt.Close()
			if _, ok := errors.AsType[*ring.EscalationError](err); !ok || strings.Count(err.Error(), tt.says) != 2 {
				t.Errorf("Close: %v, want two errors of supervisors and an EscalationError", err)
			}
		})
	}
}
