// Command cmd generates random kernels and compares what everything that can run
// them makes of them; see package fuzz.
//
//	go run ./internal/fuzz/cmd -count 100000              plain Go, cpu and sim
//	go run ./internal/fuzz/cmd -devices sim,cuda -native=false -workers 16
//	go run ./internal/fuzz/cmd -show -first 17            print the program of a seed
//	go run ./internal/fuzz/cmd -run failing.go            run one that was kept
//
// An interrupt ends it with a summary. The exit status is 1 if there are
// mismatches.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
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
		devices  = flag.String("devices", "sim", "devices that run PTX: sim, cuda")
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
		Open: func() ([]*fuzz.Device, error) { return open(*devices) },
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

func open(names string) ([]*fuzz.Device, error) {
	var list []*fuzz.Device
	for name := range strings.SplitSeq(names, ",") {
		candidate := sim.Candidate(sim.Options{Steps: fuzz.SimSteps})
		switch name {
		case "sim":
		case "cuda":
			candidate = cuda.Candidates()[0]
		default:
			return nil, fmt.Errorf("no device %q", name)
		}
		d, err := fuzz.OpenDevice(name, candidate)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		list = append(list, d)
	}
	return list, nil
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
