package profile_test

import (
	"context"
	"testing"

	"quern.dev/kernel"
	"quern.dev/profile"
	"quern.dev/ring"
)

func TestActorsAppearUnderTheirNames(t *testing.T) {
	rt, err := ring.New(open(t), ring.Config{})
	if err != nil {
		t.Fatal(err)
	}
	twice := func(_ context.Context, _ *ring.HostContext, in, out *int) kernel.Action {
		*out = 2 * *in
		return kernel.Reply
	}
	a, err := ring.SpawnHost(t.Context(), rt, twice, ring.Options{Name: "twice"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := profile.Start(profile.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if _, err := a.Ask(t.Context(), i); err != nil {
			t.Fatal(err)
		}
	}
	if err := rt.Close(); err != nil {
		t.Fatal(err)
	}
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	messages := 0
	for e := range r.Events() {
		if e.Kind == profile.Actor && e.Process == "actors" && e.Track == "twice" && e.Name == "message" {
			messages++
		}
	}
	if messages != 3 {
		t.Errorf("%d messages, want 3", messages)
	}
}
