package fuzz

import (
	"context"
	"flag"
	"testing"
	"time"

	"quern.dev/internal/driver/sim"
	"quern.dev/internal/testmodule"
)

var (
	first = flag.Uint64("first", 1, "seed of the first program")
	count = flag.Uint64("count", 1e9, "number of programs")
	limit = flag.Duration("duration", 5*time.Second, "how long to generate programs")
)

func TestGeneratedProgramsGiveTheSameResultsEverywhere(t *testing.T) {
	d, err := OpenDevice("sim", sim.Candidate(sim.Options{Steps: SimSteps}))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	ch := &Checker{Devices: []*Device{d}, Metamorphic: true}
	end := time.Now().Add(*limit)
	n := 0
	for seed := *first; seed < *first+*count && time.Now().Before(end); seed++ {
		c := Generate(seed)
		if m := ch.Check(c); m != nil {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			m = ch.Reduce(ctx, m)
			t.Fatalf("%v\n%s", m, m.Source)
		}
		n++
	}
	t.Logf("%d programs", n)
}

func TestNative(t *testing.T) {
	n := &Native{Root: testmodule.Root()}
	var cases []*Case
	for i := range uint64(100) {
		cases = append(cases, Generate(*first+i))
	}
	list, err := n.Check(t.Context(), cases)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		if m != nil {
			t.Errorf("%v", m)
		}
	}
}
