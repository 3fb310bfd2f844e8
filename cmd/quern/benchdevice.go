//go:build !bootstrap

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"quern.dev/gpu"
	"quern.dev/profile"
)

// deviceBench holds the options of the command.
type deviceBench struct {
	device, plots   string
	asJSON, unsaved bool
	progress        io.Writer // nil: none
}

func benchDeviceCommand() *cobra.Command {
	var b deviceBench
	cmd := &cobra.Command{
		Use:   "device",
		Short: "Measure bandwidths and latencies of a device",
		Long: `device measures global memory (BabelStream's five kernels, strides, random reads,
working sets), shared memory with and without bank conflicts, atomics, copies
between host and device and between GPUs, launches and waits. It prints tables and
saves them as the card of the device, from which quern advise predicts times.

It takes about ten seconds, and a quarter of the device's free memory. Other work
on the device makes the figures worse.`,
		Example: `  quern bench device
  quern bench device --device cpu --json
  quern bench device --plots plots      writes plots/stream.svg, plots/stream.png, ...`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b.progress = terminalOf(cmd.ErrOrStderr())
			return b.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&b.device, "device", "", "device: cuda, cuda:1 or cpu; the best one if empty")
	flags.StringVar(&b.plots, "plots", "", "directory for a plot of each table, as SVG and PNG")
	flags.BoolVar(&b.asJSON, "json", false, "print JSON")
	flags.BoolVar(&b.unsaved, "no-save", false, "do not save the card")
	return cmd
}

func (b *deviceBench) run(ctx context.Context, w, messages io.Writer) (err error) {
	dev, err := gpu.Open(gpu.Config{Device: b.device})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	card, err := measureCard(ctx, dev, b.progress)
	if err != nil {
		return err
	}
	write := card.WriteMarkdown
	if b.asJSON {
		write = card.WriteJSON
	}
	if err := write(w); err != nil {
		return err
	}
	if b.plots != "" {
		if err := writePlots(b.plots, card.Patterns); err != nil {
			return err
		}
	}
	if b.unsaved {
		return nil
	}
	path, err := card.Save()
	if err == nil && !b.asJSON {
		fmt.Fprintf(messages, "saved %s\n", path)
	}
	return err
}

// measureCard measures a device, with progress on a terminal.
func measureCard(ctx context.Context, dev *gpu.Device, progress io.Writer) (*profile.Card, error) {
	show := func(step, steps int, what string) {
		if progress != nil {
			fmt.Fprintf(progress, "\r\033[Kmeasuring %s: %d of %d: %s", dev.ID(), step, steps, what)
		}
	}
	card, err := profile.MeasureCard(ctx, dev.DefaultStream(), show)
	if progress != nil {
		fmt.Fprint(progress, "\r\033[K")
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil, errors.New("interrupted; nothing was saved")
	}
	return card, err
}

// writePlots writes an SVG and a PNG for each pattern.
func writePlots(dir string, patterns []profile.Pattern) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i := range patterns {
		p := &patterns[i]
		for _, form := range []struct {
			suffix string
			write  func(io.Writer) error
		}{{".svg", p.WriteSVG}, {".png", p.WritePNG}} {
			var data bytes.Buffer
			if err := form.write(&data); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, p.Name+form.suffix), data.Bytes(), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}
