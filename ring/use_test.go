package ring_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/kernel"
	"quern.dev/ring"
	"quern.dev/ring/actor"
)

func done(_ context.Context, _ *ring.HostContext, _, _ *int) kernel.Action { return kernel.Done }

// TestZeroValuesReturnErrors calls everything with nil values and zero values.
func TestZeroValuesReturnErrors(t *testing.T) {
	rt := open(t, ring.Config{})
	ctx := within(t)
	a := spawn(t, rt, ring.Options{Name: "a"}, done)
	group, err := ring.NewGroup[int](rt, "group")
	if err != nil {
		t.Fatal(err)
	}
	second := func(_ any, err error) error { return err }

	calls := map[string]error{
		"New of nil":                 second(ring.New(nil, ring.Config{})),
		"New of a zero device":       second(ring.New(&gpu.Device{}, ring.Config{})),
		"SpawnHost without handler":  second(ring.SpawnHost[int, int](ctx, rt, nil, ring.Options{})),
		"Spawn without program":      second(ring.Spawn[int, int, int](ctx, rt, nil, ring.Options{})),
		"Spawn of a zero program":    second(ring.Spawn[int, int, int](ctx, rt, &ring.Program{}, ring.Options{})),
		"Receive of nil letters":     second((*ring.DeadLetters)(nil).Receive(ctx)),
		"Receive of zero letters":    second((&ring.DeadLetters{}).Receive(ctx)),
		"From nil":                   a.Tell(ctx, 1, ring.From(nil)),
		"From a nil actor":           a.Tell(ctx, 1, ring.From((*ring.Actor[int, int])(nil))),
		"From a zero actor":          a.Tell(ctx, 1, ring.From(&ring.Actor[int, int]{})),
		"From a nil context":         a.Tell(ctx, 1, ring.From((*ring.HostContext)(nil))),
		"From a zero context":        a.Tell(ctx, 1, ring.From(&ring.HostContext{})),
		"From an empty type":         a.Tell(ctx, 1, ring.From(struct{ ring.Sender }{})),
		"From a nil empty type":      a.Tell(ctx, 1, ring.From((*struct{ ring.Sender })(nil))),
		"a zero option":              a.Tell(ctx, 1, ring.MessageOption{}),
		"Connect to nil":             ring.Connect(a, (*ring.Actor[int, int])(nil)),
		"Connect to zero":            ring.Connect(a, &ring.Actor[int, int]{}),
		"Connect nil":                ring.Connect[int, int](nil, a),
		"Gather of nil":              second(ring.Gather(ctx, []*ring.Actor[int, int]{nil}, []int{1})),
		"WritePrometheus to nil":     ring.WritePrometheus(nil, rt),
		"Resume without Quiesce":     rt.Resume(),
		"Add nil":                    group.Add(nil),
		"Add a nil actor":            group.Add((*ring.Actor[int, int])(nil)),
		"Add a zero actor":           group.Add(&ring.Actor[int, int]{}),
		"Add an empty type":          group.Add(struct{ ring.Member[int] }{}),
		"Remove an empty type":       group.Remove(struct{ ring.Member[int] }{}),
		"Remove nil":                 group.Remove(nil),
		"a trace of a negative size": second(rt.StartTrace(-1)),
	}
	for what, rt := range map[string]*ring.Runtime{"nil": nil, "zero": {}} {
		for name, err := range map[string]error{
			"SpawnHost":   second(ring.SpawnHost(ctx, rt, done, ring.Options{})),
			"Spawn":       second(ring.Spawn[int, int, int](ctx, rt, &ring.Program{Kernel: &gpu.Kernel{}}, ring.Options{})),
			"Find":        second(ring.Find[int, int](rt, "a")),
			"Lookup":      second(rt.Lookup("a")),
			"NewGroup":    second(ring.NewGroup[int](rt, "g")),
			"FindGroup":   second(ring.FindGroup[int](rt, "g")),
			"NewPayload":  second(ring.NewPayload[int](rt, 1)),
			"OpenPayload": second(ring.OpenPayload(rt, actor.Payload[int]{})),
			"TakePayload": second(ring.TakePayload(rt, actor.Payload[int]{})),
			"StartTrace":  second(rt.StartTrace(0)),
			"Quiesce":     rt.Quiesce("test"),
			"Resume":      rt.Resume(),
		} {
			calls[name+" of a "+what+" runtime"] = err
		}
		if err := rt.Close(); err != nil {
			t.Errorf("Close of a %s runtime: %v", what, err)
		}
		if err := errors.Join(rt.WritePrometheus(io.Discard), ring.WritePrometheus(io.Discard, rt)); err != nil {
			t.Errorf("WritePrometheus of a %s runtime: %v", what, err)
		}
		for range rt.Actors() {
			t.Errorf("a %s runtime has actors", what)
		}
		if rt.Number() != 0 || rt.Device() != nil || rt.Groups() != nil || rt.Stats().Accepted != 0 || rt.DeadLetters().Len() != 0 {
			t.Errorf("a %s runtime has something", what)
		}
		d := rt.DeadLetters()
		if d.Total() != 0 || d.Count(ring.ReasonExpired) != 0 || d.Overflow() != 0 {
			t.Errorf("a %s runtime has had dead letters", what)
		}
		for range d.All() {
			t.Errorf("a %s runtime has dead letters", what)
		}
	}
	for what, a := range map[string]*ring.Actor[int, int]{"nil": nil, "zero": {}} {
		for name, err := range map[string]error{
			"Ask":            second(a.Ask(ctx, 1)),
			"Send":           a.Send(ctx, 1),
			"SendBatch":      second(a.SendBatch(ctx, []int{1})),
			"Tell":           a.Tell(ctx, 1),
			"Receive":        second(a.Receive(ctx)),
			"ReceiveMessage": second(a.ReceiveMessage(ctx)),
			"ReceiveBatch":   second(a.ReceiveBatch(ctx, make([]int, 1))),
			"Activate":       a.Activate(),
			"Deactivate":     a.Deactivate(),
			"Restart":        a.Restart(false),
			"Terminate":      second(a.Terminate(ctx)),
			"Info":           a.Info().Err,
		} {
			calls[name+" of a "+what+" actor"] = err
		}
		for _, err := range a.Replies(ctx) {
			calls["Replies of a "+what+" actor"] = err
		}
		if a.Name() != "" || a.State() != ring.Terminated || a.Ref() != (actor.Ref[int]{}) {
			t.Errorf("a %s actor is something", what)
		}
	}
	for what, g := range map[string]*ring.Group[int]{"nil": nil, "zero": {}} {
		for name, err := range map[string]error{
			"Add":     g.Add(a),
			"Remove":  g.Remove(a),
			"Publish": second(g.Publish(ctx, 1)),
			"Route":   g.Route(ctx, 1, 1),
			"Scatter": second(g.Scatter(ctx, []int{1})),
		} {
			calls[name+" of a "+what+" group"] = err
		}
		if g.Name() != "" || g.Ref() != (actor.Group[int]{}) || g.Members() != nil || g.Close() != nil {
			t.Errorf("a %s group is something", what)
		}
	}
	for what, p := range map[string]*ring.Payload[int32]{"nil": nil, "zero": {}} {
		for name, err := range map[string]error{"Write": p.Write(ctx, []int32{1}), "Read": p.Read(ctx, make([]int32, 1)), "Release": p.Release()} {
			calls[name+" of a "+what+" payload"] = err
		}
		if p.Len() != 0 || p.Buffer() != nil || p.Ref() != (actor.Payload[int32]{}) {
			t.Errorf("a %s payload is something", what)
		}
	}
	for what, tr := range map[string]*ring.Trace{"nil": nil, "zero": {}} {
		tr.Stop()
		if tr.Lost() != 0 {
			t.Errorf("a %s trace has lost events", what)
		}
		calls["WriteTo of a "+what+" trace"] = second(tr.WriteTo(io.Discard))
	}
	for name, err := range calls {
		if !errors.Is(err, ring.ErrInvalid) || !strings.HasPrefix(err.Error(), "ring: ") && !strings.Contains(err.Error(), ": ring: ") {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
	for what, c := range map[string]*ring.HostContext{"nil": nil, "zero": {}} {
		_, has := c.Deadline()
		if c.Name() != "" || c.Runtime() != nil || c.Sender() != "" || c.ID() != 0 || c.Correlation() != 0 || c.Priority() != 0 || has {
			t.Errorf("a %s context is something", what)
		}
	}
	if i := a.Info(); i.Accepted != 0 {
		t.Errorf("%d messages were accepted", i.Accepted)
	}
}

// TestANilContextMeansBackground calls everything that takes a context without one.
func TestANilContextMeansBackground(t *testing.T) {
	rt := open(t, ring.Config{})
	var none context.Context // nil
	double := func(ctx context.Context, _ *ring.HostContext, in, out *int) kernel.Action {
		if ctx == nil || ctx.Err() != nil {
			t.Errorf("the handler's context is %v", ctx)
		}
		if *out = 2 * *in; *in < 0 {
			panic("asked to")
		}
		return kernel.Reply
	}
	a, err := ring.SpawnHost(none, rt, double, ring.Options{Supervisor: func(ring.Failure) ring.Decision { return ring.Leave }})
	if err != nil {
		t.Fatal(err)
	}
	group, err := ring.NewGroup[int](rt, "group")
	if err != nil {
		t.Fatal(err)
	}
	if err := group.Add(a); err != nil {
		t.Fatal(err)
	}
	payload, err := ring.NewPayload[int32](rt, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer payload.Release()
	values := make([]int32, 1)
	second := func(_ any, err error) error { return err }
	if err := errors.Join(a.Tell(none, 1), a.Send(none, 2), second(a.SendBatch(none, []int{3, 4, 5})),
		second(group.Publish(none, 1)), group.Route(none, 1, 1), second(group.Scatter(none, []int{1})),
		payload.Write(none, []int32{7}), payload.Read(none, values), second(a.SendBatch(none, nil)), second(a.ReceiveBatch(none, nil))); err != nil || values[0] != 7 {
		t.Fatal(err, values)
	}
	if got, err := a.Ask(none, 10); err != nil || got != 20 {
		t.Error(got, err)
	}
	if got, err := ring.Gather(none, []*ring.Actor[int, int]{a, a}, []int{6, 7}); err != nil || got[0] != 12 || got[1] != 14 {
		t.Error(got, err)
	}
	if got, err := a.Receive(none); err != nil || got != 4 {
		t.Error(got, err)
	}
	if got, err := a.ReceiveMessage(none); err != nil || got.Body != 6 {
		t.Error(got, err)
	}
	for got, err := range a.Replies(none) {
		if err != nil || got != 8 {
			t.Error(got, err)
		}
		break
	}
	for got, err := range a.Messages(none) {
		if err != nil || got.Body != 10 {
			t.Error(got, err)
		}
		break
	}
	if err := a.Tell(none, -1); err != nil {
		t.Error(err)
	}
	if l, err := rt.DeadLetters().Receive(none); err != nil || l.Body != -1 {
		t.Error(l, err)
	}
	if _, err := a.Terminate(none); err != nil {
		t.Error(err)
	}
}

// TestContextsThatWereCancelledSendNothing: no operation begins with a context that has
// ended.
func TestContextsThatWereCancelledSendNothing(t *testing.T) {
	rt := open(t, ring.Config{})
	a := spawn(t, rt, ring.Options{}, done)
	group, err := ring.NewGroup[int](rt, "group")
	if err != nil {
		t.Fatal(err)
	}
	if err := group.Add(a); err != nil {
		t.Fatal(err)
	}
	payload, err := ring.NewPayload[int32](rt, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer payload.Release()
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	second := func(_ any, err error) error { return err }
	for name, err := range map[string]error{
		"Send":           a.Send(cancelled, 1),
		"SendBatch":      second(a.SendBatch(cancelled, []int{1, 2})),
		"Tell":           a.Tell(cancelled, 1),
		"Ask":            second(a.Ask(cancelled, 1)),
		"Receive":        second(a.Receive(cancelled)),
		"Publish":        second(group.Publish(cancelled, 1)),
		"Route":          group.Route(cancelled, 1, 1),
		"Scatter":        second(group.Scatter(cancelled, []int{1})),
		"Gather":         second(ring.Gather(cancelled, []*ring.Actor[int, int]{a}, []int{1})),
		"SpawnHost":      second(ring.SpawnHost(cancelled, rt, done, ring.Options{})),
		"Receive letter": second(rt.DeadLetters().Receive(cancelled)),
		"Write":          payload.Write(cancelled, []int32{1}),
		"Read":           payload.Read(cancelled, make([]int32, 1)),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want context.Canceled", name, err)
		}
	}
	if i := a.Info(); i.Accepted != 0 {
		t.Errorf("%d messages were accepted", i.Accepted)
	}
	n := 0
	for range rt.Actors() {
		n++
	}
	if n != 1 {
		t.Errorf("there are %d actors, want 1", n)
	}
}

// TestErrorsOfOptionsNameTheActor: the error has the actor's name, or that of the
// handler, and the option.
func TestErrorsOfOptionsNameTheActor(t *testing.T) {
	rt := open(t, ring.Config{})
	for option, o := range map[string]ring.Options{
		"Capacity":       {Capacity: -1},
		"HandlerTimeout": {HandlerTimeout: -1},
		"MaxRestarts":    {MaxRestarts: -1},
		"RestartWindow":  {RestartWindow: -1},
		"policy":         {Full: 17},
		"Batch":          {Batch: -1},
		"Spin":           {Spin: -1},
		"MaxPause":       {MaxPause: time.Second},
		"Options.State":  {State: 1},
	} {
		for _, name := range []string{"", "sensor 7"} {
			o.Name = name
			_, err := ring.SpawnHost(within(t), rt, done, o)
			if want := fmt.Sprintf("spawn %s: ", max(name, "host")); !errors.Is(err, ring.ErrInvalid) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), option) {
				t.Errorf("%s of %q: got %v, want one with %q", option, name, err, want)
			}
		}
	}
}

// TestDuplicateNamesHaveTheirOwnError: for actors and for groups.
func TestDuplicateNamesHaveTheirOwnError(t *testing.T) {
	rt := open(t, ring.Config{})
	spawn(t, rt, ring.Options{Name: "a"}, done)
	if _, err := ring.NewGroup[int](rt, "a"); err != nil {
		t.Errorf("a group with the name of an actor: %v", err)
	}
	_, again := ring.SpawnHost(within(t), rt, done, ring.Options{Name: "a"})
	_, group := ring.NewGroup[string](rt, "a")
	_, option := ring.SpawnHost(within(t), rt, done, ring.Options{Name: "b", Capacity: -1})
	for _, err := range []error{again, group} {
		if !errors.Is(err, ring.ErrNameTaken) || !errors.Is(err, ring.ErrInvalid) || !strings.Contains(err.Error(), `"a"`) {
			t.Errorf("got %v, want ErrNameTaken", err)
		}
	}
	if errors.Is(option, ring.ErrNameTaken) {
		t.Errorf("%v is ErrNameTaken", option)
	}
}

// TestConvertedReferencesToPayloadsAreRefused: Go can convert references of one type
// to another, which would refer to other elements.
func TestConvertedReferencesToPayloadsAreRefused(t *testing.T) {
	type wide struct{ Values actor.Payload[float64] }
	rt := open(t, ring.Config{})
	ctx := within(t)
	a := spawn(t, rt, ring.Options{}, func(_ context.Context, _ *ring.HostContext, _ *wide, _ *int) kernel.Action { return kernel.Done })
	p, err := ring.NewPayload[float32](rt, 64)
	if err != nil {
		t.Fatal(err)
	}
	q, err := ring.NewPayload[float64](rt, 64)
	if err != nil {
		t.Fatal(err)
	}
	converted := actor.Payload[float64](p.Ref())
	_, opened := ring.OpenPayload(rt, converted)
	for name, err := range map[string]error{"sending": a.Tell(ctx, wide{converted}), "opening": opened} {
		if !errors.Is(err, ring.ErrInvalid) || !strings.Contains(err.Error(), "float64") || !strings.Contains(err.Error(), "float32") {
			t.Errorf("%s: got %v, want an error with both types", name, err)
		}
	}
	if err := a.Tell(ctx, wide{q.Ref()}); err != nil {
		t.Error(err)
	}
	if err := errors.Join(p.Release(), q.Release()); err != nil {
		t.Error(err)
	}
	if _, err := a.Terminate(ctx); err != nil {
		t.Error(err)
	}
}

// TestCloseReportsUnreceivedReplies: the error lists them by actor.
func TestCloseReportsUnreceivedReplies(t *testing.T) {
	rt := openAlone(t, ring.Config{})
	ctx := within(t)
	reply := func(_ context.Context, _ *ring.HostContext, in, out *int) kernel.Action { return kernel.Reply }
	a := spawn(t, rt, ring.Options{Name: "a"}, reply)
	b := spawn(t, rt, ring.Options{Name: "b"}, reply)
	for i := range 5 {
		if err := a.Send(ctx, i); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Send(ctx, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Receive(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Receive(ctx); err != nil {
		t.Fatal(err)
	}
	for a.Info().Handled < 5 {
		time.Sleep(time.Millisecond)
	}
	err := rt.Close()
	left, ok := errors.AsType[*ring.LeftError](err)
	if !ok || left.Replies != 4 || left.Messages != 0 || len(left.Actors) != 1 || left.Actors[0] != "a" || !strings.Contains(err.Error(), "4 unreceived replies, of a") {
		t.Fatalf("got %v, want 4 replies of a", err)
	}
	for range 4 {
		if _, err := a.Receive(ctx); err != nil {
			t.Errorf("a reply after Close: %v", err)
		}
	}
}
