package ring

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestDistancesOfNames(t *testing.T) {
	for _, tt := range []struct {
		x, y string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"total", "total", 0},
		{"total", "totals", 1}, {"total", "tota", 1}, {"total", "tonal", 1}, {"kitten", "sitting", 3},
	} {
		if d := distance(tt.x, tt.y); d != tt.want {
			t.Errorf("%q to %q: %d, want %d", tt.x, tt.y, d, tt.want)
		}
	}
}

func TestUnknownNamesListTheMostSimilar(t *testing.T) {
	rt := &Runtime{actors: map[string]*core{"being made": nil}}
	if _, err := rt.find("x"); err == nil || !strings.HasSuffix(err.Error(), `no actor "x"; the runtime has no actors`) {
		t.Errorf("an empty runtime: %v", err)
	}
	for i := range 30 {
		name := fmt.Sprintf("worker-%02d", i)
		rt.actors[name] = &core{life: life{identity: identity{name: name}}}
	}
	rt.actors["alarm"] = &core{life: life{identity: identity{name: "alarm"}}}
	_, err := rt.find("alarms")
	if err == nil || !strings.Contains(err.Error(), `there are alarm, worker-`) || !strings.HasSuffix(err.Error(), " and 21 more") {
		t.Errorf("%v", err)
	}
	if e := err.(*NameError); len(e.Names) != 31 {
		t.Errorf("%d names, want 31", len(e.Names))
	}
}

func TestTypesOfActorsAreNamedInErrors(t *testing.T) {
	rt := &Runtime{actors: map[string]*core{}}
	c := &core{life: newLife[int32, string](rt, &Options{Name: "total"})}
	rt.actors["total"] = c
	if a, err := Find[int32, string](rt, "total"); err != nil || a.core != c {
		t.Errorf("%v, %v", a, err)
	}
	_, err := Find[int64, string](rt, "total")
	e, ok := err.(*TypeError)
	if !ok || e.In != reflect.TypeFor[int32]() || e.WantedIn != reflect.TypeFor[int64]() ||
		e.Error() != "ring: actor total takes int32 and replies with string; it was looked up as one that takes int64 and replies with string" {
		t.Errorf("%v", err)
	}
}
