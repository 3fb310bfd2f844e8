package ring_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/kernel"
	"quern.dev/ring"
)

// open makes a runtime, which is closed when the test ends. Nothing may be left then.
func open(t testing.TB, config ring.Config) *ring.Runtime {
	t.Helper()
	rt := openAlone(t, config)
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return rt
}

// openAlone is open for tests that close the runtime.
func openAlone(t testing.TB, config ring.Config) *ring.Runtime {
	t.Helper()
	dev, err := gpu.Open(gpu.Config{Require: gpu.CPU})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	rt, err := ring.New(dev, config)
	if err != nil {
		t.Fatal(err)
	}
	return rt
}

func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func spawn[In, Out any](t testing.TB, rt *ring.Runtime, o ring.Options, handler func(context.Context, *ring.HostContext, *In, *Out) kernel.Action) *ring.Actor[In, Out] {
	t.Helper()
	a, err := ring.SpawnHost(within(t), rt, handler, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// double replies with twice the number that it gets.
func double(_ context.Context, _ *ring.HostContext, in, out *int) kernel.Action {
	*out = 2 * *in
	return kernel.Reply
}

func TestHostActorsAnswer(t *testing.T) {
	rt, ctx := open(t, ring.Config{}), within(t)
	a := spawn(t, rt, ring.Options{Name: "double"}, double)
	for i := range 1000 {
		if r, err := a.Ask(ctx, i); err != nil || r != 2*i {
			t.Fatal(r, err)
		}
	}
	for i := range 1000 {
		if err := a.Send(ctx, i); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 1000 {
		if r, err := a.Receive(ctx); err != nil || r != 2*i {
			t.Fatal(r, err)
		}
	}
	if i := a.Info(); i.Accepted != 2000 || i.Queued != 0 || i.Name != "double" || i.State != ring.Active {
		t.Errorf("%+v", i)
	}
}

func TestMessagesOfHostActorsMayBeOfAnyType(t *testing.T) {
	rt, ctx := open(t, ring.Config{}), within(t)
	type request struct {
		words map[string][]int
		then  func(string) string
	}
	a := spawn(t, rt, ring.Options{}, func(_ context.Context, _ *ring.HostContext, in *request, out *error) kernel.Action {
		*out = errors.New(in.then(fmt.Sprint(in.words["x"])))
		return kernel.Reply
	})
	for i := range 300 {
		r, err := a.Ask(ctx, request{map[string][]int{"x": {i}}, strings.ToUpper})
		if err != nil || r.Error() != fmt.Sprintf("[%d]", i) {
			t.Fatal(r, err)
		}
		runtime.Gosched()
	}
}

func TestHostHandlersLearnOfTheirMessage(t *testing.T) {
	rt, ctx := open(t, ring.Config{}), within(t)
	type seen struct {
		id, correlation uint64
		priority        int
		sender, name    string
		left            time.Duration
		limited         bool
	}
	a := spawn(t, rt, ring.Options{Name: "inner"}, func(_ context.Context, c *ring.HostContext, _ *int, out *seen) kernel.Action {
		*out = seen{id: c.ID(), correlation: c.Correlation(), priority: c.Priority(), sender: c.Sender(), name: c.Name()}
		var d time.Time
		if d, out.limited = c.Deadline(); out.limited {
			out.left = time.Until(d)
		}
		return kernel.Reply
	})
	first, err := a.Ask(ctx, 0)
	if err != nil || first.correlation != 0 || first.priority != ring.DefaultPriority || first.sender != "" || first.name != "inner" || first.limited {
		t.Errorf("a message without options: %+v, %v", first, err)
	}
	second, err := a.Ask(ctx, 0, ring.Priority(7), ring.Correlation(1<<40+3), ring.TTL(time.Hour))
	if err != nil || second.correlation != 1<<40+3 || second.priority != 7 || second.left > time.Hour || second.left < time.Hour-time.Minute || second.id == first.id {
		t.Errorf("a message with options: %+v after %+v, %v", second, first, err)
	}
	outer := spawn(t, rt, ring.Options{Name: "outer"}, func(ctx context.Context, c *ring.HostContext, in *int, out *seen) kernel.Action {
		var opts []ring.MessageOption
		if *in == 1 {
			opts = append(opts, ring.From(c))
		}
		if r, err := a.Ask(ctx, 0, opts...); err == nil {
			*out = r
		}
		return kernel.Reply
	})
	for i := range 2 {
		if r, err := outer.Ask(ctx, i); err != nil || r.sender != "outer" {
			t.Errorf("a message from an actor: %+v, %v", r, err)
		}
	}
}

func TestHostActorsHandleHigherPrioritiesFirst(t *testing.T) {
	rt, ctx := open(t, ring.Config{}), within(t)
	var order []int
	begun, release := make(chan bool), make(chan bool)
	a := spawn(t, rt, ring.Options{}, func(_ context.Context, _ *ring.HostContext, in, _ *int) kernel.Action {
		if *in < 0 {
			begun <- true
			<-release
			return kernel.Reply
		}
		order = append(order, *in)
		return kernel.Done
	})
	if err := a.Tell(ctx, -1); err != nil {
		t.Fatal(err)
	}
	<-begun
	want := []int{}
	for p := range 256 {
		if err := a.Tell(ctx, p, ring.Priority(p)); err != nil {
			t.Fatal(err)
		}
		want = append(want, 255-p)
	}
	release <- true
	if f, err := a.Terminate(ctx); err != nil || f.Drained > 257 || f.DeadLettered+f.Dropped > 0 {
		t.Errorf("%+v, %v", f, err)
	}
	if fmt.Sprint(order) != fmt.Sprint(want) {
		t.Errorf("handled in the order %v", order)
	}
}

func TestPanickingHostActorsFailAlone(t *testing.T) {
	rt, ctx := open(t, ring.Config{}), within(t)
	cause := errors.New("the cause")
	other := spawn(t, rt, ring.Options{}, double)
	for _, tt := range []struct {
		name  string
		fails func()
		want  string
		is    error
	}{
		{"a panic with a string", func() { panic("on purpose") }, "panic: on purpose", nil},
		{"a panic with an error", func() { panic(cause) }, "panic: the cause", cause},
		{"a run-time error", func() { _ = []int{}[len(os.Args)] }, fmt.Sprintf("panic: runtime error: index out of range [%d] with length 0", len(os.Args)), nil},
		{"the end of its goroutine", runtime.Goexit, "panic: the handler called runtime.Goexit", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			failures := make(chan ring.Failure, 1)
			a := spawn(t, rt, ring.Options{Supervisor: func(f ring.Failure) ring.Decision { failures <- f; return ring.Leave }},
				func(_ context.Context, _ *ring.HostContext, in, out *int) kernel.Action {
					if *in == 3 {
						tt.fails()
					}
					*out = *in
					return kernel.Reply
				})
			_, err := a.Ask(ctx, 3)
			failed, ok := errors.AsType[*ring.PanicError](err)
			if _, also := errors.AsType[*ring.HandlerError](err); !ok || !also || failed.Error() != tt.want || tt.is != nil && !errors.Is(err, tt.is) {
				t.Fatalf("%v, want a HandlerError with a PanicError", err)
			}
			if !strings.Contains(string(failed.Stack), "host_test.go") {
				t.Errorf("the stack does not show the handler: %s", failed.Stack)
			}
			if f := <-failures; f.Actor != a.Name() || f.Count != 1 || !errors.Is(f.Err, failed) {
				t.Errorf("the supervisor got %+v", f)
			}
			var state *ring.StateError
			if _, err := a.Ask(ctx, 1); !errors.As(err, &state) || state.State != ring.Failed || !errors.Is(err, failed) {
				t.Errorf("asked again: %v, want a StateError", err)
			}
			if r, err := other.Ask(ctx, 4); err != nil || r != 8 {
				t.Errorf("another actor: %d, %v", r, err)
			}
			if err := a.Restart(false); err != nil {
				t.Fatal(err)
			}
			if r, err := a.Ask(ctx, 5); err != nil || r != 5 {
				t.Errorf("restarted: %d, %v", r, err)
			}
		})
	}
}

func TestHandlersThatDoNotReturnAreNamed(t *testing.T) {
	rt, ctx := openAlone(t, ring.Config{HandlerTimeout: 20 * time.Millisecond}), within(t)
	release := make(chan bool)
	failures := make(chan ring.Failure, 1)
	a := spawn(t, rt, ring.Options{Name: "deaf", HandlerTimeout: 10 * time.Millisecond, Supervisor: func(f ring.Failure) ring.Decision { failures <- f; return ring.Leave }},
		func(_ context.Context, _ *ring.HostContext, _, _ *int) kernel.Action { <-release; return kernel.Done })
	if err := a.Tell(ctx, 1); err != nil {
		t.Fatal(err)
	}
	f := <-failures
	stuck, ok := errors.AsType[*ring.StuckError](f.Err)
	if !ok || len(stuck.Actors) != 1 || stuck.Actors[0] != "deaf" || a.State() != ring.Failed {
		t.Errorf("the supervisor got %v; the actor is %v", f.Err, a.State())
	}
	if err := a.Restart(false); !errors.As(err, &stuck) || stuck.After != 10*time.Millisecond {
		t.Errorf("restarted while it has not returned: %v, want a StuckError after the actor's own timeout", err)
	}
	if err := rt.Close(); !errors.As(err, &stuck) || !strings.Contains(err.Error(), "deaf") {
		t.Errorf("closed: %v, want a StuckError", err)
	}
	close(release)
}

func TestSupervisorsRestartHandlersOnceTheyReturn(t *testing.T) {
	for _, decision := range []ring.Decision{ring.Resume, ring.Renew} {
		rt, ctx := open(t, ring.Config{HandlerTimeout: 20 * time.Millisecond}), within(t)
		release, failed := make(chan bool), make(chan bool, 1)
		a := spawn(t, rt, ring.Options{HandlerTimeout: 10 * time.Millisecond, Supervisor: func(ring.Failure) ring.Decision { failed <- true; return decision }},
			func(_ context.Context, _ *ring.HostContext, in, out *int) kernel.Action {
				if *in == 1 {
					<-release
				}
				*out = 2 * *in
				return kernel.Reply
			})
		if err := a.Tell(ctx, 1); err != nil {
			t.Fatal(err)
		}
		<-failed
		time.Sleep(10 * time.Millisecond) // for the first attempt
		if s := a.State(); s != ring.Failed {
			t.Errorf("decision %d: the actor is %v while its handler has not returned", decision, s)
		}
		close(release)
		for a.State() != ring.Active && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		if r, err := a.Ask(ctx, 2); r != 4 || err != nil {
			t.Errorf("decision %d: after the handler has returned: %d, %v", decision, r, err)
		}
		if i := a.Info(); i.Restarts != 1 {
			t.Errorf("decision %d: %d restarts", decision, i.Restarts)
		}
	}
}

func TestSupervisorsEndActorsOnceTheirHandlersReturn(t *testing.T) {
	rt, ctx := open(t, ring.Config{HandlerTimeout: 20 * time.Millisecond}), within(t)
	release, failed := make(chan bool), make(chan bool, 1)
	a := spawn(t, rt, ring.Options{HandlerTimeout: 10 * time.Millisecond, Supervisor: func(ring.Failure) ring.Decision { failed <- true; return ring.End }},
		func(context.Context, *ring.HostContext, *int, *int) kernel.Action {
			<-release
			return kernel.Done
		})
	for i := range 2 {
		if err := a.Tell(ctx, i); err != nil {
			t.Fatal(err)
		}
	}
	<-failed
	time.Sleep(10 * time.Millisecond) // for the first attempt
	if s := a.State(); s != ring.Failed {
		t.Errorf("the actor is %v while its handler has not returned", s)
	}
	close(release)
	for a.State() != ring.Terminated && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	if _, err := a.Terminate(ctx); err != nil { // waits for the end
		t.Error(err)
	}
	if i := a.Info(); i.Handled != 1 || i.Dropped != 1 || rt.DeadLetters().Count(ring.ReasonTerminated) != 1 {
		t.Errorf("%+v, want one message that was handled, and one dead letter", i)
	}
}

// A message is in exactly one count at any time, and becomes exactly one dead letter
// if it is not handled.
func TestMessagesOfHandlersThatDoNotReturnAreCountedOnce(t *testing.T) {
	type account struct{ queued, handled, failed, dropped, letters uint64 }
	of := func(i ring.Info) account {
		return account{i.Queued, i.Handled, i.Failed, i.Dropped, i.DeadLetters}
	}
	for _, tt := range []struct {
		name      string
		terminate bool
		panics    bool
		want      account
		reason    ring.Reason
	}{
		{"that return after all", false, false, account{handled: 1}, 0},
		{"that panic after all", false, true, account{failed: 1, letters: 1}, ring.ReasonFailed},
		{"of actors that end", true, false, account{dropped: 1, letters: 1}, ring.ReasonTerminated},
		{"that panic after the end of the actor", true, true, account{dropped: 1, letters: 1}, ring.ReasonTerminated},
	} {
		for _, how := range []string{"told", "sent", "asked"} {
			t.Run(tt.name+", "+how, func(t *testing.T) {
				rt, ctx := openAlone(t, ring.Config{HandlerTimeout: 20 * time.Millisecond}), within(t)
				panics, returned := make(chan bool), make(chan bool)
				failures := make(chan ring.Failure, 2)
				a := spawn(t, rt, ring.Options{HandlerTimeout: 10 * time.Millisecond, Supervisor: func(f ring.Failure) ring.Decision { failures <- f; return ring.Leave }},
					func(context.Context, *ring.HostContext, *int, *int) kernel.Action {
						defer close(returned)
						if <-panics {
							panic("after all")
						}
						return kernel.Reply
					})
				answered := make(chan bool)
				go func() {
					defer close(answered)
					switch how {
					case "told":
						a.Tell(ctx, 1)
					case "sent":
						a.Send(ctx, 1)
					case "asked":
						a.Ask(ctx, 1)
					}
				}()
				var stuck *ring.StuckError
				if f := <-failures; !errors.As(f.Err, &stuck) || f.Count != 1 {
					t.Fatalf("the supervisor got %+v, want a StuckError", f)
				}
				if got := of(a.Info()); got != (account{queued: 1}) {
					t.Errorf("while it does not return: %+v, want the message queued", got)
				}
				if tt.terminate {
					if f, err := a.Terminate(ctx); !errors.As(err, &stuck) || f.DeadLettered != 1 {
						t.Errorf("terminated: %+v, %v, want one dead letter and a StuckError", f, err)
					}
				}
				panics <- tt.panics
				<-returned
				if tt.panics && !tt.terminate {
					<-failures
				}
				<-answered
				for a.Info().Queued > 0 && ctx.Err() == nil {
				}
				if got := of(a.Info()); got != tt.want || a.Info().Accepted != 1 {
					t.Errorf("at the end: %+v, want %+v", got, tt.want)
				}
				for l := range rt.DeadLetters().All() {
					if l.Reason != tt.reason || l.Body != 1 || l.Err == nil {
						t.Errorf("dead letter %+v, want one that is %v", l, tt.reason)
					}
				}
				var left *ring.LeftError
				err := rt.Close()
				if errors.As(err, &left) && how == "sent" && left.Messages == 0 {
					err = nil // the reply that was not received
				}
				if tt.terminate == false && err != nil {
					t.Error(err)
				}
				if s := rt.Stats(); s.Accepted != 1 || s.Handled != tt.want.handled || s.Failed != tt.want.failed || s.Dropped != tt.want.dropped || s.DeadLetters != tt.want.letters {
					t.Errorf("the runtime: %+v, want %+v", s, tt.want)
				}
			})
		}
	}
}

// A message that the handler failed on is a dead letter before its error is received.
func TestUnreceivedFailuresAreDeadLetters(t *testing.T) {
	rt, ctx := open(t, ring.Config{}), within(t)
	failures := make(chan ring.Failure, 1)
	a := spawn(t, rt, ring.Options{Supervisor: func(f ring.Failure) ring.Decision { failures <- f; return ring.Leave }},
		func(context.Context, *ring.HostContext, *int, *int) kernel.Action { panic("on purpose") })
	if err := a.Send(ctx, 3); err != nil {
		t.Fatal(err)
	}
	<-failures
	if i := a.Info(); i.Failed != 1 || i.DeadLetters != 1 {
		t.Errorf("%+v, want one dead letter", i)
	}
	l, err := rt.DeadLetters().Receive(ctx)
	if err != nil || l.Reason != ring.ReasonFailed || l.Body != 3 {
		t.Errorf("%+v, %v", l, err)
	}
	var failed *ring.HandlerError
	if _, err := a.Receive(ctx); !errors.As(err, &failed) {
		t.Errorf("received %v, want a HandlerError", err)
	}
	if n := rt.DeadLetters().Total(); n != 1 {
		t.Errorf("%d dead letters after that, want 1", n)
	}
}

func TestHandlersThatTakeTheirTimeAreCancelledWhenTheirActorEnds(t *testing.T) {
	rt, ctx := open(t, ring.Config{}), within(t)
	begun := make(chan bool)
	a := spawn(t, rt, ring.Options{}, func(ctx context.Context, _ *ring.HostContext, _, out *error) kernel.Action {
		begun <- true
		<-ctx.Done()
		*out = ctx.Err()
		return kernel.Reply
	})
	answer := make(chan error)
	go func() {
		r, err := a.Ask(ctx, nil)
		answer <- errors.Join(err, r)
	}()
	<-begun
	now, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := a.Terminate(now); err != nil {
		t.Error(err)
	}
	if err := <-answer; !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the reply of the cancelled handler", err)
	}
}

func TestMessagesStayForHandlersThatWantThemAgain(t *testing.T) {
	rt, ctx := open(t, ring.Config{}), within(t)
	calls := 0
	a := spawn(t, rt, ring.Options{}, func(_ context.Context, _ *ring.HostContext, in, out *int) kernel.Action {
		if *out != 0 {
			t.Error("out is not zero")
		}
		*out = calls
		if calls++; calls < *in {
			return kernel.Again
		}
		return kernel.ReplyAndStop
	})
	if r, err := a.Ask(ctx, 100); err != nil || r != 99 || calls != 100 {
		t.Errorf("%d after %d calls, %v", r, calls, err)
	}
	var state *ring.StateError
	if _, err := a.Ask(ctx, 1); !errors.As(err, &state) || state.State != ring.Terminated {
		t.Errorf("an actor that has stopped: %v, want a StateError", err)
	}
}

func TestHostActorsServeManyCallers(t *testing.T) {
	rt, ctx := open(t, ring.Config{}), within(t)
	var actors []*ring.Actor[int, int]
	for range 10 {
		actors = append(actors, spawn(t, rt, ring.Options{Capacity: 4}, double))
	}
	var callers sync.WaitGroup
	var wrong atomic.Int64
	for i := range 100 {
		callers.Go(func() {
			for k := range 50 {
				if r, err := actors[(i+k)%10].Ask(ctx, 1000*i+k); err != nil || r != 2*(1000*i+k) {
					wrong.Add(1)
				}
			}
		})
	}
	callers.Wait()
	if wrong.Load() > 0 {
		t.Errorf("%d wrong replies", wrong.Load())
	}
}

func TestOptionsOfHostActors(t *testing.T) {
	rt, ctx := open(t, ring.Config{}), within(t)
	for _, tt := range []struct {
		name string
		o    ring.Options
		want string
	}{
		{"a state", ring.Options{State: 1}, "the state of a handler in Go is what it captures"},
		{"a negative timeout", ring.Options{HandlerTimeout: -1}, "HandlerTimeout is -1ns"},
		{"a negative number of restarts", ring.Options{MaxRestarts: -1}, "MaxRestarts is -1"},
		{"a capacity of -1", ring.Options{Capacity: -1}, "Capacity is -1"},
	} {
		if _, err := ring.SpawnHost(ctx, rt, double, tt.o); !errors.Is(err, ring.ErrInvalid) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if _, err := ring.SpawnHost[int, int](ctx, rt, nil, ring.Options{}); !errors.Is(err, ring.ErrInvalid) {
		t.Errorf("no handler: %v", err)
	}
	spawn(t, rt, ring.Options{Name: "one"}, double)
	if _, err := ring.SpawnHost(ctx, rt, double, ring.Options{Name: "one"}); !errors.Is(err, ring.ErrInvalid) {
		t.Errorf("a name twice: %v", err)
	}
}

func TestAsksOfHostActorsAllocateNothing(t *testing.T) {
	rt, ctx := open(t, ring.Config{}), within(t)
	a := spawn(t, rt, ring.Options{}, double)
	ask := func() {
		if _, err := a.Ask(ctx, 1); err != nil {
			t.Fatal(err)
		}
	}
	ask()
	if n := testing.AllocsPerRun(200, ask); n >= 1 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAskHost(b *testing.B) {
	rt := open(b, ring.Config{})
	a := spawn(b, rt, ring.Options{}, double)
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Ask(ctx, 1); err != nil {
			b.Fatal(err)
		}
	}
}
