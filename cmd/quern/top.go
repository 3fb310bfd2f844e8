package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"quern.dev/cmd/quern/internal/top"
	"quern.dev/internal/terminal"
	"quern.dev/monitor"
)

func topCommand() *cobra.Command {
	var once, asJSON bool
	interval := time.Second
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Show the state of the GPUs, once per second",
		Long: `top shows all GPUs of this machine: how busy they are, memory, power, temperature,
clocks, PCIe and NVLink traffic, processes, and the recent past of one of them. It
needs a terminal of 80x24 or more. Press h for the keys, and q to quit.

The values come from NVML, which is part of NVIDIA's driver. A dash is a value
that the driver or the GPU does not report. Without a GPU, top says why there is
none and shows the CPU.

With --once, top prints the state and exits; this needs no terminal. With --json,
it prints JSON, one object per line and interval, or a single one with --once.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkInterval(interval); err != nil {
				return errUsage{err, cmd.CommandPath()}
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			out := cmd.OutOrStdout()
			switch {
			case once:
				return printOnce(ctx, out, asJSON)
			case asJSON:
				return streamJSON(ctx, out, interval)
			}
			screen, _ := out.(*os.File)
			if err := checkTerminal(os.Stdin, screen, os.Getenv("TERM")); err != nil {
				return err
			}
			return top.Run(ctx, os.Stdin, screen, &top.View{Look: look(os.Getenv), Interval: interval})
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "print the state and exit")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().DurationVar(&interval, "interval", interval, "time between two readings")
	return cmd
}

// The limits of --interval.
const (
	shortestInterval = 100 * time.Millisecond
	longestInterval  = time.Hour
)

func checkInterval(interval time.Duration) error {
	if interval < shortestInterval || interval > longestInterval {
		return fmt.Errorf("--interval is %v; want %v to %v", interval, shortestInterval, longestInterval)
	}
	return nil
}

// checkTerminal returns why top cannot draw.
func checkTerminal(in, out *os.File, term string) error {
	const instead = "use quern top --once, with --json for JSON"
	switch {
	case out == nil || !terminal.Is(out):
		return errors.New("top: standard output is not a terminal; " + instead)
	case !terminal.Is(in):
		return errors.New("top: standard input is not a terminal; " + instead)
	case term == "" || term == "dumb":
		return fmt.Errorf("top: the terminal cannot move its cursor (TERM=%q); set TERM, or %s", term, instead)
	}
	return nil
}

// look returns what the terminal can show, by its environment.
func look(getenv func(string) string) top.Look {
	l := top.Look{Color: getenv("NO_COLOR") == ""}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(getenv(name)); locale != "" {
			l.Unicode = strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
			break
		}
	}
	return l
}

// rateInterval is the time over which --once measures rates and loads.
const rateInterval = 200 * time.Millisecond

func printOnce(ctx context.Context, w io.Writer, asJSON bool) error {
	var last *monitor.Snapshot
	n := 0
	for last = range monitor.Sample(ctx, rateInterval) {
		if n++; n == 2 {
			break
		}
	}
	if last == nil {
		return ctx.Err()
	}
	if !asJSON {
		return top.Print(w, last)
	}
	return printJSON(w, last)
}

func streamJSON(ctx context.Context, w io.Writer, interval time.Duration) error {
	e := json.NewEncoder(w)
	for s := range monitor.Sample(ctx, interval) {
		if err := e.Encode(s); err != nil {
			return err
		}
	}
	return nil
}
