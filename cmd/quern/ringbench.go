//go:build !bootstrap

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"quern.dev/gpu"
	"quern.dev/internal/ringbench"
)

// ringBench holds the options of the command.
type ringBench struct {
	ringbench.Config
	device        string
	asJSON, check bool
	progress      io.Writer // nil: none
}

func ringBenchCommand() *cobra.Command {
	var b ringBench
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure latency and throughput of actors",
		Long: `bench measures messages to actors: the round-trip time of Ask with one message
outstanding, the number of batched messages per second to actors and back for
every combination of actors, payloads and batch sizes, and messages between
actors. Every reply is checked. Each row is printed as soon as it is measured. An
interrupt stops the measurement and keeps the rows printed so far.

With --check it measures the figures that have goals for the device, reports
which goals are met, and exits with 1 if any is missed.`,
		Example: `  quern ring bench
  quern ring bench --device cpu --actors 1,4 --payload 64 --batch 256
  quern ring bench --device cuda --check --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := b.Validate(); err != nil {
				return errUsage{err, cmd.CommandPath()}
			}
			for _, flag := range []string{"actors", "payload", "batch"} {
				if b.check && cmd.Flags().Changed(flag) {
					return errUsage{fmt.Errorf("--check selects what is measured; remove --%s", flag), cmd.CommandPath()}
				}
			}
			if w, ok := cmd.ErrOrStderr().(*os.File); ok {
				if info, err := w.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
					b.progress = w
				}
			}
			return b.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&b.device, "device", "", "device: cuda, cuda:1, cpu or sim; the best one if empty")
	flags.IntSliceVar(&b.Actors, "actors", []int{1, 8, 64}, "numbers of actors")
	flags.IntSliceVar(&b.Payloads, "payload", []int{16, 64, 256}, "message sizes in bytes: 16, 64 or 256")
	flags.IntSliceVar(&b.Batches, "batch", []int{1, 32, 256}, "numbers of messages sent at once")
	flags.DurationVar(&b.Duration, "duration", 500*time.Millisecond, "duration of each measurement")
	flags.BoolVar(&b.asJSON, "json", false, "print JSON")
	flags.BoolVar(&b.check, "check", false, "compare the results with the goals for the device")
	return cmd
}

func (b *ringBench) run(ctx context.Context, w io.Writer) (err error) {
	dev, err := gpu.Open(gpu.Config{Device: b.device})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	measure := b.measure
	if b.check {
		measure = b.compare
	}
	err = measure(ctx, dev, w)
	b.showProgress("")
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return errors.New("interrupted; the results above are incomplete")
	}
	return err
}

// showProgress shows the current step on the terminal, replacing the previous
// one.
func (b *ringBench) showProgress(format string, args ...any) {
	if b.progress != nil {
		fmt.Fprintf(b.progress, "\r\033[K"+format, args...)
	}
}

// measure prints the results of all measurements.
func (b *ringBench) measure(ctx context.Context, dev *gpu.Device, w io.Writer) error {
	o := ringbench.Observer{Begin: func(step, steps int, what string) { b.showProgress("%d of %d: %s", step, steps, what) }}
	text := &ringbench.Text{W: w}
	if !b.asJSON {
		text.Place(ringbench.PlaceOf(dev))
		o.Latency = func(l ringbench.Latency) { b.showProgress(""); text.Latency(l) }
		o.Relaying = func(r ringbench.Relaying) { b.showProgress(""); text.Relaying(r) }
		o.Throughput = func(t ringbench.Throughput) { b.showProgress(""); text.Throughput(t) }
	}
	report, err := ringbench.Run(ctx, dev, b.Config, o)
	if report == nil {
		return err
	}
	if b.asJSON {
		return errors.Join(err, printJSON(w, report))
	}
	text.Peer(report.Peer)
	if err == nil {
		text.Result(report)
	}
	return err
}

// compare prints figures together with their goals.
func (b *ringBench) compare(ctx context.Context, dev *gpu.Device, w io.Writer) error {
	c := &ringbench.Checker{Device: dev, Duration: b.Duration, Begin: func(what string) { b.showProgress("%s", what) }}
	text := &ringbench.Text{W: w}
	if !b.asJSON {
		text.Place(ringbench.PlaceOf(dev))
		c.Show = func(f ringbench.Figure) { b.showProgress(""); text.Figure(f) }
		c.Note = func(line string) { b.showProgress(""); text.Note(line) }
	}
	err := c.Run(ctx, ringbench.Checks)
	if b.asJSON {
		err = errors.Join(err, printJSON(w, struct {
			ringbench.Place
			Figures []ringbench.Figure  `json:"figures"`
			Peer    ringbench.Published `json:"peer"`
		}{ringbench.PlaceOf(dev), c.Figures, ringbench.Peer}))
	} else {
		text.Peer(ringbench.Peer)
		if err == nil {
			text.Verdict(ringbench.PlaceOf(dev), c.Figures)
		}
	}
	if err == nil && !c.Met() {
		return errFound
	}
	return err
}
