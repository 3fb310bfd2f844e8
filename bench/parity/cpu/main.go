// Cpu compares the CPU device with hand-written parallel Go on the kernels of package
// parity, on all cores:
//
//	go run ./bench/parity/cpu
//
// Both get the same inputs and take turns. The outputs are compared first.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"quern.dev/bench/parity/suite"
	"quern.dev/gpu"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("parity/cpu: ")
	only := flag.String("run", "", "`regular expression` of the kernels to measure")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	pattern, err := regexp.Compile(*only)
	if err == nil {
		err = run(ctx, os.Stdout, pattern, suite.CPU, time.Second)
	}
	if err != nil {
		log.Print(err)
		os.Exit(1)
	}
}

// Upper bounds for the ratios of the kernels from hotspot to lorenz: their geometric mean,
// and each of them.
const (
	goalMean = 1.15
	goalEach = 1.6
)

// run measures the kernels, each for the duration budget.
func run(ctx context.Context, w io.Writer, only *regexp.Regexp, size suite.Size, budget time.Duration) (err error) {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	fmt.Fprintf(w, "%s, %d workers\n\n", dev.Name(), runtime.GOMAXPROCS(0))
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tby hand\tQuern\tratio\t")
	var logs float64
	n, above := 0, 0
	for _, entry := range suite.All {
		if !only.MatchString(entry.Name) {
			continue
		}
		byHand, quern, err := measure(ctx, dev, entry.New(size), budget)
		if err != nil {
			return err
		}
		fmt.Fprintf(t, "%s\t%.3f ms\t%.3f ms\t%.2f\t\n", entry.Name, byHand*1e3, quern*1e3, quern/byHand)
		logs += math.Log(quern / byHand)
		n++
		if quern/byHand > goalEach {
			above++
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if n > 0 {
		fmt.Fprintf(w, "\n%d kernels, geometric mean %.2f (goal %.2f), %d above %.1f\n", n, math.Exp(logs/float64(n)), goalMean, above, goalEach)
	}
	return nil
}

// measure compares the results of a case and returns the shortest times in seconds, which
// other work on the machine affects least.
func measure(ctx context.Context, dev *gpu.Device, c *suite.Case, budget time.Duration) (byHand, quern float64, err error) {
	s := dev.DefaultStream()
	b, err := c.Bind(s)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	launch := func() error {
		if err := b.Launch(c.Kernel.Checked); err != nil {
			return err
		}
		return s.Synchronize(ctx)
	}
	c.ByHand()
	if err := errors.Join(b.Reset(), launch(), b.Compare(ctx)); err != nil {
		return 0, 0, err
	}
	const fewest = 3
	var hands, querns []float64
	for begin := time.Now(); len(hands) < fewest || time.Since(begin) < budget; {
		start := time.Now()
		c.ByHand()
		hands = append(hands, time.Since(start).Seconds())
		start = time.Now()
		if err := launch(); err != nil {
			return 0, 0, err
		}
		querns = append(querns, time.Since(start).Seconds())
	}
	return slices.Min(hands), slices.Min(querns), nil
}
