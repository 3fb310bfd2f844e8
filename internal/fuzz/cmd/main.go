// Command cmd generates random kernels, runs them with everything that can run them, and
// compares the results; see package fuzz.
//
//	go run ./internal/fuzz/cmd -count 100000              plain Go, cpu and sim
//	go run ./internal/fuzz/cmd -cuda -native=false -workers 16
//	go run ./internal/fuzz/cmd -show -first 17            print the program of a seed
//	go run ./internal/fuzz/cmd -run failing.go            run a kept program
//
// An interrupt ends the run with a summary. The exit status is 1 if there are mismatches.
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
		duration = flag.Duration("duration", 0, "time limit; 0 for none")
		workers  = flag.Int("workers", 1, "number of programs to run concurrently")
		gpu      = flag.Bool("cuda", false, "also run PTX on the first GPU, not only on the simulator")
		native   = flag.Bool("native", true, "also run plain Go and cpu; needs the go command and the repository in the current directory")
		forms    = flag.Bool("metamorphic", true, "also compile with fewer passes")
		keep     = flag.String("keep", ".", "directory for failing programs")
		show     = flag.Bool("show", false, "print the program of the first seed and exit")
		minimize = flag.Bool("minimize", false, "with -run: minimize the program")
		file     = flag.String("run", "", "run the program in this file and exit")
	)
	flag.Parse()
	debug.SetGCPercent(400) // programs are small and immediately become garbage
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
		return one(ctx, c, *file, *minimize)
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

// open opens the simulator and, if gpu is set, a GPU after it. A program that the
// simulator rejects, for example because of a data race, says nothing about a GPU.
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

// one runs a kept program.
func one(ctx context.Context, c *fuzz.Campaign, name string, minimize bool) int {
	text, err := os.ReadFile(name)
	if err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		return 2
	}
	m, err := c.One(ctx, string(text), minimize)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		return 2
	case m != nil:
		fmt.Println(m)
		if minimize {
			fmt.Print(m.Source)
		}
		return 1
	}
	fmt.Println("no mismatch")
	return 0
}
