package main

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/ring"
)

// backends lists the back ends to test, where devices are available.
var backends = []gpu.Backend{gpu.CPU, gpu.Sim, gpu.CUDA}

func open(t *testing.T, b gpu.Backend) *ring.Runtime {
	dev, err := gpu.Open(gpu.Config{Require: b})
	if err != nil {
		t.Skipf("no %s device: %v; go tool quern doctor says what to do", b, err)
	}
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	rt, err := ring.New(dev, ring.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return rt
}

// solve computes the ranks of a graph with actors.
func solve(t *testing.T, b gpu.Backend, g *graph, o options) *result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	s, err := spawn(ctx, open(t, b), g, o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func defaults() options {
	return options{graph: "web", vertices: 600, degree: 6, damping: 0.85, tolerance: 1e-9, steps: 200, seed: 1}
}

func TestActorsAgreeWithPlainGo(t *testing.T) {
	for _, b := range backends {
		for _, tt := range []struct {
			name   string
			change func(o *options)
		}{
			{"a random graph", func(o *options) { o.graph = "random" }},
			{"a web", func(o *options) { o.vertices = 1200 }},
			{"much damping", func(o *options) { o.damping = 0.3 }},
			{"no edge is followed", func(o *options) { o.damping = 0 }},
			{"few steps", func(o *options) { o.steps = 3 }},
		} {
			t.Run(string(b)+"/"+tt.name, func(t *testing.T) {
				o := defaults()
				if b == gpu.Sim {
					o.vertices, o.tolerance = 200, 1e-6
				} else {
					tt.change(&o)
				}
				g := newGraph(o)
				r := solve(t, b, g, o)
				if d := r.distance(g.reference(o)); d > o.tolerated() {
					t.Errorf("the ranks differ by %g", d)
				}
				if math.Abs(r.sum()-1) > 1e-9 {
					t.Errorf("the sum of the ranks is %v", r.sum())
				}
			})
		}
	}
}

func TestGraphsOfFewVertices(t *testing.T) {
	for name, g := range map[string]*graph{
		"one vertex":                     {[][]int{nil}},
		"a vertex that points to itself": {[][]int{{0}}},
		"no edges":                       {[][]int{nil, nil, nil}},
		"a circle":                       {[][]int{{1}, {2}, {0}}},
		"all point to one":               {[][]int{nil, {0}, {0}, {0}, {0}}},
		"edges that are there twice":     {[][]int{{1, 1}, {0, 2, 2}, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			o := defaults()
			o.tolerance = 1e-10
			if d := solve(t, gpu.CPU, g, o).distance(g.reference(o)); d > o.tolerated() {
				t.Errorf("the ranks differ by %g", d)
			}
		})
	}
}

func TestRanksAreTheSameOnEveryDevice(t *testing.T) {
	o := defaults()
	o.vertices, o.tolerance = 150, 1e-6
	g := newGraph(o)
	want := solve(t, gpu.CPU, g, o)
	for _, b := range backends {
		t.Run(string(b), func(t *testing.T) {
			for range 2 {
				got := solve(t, b, g, o)
				if !slices.Equal(got.ranks, want.ranks) || got.steps != want.steps || got.sent != want.sent {
					t.Errorf("%d steps, %d messages, and ranks that differ by %g; want %d steps, %d messages and the same ranks",
						got.steps, got.sent, got.distance(want.ranks), want.steps, want.sent)
				}
			}
		})
	}
}

// TestFullMailboxesOnTheSimulator lets the simulator check for races while parts
// wait for room.
func TestFullMailboxesOnTheSimulator(t *testing.T) {
	o := defaults()
	o.vertices, o.degree, o.steps, o.tolerance = 500, 16, 3, 0
	g := newGraph(o)
	r := solve(t, gpu.Sim, g, o)
	if d := r.distance(g.reference(o)); d > o.tolerated() {
		t.Errorf("the ranks differ by %g", d)
	}
	if r.refused == 0 {
		t.Error("no mailbox was full")
	}
}

func TestGraphsThatAreTooLargeAreRejected(t *testing.T) {
	o := defaults()
	o.vertices = 3000
	g := newGraph(o)
	if _, err := g.divide(o, 5); err == nil || !strings.Contains(err.Error(), "3000 vertices are too many for 5 actors") {
		t.Errorf("%v", err)
	}
	hub := &graph{make([][]int, 100)}
	for range maxChunks*chunkEdges + 1 {
		hub.edges[0] = append(hub.edges[0], 1)
	}
	if _, err := hub.divide(o, 2); err == nil || !strings.Contains(err.Error(), "edges are too many for 2 actors") {
		t.Errorf("%v", err)
	}
}

func TestFailedPartIsNamed(t *testing.T) {
	for _, b := range backends {
		t.Run(string(b), func(t *testing.T) {
			o := defaults()
			broken := &graph{[][]int{{1}, {2}, {0}, {1 + 2*maxVertices}}} // vertex does not exist; it belongs to part 1
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			s, err := spawn(ctx, open(t, b), broken, o)
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.run(ctx)
			var cause *gpu.KernelError
			if !errors.As(err, &cause) || !strings.Contains(err.Error(), "actor part-1") || ctx.Err() != nil {
				t.Errorf("%v, want a KernelError of part-1", err)
			}
			for _, a := range s.actors { // so that Close does not report their remaining messages
				if _, err := a.Terminate(ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestRun(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"a graph", []string{"-vertices", "300"}, exitOK, "total difference from the ranks of plain Go: "},
		{"where it ran", []string{"-vertices", "300"}, exitOK, "by 2 actors on "},
		{"what came of it", []string{"-vertices", "300"}, exitOK, "result    converged after "},
		{"too few steps", []string{"-vertices", "300", "-steps", "2"}, exitOK, "next      try more steps: -steps 1000"},
		{"help", []string{"-h"}, exitOK, "-damping"},
		{"an unknown graph", []string{"-graph", "tree"}, exitFailed, `-graph "tree": want random or web`},
		{"no edges", []string{"-degree", "0"}, exitFailed, "-degree 0"},
		{"too many vertices", []string{"-vertices", "100000000"}, exitFailed, "-vertices 100000000"},
		{"more vertices than actors have room for", []string{"-vertices", "70000"}, exitFailed, "70000 vertices with"},
		{"a damping of one", []string{"-damping", "1"}, exitFailed, "-damping 1"},
		{"a damping that is not a number", []string{"-damping", "NaN"}, exitFailed, "-damping NaN"},
		{"a tolerance of nothing", []string{"-tolerance", "0"}, exitFailed, "-tolerance 0"},
		{"no steps", []string{"-steps", "0"}, exitFailed, "-steps 0"},
		{"an unknown device", []string{"-device", "abacus"}, exitFailed, "abacus"},
		{"an unknown flag", []string{"-colour"}, exitUsage, "-colour"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			code := run(t.Context(), append([]string{"-device", "cpu"}, tt.args...), &out, &errs)
			if text := out.String() + errs.String(); code != tt.code || !strings.Contains(text, tt.want) {
				t.Errorf("exit code %d, want %d with %q:\n%s", code, tt.code, tt.want, text)
			}
		})
	}
}
