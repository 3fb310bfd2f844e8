package fuzz

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"

	"quern.dev/internal/driver/cuda"
	"quern.dev/internal/driver/sim"
	"quern.dev/internal/testmodule"
)

var (
	first    = flag.Uint64("first", 1, "seed of the first program")
	duration = flag.Duration("duration", 2*time.Second, "how long to check programs on the devices that run PTX")
	native   = flag.Int("native", 60, "number of programs for plain Go and cpu")
)

func init() { debug.SetGCPercent(400) } // programs are small and immediately become garbage

// devices opens the simulator and, if there is one, a GPU.
func devices(t *testing.T) []*Device {
	candidates := map[string]func() (*Device, error){
		"sim": func() (*Device, error) { return OpenDevice("sim", sim.Candidate(sim.Options{Steps: SimSteps})) },
	}
	if c := cuda.Candidates()[0]; c.Err == nil {
		candidates["cuda"] = func() (*Device, error) { return OpenDevice("cuda", c) }
	} else {
		t.Logf("no cuda device: %v", c.Err)
	}
	var list []*Device
	for _, open := range candidates {
		d, err := open()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
		list = append(list, d)
	}
	return list
}

func TestGeneratedProgramsGiveTheSameResultsOnEveryDevice(t *testing.T) {
	testmodule.NeedGo(t)
	ch := &Checker{Devices: devices(t), Metamorphic: true}
	end := time.Now().Add(*duration)
	programs := 0
	for seed := *first; time.Now().Before(end); seed++ {
		if m := ch.Check(Generate(seed)); m != nil {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			m = ch.Reduce(ctx, m)
			t.Fatalf("%v\n%s", m, m.Source)
		}
		programs++
	}
	t.Logf("%d programs", programs)
}

// All programs are in one binary, because building one takes longer than running it.
func TestProgramsGiveTheSameResultsAsGo(t *testing.T) {
	names, cases := kept(t)
	for seed := *first; seed < *first+uint64(*native); seed++ {
		names, cases = append(names, fmt.Sprintf("seed %d", seed)), append(cases, Generate(seed))
	}
	n := &Native{Root: testmodule.Root(t)}
	list, err := n.Check(t.Context(), cases)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range list {
		if m != nil {
			t.Errorf("%s: %v\n%s", names[i], m, m.Source)
		}
	}
}

func TestKeptProgramsGiveTheSameResultsOnEveryDevice(t *testing.T) {
	names, cases := kept(t)
	ch := &Checker{Devices: devices(t), Metamorphic: true, AllForms: true}
	for i, c := range cases {
		if m := ch.Check(c); m != nil {
			t.Errorf("%s: %v", names[i], m)
		}
	}
}

// kept returns the programs in testdata.
func kept(t *testing.T) (names []string, cases []*Case) {
	t.Helper()
	testmodule.NeedSource(t)
	names, err := filepath.Glob("testdata/*.go")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d programs, %v", len(names), err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := Parse(string(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		cases = append(cases, c)
	}
	return names, cases
}

// TestWrongResultIsFound flips one bit of a result and expects a mismatch.
func TestWrongResultIsFound(t *testing.T) {
	testmodule.NeedGo(t)
	c := Generate(*first)
	k, err := lower("p.go", c.Source)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := c.refer(k)
	if err != nil {
		t.Fatal(err)
	}
	got := &Outcome{}
	for _, b := range ref.args {
		got.Args = append(got.Args, append([]byte(nil), b...))
	}
	if diff := ref.compare(got); diff != "" {
		t.Fatalf("the reference differs from itself: %s", diff)
	}
	for i, p := range k.Func.Params {
		if p.Name == "sums" {
			got.Args[i][0] ^= 1
		}
	}
	if ref.compare(got) == "" {
		t.Error("one bit of sums was changed, but no difference was found")
	}
}

func TestFailingProgramIsMinimized(t *testing.T) {
	testmodule.NeedGo(t)
	c := Generate(*first)
	small := Reduce(t.Context(), c, 8, func(list []*Case) []bool {
		out := make([]bool, len(list))
		for i, c := range list {
			_, err := lower("p.go", c.Source)
			out[i] = err == nil
		}
		return out
	})
	if len(small.Source) > len(c.Source)/3 {
		t.Errorf("minimizing for any program that compiles left %d of %d bytes:\n%s", len(c.Source), len(small.Source), small.Source)
	}
	again, err := Parse(small.Source)
	if err != nil || again.Seed != c.Seed || again.Grid != c.Grid {
		t.Errorf("the minimized program is launched as %+v, %v, want %+v", again, err, c)
	}
}
