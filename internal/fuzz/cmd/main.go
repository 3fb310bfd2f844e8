// Command cmd generates random kernels and compares what everything that can run
// them makes of them; see package fuzz.
//
//	go run ./internal/fuzz/cmd -count 100000              plain Go, cpu and sim
//	go run ./internal/fuzz/cmd -cuda -native=false -workers 16
//	go run ./internal/fuzz/cmd -show -first 17            print the program of a seed
//	go run ./internal/fuzz/cmd -run failing.go            run one that was kept
//
// An interrupt ends it with a summary. The exit status is 1 if there are
// mismatches.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"time"

	"quern.dev/internal/driver/cuda"
	"quern.dev/internal/driver/sim"
	"quern.dev/internal/fuzz"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx))
}

func run(ctx context.Context) int {
	var (
		first    = flag.Uint64("first", 1, "seed of the first program")
		count    = flag.Uint64("count", 1000, "number of programs")
		duration = flag.Duration("duration", 0, "how long to run at most; 0 is no limit")
		workers  = flag.Int("workers", 1, "programs to run at a time")
		gpu      = flag.Bool("cuda", false, "run PTX on the first GPU too, not only on the simulator")
		native   = flag.Bool("native", true, "run plain Go and cpu too, which needs the go command and the repository in the current directory")
		forms    = flag.Bool("metamorphic", true, "also compile with fewer passes")
		keep     = flag.String("keep", ".", "directory for programs that fail")
		show     = flag.Bool("show", false, "print the program of the first seed and exit")
		minimise = flag.Bool("minimise", false, "with -run: minimise the program")
		file     = flag.String("run", "", "run the program in a file and exit")
	)
	flag.Parse()
	debug.SetGCPercent(400) // programs are small, and each is garbage at once
	if *show {
		fmt.Print(fuzz.Generate(*first).Source)
		return 0
	}
	c := &fuzz.Campaign{
		First: *first, Count: *count, Duration: *duration, Workers: *workers, Metamorphic: *forms,
		Keep: *keep, Progress: os.Stderr,
		Open: func() ([]*fuzz.Device, error) { return open(*gpu) },
	}
	if *native {
		c.Native = &fuzz.Native{Root: "."}
	}
	if *file != "" {
		return one(ctx, c, *file, *minimise)
	}
	start := time.Now()
	summary, err := c.Run(ctx)
	fmt.Printf("seeds from %d, %s: %v\n", *first, start.Format(time.DateTime), summary)
	for _, m := range summary.Mismatches {
		fmt.Printf("\n%v\n%s", m, m.Source)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		return 2
	}
	if summary.Failed > 0 {
		return 1
	}
	return 0
}

// open opens the simulator and, behind it, a GPU: what the simulator has something
// against, such as a data race, tells nothing about a GPU.
func open(gpu bool) ([]*fuzz.Device, error) {
	d, err := fuzz.OpenDevice("sim", sim.Candidate(sim.Options{Steps: fuzz.SimSteps}))
	if err != nil || !gpu {
		return []*fuzz.Device{d}, err
	}
	c, err := fuzz.OpenDevice("cuda", cuda.Candidates()[0])
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cuda: %w", err), d.Close())
	}
	return []*fuzz.Device{d, c}, nil
}

// one runs a program that was kept.
func one(ctx context.Context, c *fuzz.Campaign, name string, minimise bool) int {
	text, err := os.ReadFile(name)
	if err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		return 2
	}
	m, err := c.One(ctx, string(text), minimise)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		return 2
	case m != nil:
		fmt.Println(m)
		if minimise {
			fmt.Print(m.Source)
		}
		return 1
	}
	fmt.Println("no mismatch")
	return 0
}
