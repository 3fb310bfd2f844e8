// Pagerank computes the PageRank of a graph with actors on the device. Each actor
// owns some of the vertices. In each step, an actor sends the contributions of
// its vertices to the actors that own their targets. When it has received all
// contributions of a step, it starts the next one. The host starts the actors and
// reads the ranks when they have converged; it takes no part in between.
//
//	go run ./examples/pagerank
//	go run ./examples/pagerank -device cpu -graph random -vertices 20000
//
// The program compares the ranks with those computed in plain Go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"quern.dev/gpu"
	"quern.dev/ring"
)

// Exit codes.
const (
	exitOK = iota
	exitFailed
	exitUsage
)

// options are the command-line options.
type options struct {
	device    string
	graph     string
	vertices  int // 0: depends on the device
	degree    int
	damping   float64
	tolerance float64
	steps     int
	seed      uint64
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run parses the arguments, runs the program and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var o options
	f := flag.NewFlagSet("pagerank", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.device, "device", "", "`device` to run on: cuda:0, cpu, sim (default: the best one available)")
	f.StringVar(&o.graph, "graph", "web", "`kind` of graph: random, or web, where a few vertices have most of the edges")
	f.IntVar(&o.vertices, "vertices", 0, "number of vertices (default: depends on the device)")
	f.IntVar(&o.degree, "degree", 8, "average number of edges per vertex")
	f.Float64Var(&o.damping, "damping", 0.85, "probability of following an edge")
	f.Float64Var(&o.tolerance, "tolerance", 1e-9, "convergence limit: total change of all ranks in one step")
	f.IntVar(&o.steps, "steps", 200, "maximum number of steps")
	f.Uint64Var(&o.seed, "seed", 1, "random seed")
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitUsage
	}
	err := o.check()
	if err == nil {
		err = compute(ctx, o, stdout)
	}
	if err != nil {
		fmt.Fprintf(stderr, "pagerank: %v\n", err)
		return exitFailed
	}
	return exitOK
}

// check returns an error for the first option that is out of range. The
// comparisons are false for NaN.
func (o *options) check() error {
	switch {
	case o.graph != "random" && o.graph != "web":
		return fmt.Errorf("-graph %q: want random or web", o.graph)
	case o.vertices < 0 || o.vertices > 1<<20:
		return fmt.Errorf("-vertices %d: want 1 to %d", o.vertices, 1<<20)
	case o.degree < 1 || o.degree > 100:
		return fmt.Errorf("-degree %d: want 1 to 100", o.degree)
	case !(o.damping >= 0 && o.damping < 1):
		return fmt.Errorf("-damping %v: want at least 0 and less than 1", o.damping)
	case !(o.tolerance >= 1e-12 && o.tolerance <= 1):
		return fmt.Errorf("-tolerance %v: want 1e-12 to 1", o.tolerance)
	case o.steps < 1 || o.steps > 1e6:
		return fmt.Errorf("-steps %d: want 1 to 1000000", o.steps)
	}
	return nil
}

// compute ranks a synthetic graph and prints the results.
func compute(ctx context.Context, o options, w io.Writer) (err error) {
	dev, err := gpu.Open(gpu.Config{Device: o.device})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	if o.vertices == 0 {
		o.vertices = map[gpu.Backend]int{gpu.CUDA: 30_000, gpu.CPU: 3000, gpu.Sim: 300}[dev.Backend()]
	}
	g := newGraph(o)
	rt, err := ring.New(dev, ring.Config{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	s, err := spawn(ctx, rt, g, o)
	if err != nil {
		return err
	}
	begin := time.Now()
	got, err := s.run(ctx)
	if err != nil {
		return err
	}
	took := time.Since(begin)
	want := g.reference(o)
	distance := got.distance(want)
	line := func(what, format string, args ...any) {
		fmt.Fprintf(w, "%-10s%s\n", what, fmt.Sprintf(format, args...))
	}
	line("ran", "PageRank of a synthetic %s graph with %d vertices and %d edges, by %d actors on %s (%s)", o.graph, len(g.edges), g.size(), len(s.actors), dev.Name(), dev.ID())
	ended, next := "converged", "try another device: -device cuda, cpu or sim; or another graph: -graph random, -degree 20; -h lists all options"
	if !got.converged(o) {
		ended, next = "NOT CONVERGED", "try more steps: -steps 1000; or a larger -tolerance than "+fmt.Sprint(o.tolerance)
	}
	line("result", "%s after %d steps of %.2f ms: ranks from %.3g to %.3g, with a sum of %.12f", ended, got.steps, took.Seconds()*1e3/float64(got.steps), got.least(), got.most(), got.sum())
	line("checked", "total difference from the ranks of plain Go: %.2g", distance)
	line("messages", "%d between actors, %.3g per second; %d retries because of full mailboxes", got.sent, float64(got.sent)/took.Seconds(), got.refused)
	line("next", "%s", next)
	if limit := o.tolerated(); distance > limit {
		return fmt.Errorf("the ranks differ from those of plain Go by %g, want at most %g", distance, limit)
	}
	return nil
}

// tolerated returns the maximum distance between two sets of converged ranks: the
// changes after convergence form a geometric series.
func (o *options) tolerated() float64 { return 2*o.tolerance*max(1, o.damping/(1-o.damping)) + 1e-12 }
