package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/spf13/cobra"
)

func benchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure devices, kernels and libraries",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(benchAlgoCommand())
	cmd.AddCommand(compiledBench()...)
	return cmd
}

// algoBench holds the options of the command. Package algobench has the same ones.
type algoBench struct {
	device        string
	elements      int
	sweep, asJSON bool
	plot          string
}

func benchAlgoCommand() *cobra.Command {
	var b algoBench
	cmd := &cobra.Command{
		Use:   "algo",
		Short: "Measure reduce, scan, select, histogram, sort, fft and gemm",
		Long: `algo measures algorithms of packages algo, fft and blas on a device: the time, the
bytes per second that the algorithm moves, and their share of the bandwidth of a
copy of as many elements; for fft and gemm also operations per second and, on a
GPU, their share of the measured peak. docs/algorithms.md says how many bytes
each algorithm moves.

The measurement is a program of its own, which the go command compiles first. Run
it where quern gen works: in a module that requires quern.dev.`,
		Example: `  quern bench algo
  quern bench algo --device cpu --elements 1000000
  quern bench algo --sweep > sweep.csv
  quern bench algo --sweep --elements 1073741824 --plot sweep.svg > sweep.csv`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			const most = 1 << 30
			switch {
			case b.elements < 0 || b.elements > most:
				return errUsage{fmt.Errorf("%d elements: want 1 to %d, or 0 for a number that suits the device", b.elements, most), cmd.CommandPath()}
			case b.sweep && b.elements > 0 && b.elements < 1<<10:
				return errUsage{fmt.Errorf("--sweep to %d elements: it begins with %d", b.elements, 1<<10), cmd.CommandPath()}
			case b.plot != "" && !b.sweep:
				return errUsage{errors.New("--plot without --sweep: there is nothing to plot"), cmd.CommandPath()}
			}
			run := b.command(cmd.Context())
			run.Stdout, run.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return explain(run.Run())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&b.device, "device", "", "device: cuda, cuda:1, cpu or sim; the best one if empty")
	flags.IntVar(&b.elements, "elements", 0, "number of elements of 4 bytes (fft: 8); 0 means one that suits the device")
	flags.BoolVar(&b.sweep, "sweep", false, "measure the powers of two from 2^10 to --elements, by default 2^28 on a GPU, and write CSV")
	flags.StringVar(&b.plot, "plot", "", "write an SVG plot of the sweep to this file")
	flags.BoolVar(&b.asJSON, "json", false, "print JSON")
	return cmd
}

// command returns the call of the go command that compiles and runs the measurement. The
// libraries are no part of the quern command: their kernels would make it much larger.
func (b *algoBench) command(ctx context.Context) *exec.Cmd {
	run := exec.CommandContext(ctx, "go", "run", "quern.dev/internal/algobench",
		"-device="+b.device, "-elements="+strconv.Itoa(b.elements), "-sweep="+strconv.FormatBool(b.sweep), "-json="+strconv.FormatBool(b.asJSON), "-plot="+b.plot)
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	run.WaitDelay = 10 * time.Second
	return run
}

// explain returns the error of the command for an error of the go command. If that has run,
// it has printed what is wrong.
func explain(err error) error {
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return errFound
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("the go command, which compiles the measurement, is missing: %w", err)
	}
	return err
}
