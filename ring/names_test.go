package ring_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"quern.dev/kernel"
	"quern.dev/ring"
)

func fragile(_ context.Context, _ *ring.HostContext, in, _ *int) kernel.Action {
	if *in < 0 {
		panic("asked to")
	}
	return kernel.Done
}

func TestNamesThatCannotBeShownAreRefused(t *testing.T) {
	rt, ctx := open(t, ring.Config{}), within(t)
	for name, why := range map[string]string{
		"a\nb": "U+000A", "a\x00": "U+0000", "\x1b[31m": "U+001B", "a\u202eb": "U+202E", "\xff": "UTF-8", "  ": "empty", strings.Repeat("a", 256): "256 bytes",
	} {
		_, err := ring.SpawnHost(ctx, rt, done, ring.Options{Name: name})
		_, groupErr := ring.NewGroup[int](rt, name)
		for _, err := range []error{err, groupErr} {
			if !errors.Is(err, ring.ErrInvalid) || !strings.Contains(err.Error(), why) || strings.ContainsAny(err.Error(), "\n\x00\x1b") || len(err.Error()) > 200 {
				t.Errorf("%q: %v, want %s", name, err, why)
			}
		}
	}
	for _, name := range []string{"sensor 1", "Füllstand/3", strings.Repeat("a", 255)} {
		if a := spawn(t, rt, ring.Options{Name: name}, done); a.Name() != name {
			t.Errorf("%q is named %q", name, a.Name())
		}
	}
}

func TestErrorsOfHandlersHaveTheIDOfTheMessage(t *testing.T) {
	rt, ctx := open(t, ring.Config{}), within(t)
	a := spawn(t, rt, ring.Options{Supervisor: func(ring.Failure) ring.Decision { return ring.Resume }}, fragile)
	for _, requested := range []bool{false, true} {
		var id uint64
		opts := []ring.MessageOption{ring.Priority(200)}
		if requested {
			opts = append(opts, ring.ID(&id))
		}
		if err := a.Tell(ctx, -1, opts...); err != nil {
			t.Fatal(err)
		}
		l, err := rt.DeadLetters().Receive(ctx)
		failed, ok := errors.AsType[*ring.HandlerError](l.Err)
		if err != nil || !ok || failed.ID != l.ID || requested && failed.ID != id {
			t.Errorf("%+v, %v: want the ID %d", l, err, id)
		}
		for a.State() == ring.Failed && ctx.Err() == nil {
		}
	}
}
