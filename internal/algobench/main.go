package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strconv"
	"time"

	"quern.dev/gpu"
)

// options are the command-line options. Those of quern bench algo are the same, except peers.
type options struct {
	device        string
	n             int
	sweep, asJSON bool
	plot          string // the file for the plot of a sweep, unless empty
	peers         string // CSV of a sweep of another library, for the plot, unless empty
	shortly       bool   // one sample per figure, for tests
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("quern bench algo: ")
	var o options
	flag.StringVar(&o.device, "device", "", "device: cuda, cuda:1, cpu or sim; the best one if empty")
	flag.IntVar(&o.n, "elements", 0, "elements; 0 means a number that suits the device")
	flag.BoolVar(&o.sweep, "sweep", false, "measure the powers of two from 2^10 to -elements and write CSV")
	flag.StringVar(&o.plot, "plot", "", "write an SVG plot of the sweep to this file")
	flag.StringVar(&o.peers, "peers", "", "add a sweep of another library, in the same CSV, to the plot")
	flag.BoolVar(&o.asJSON, "json", false, "print JSON")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, os.Stdout, terminal(os.Stderr)); err != nil {
		log.Fatal(err)
	}
}

// terminal returns f if it is a terminal.
func terminal(f *os.File) io.Writer {
	if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		return f
	}
	return io.Discard
}

// run measures, and writes results to w as they come, except for JSON.
func run(ctx context.Context, o options, w, progress io.Writer) (err error) {
	dev, err := gpu.Open(gpu.Config{Device: o.device})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	if o.n == 0 {
		o.n = map[gpu.Backend]int{gpu.CUDA: 1 << 26, gpu.CPU: 1 << 22, gpu.Sim: 1 << 10}[dev.Backend()]
		if o.sweep {
			o.n = map[gpu.Backend]int{gpu.CUDA: 1 << 28, gpu.CPU: 1 << 24, gpu.Sim: 1 << 10}[dev.Backend()]
		}
	}
	b, err := newBench(dev, o.shortly || dev.Backend() == gpu.Sim)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	r := Report{Device: dev.Name(), Backend: string(dev.Backend())}
	if dev.Backend() == gpu.CUDA {
		if r.PeakTFlops, err = b.peak(ctx); err != nil {
			return err
		}
	}
	var out printer
	switch {
	case o.asJSON:
		out = silent{}
	case o.sweep:
		out = &rows{csv.NewWriter(w)}
	default:
		out = &table{w}
	}
	out.head(&r)
	for _, n := range o.sizes() {
		fmt.Fprintf(progress, "\r\x1b[K%d elements ...", n)
		err = b.size(ctx, n, func(f Figure) {
			fmt.Fprint(progress, "\r\x1b[K")
			r.Figures = append(r.Figures, f)
			out.figure(&r, f)
		})
		if err != nil {
			break
		}
	}
	fmt.Fprint(progress, "\r\x1b[K")
	if ctx.Err() != nil {
		err = errors.New("interrupted; the results are incomplete")
	}
	r.Complete = err == nil
	if o.plot != "" && r.Complete {
		err = o.writePlot(&r)
	}
	if o.asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		err = errors.Join(err, enc.Encode(r))
	}
	return err
}

// writePlot writes the plot of a sweep to its file.
func (o *options) writePlot(r *Report) error {
	var peers []Figure
	if o.peers != "" {
		in, err := os.Open(o.peers)
		if err != nil {
			return err
		}
		defer in.Close()
		if peers, err = readPeers(in); err != nil {
			return fmt.Errorf("%s: %w", o.peers, err)
		}
	}
	f, err := os.Create(o.plot)
	if err != nil {
		return err
	}
	return errors.Join(writePlot(f, r, peers), f.Close())
}

// sizes returns the numbers of elements to measure.
func (o *options) sizes() (sizes []int) {
	if !o.sweep {
		return []int{o.n}
	}
	for n := 1 << 10; n <= o.n; n *= 2 {
		sizes = append(sizes, n)
	}
	return sizes
}

// printer shows results.
type printer interface {
	head(r *Report)
	figure(r *Report, f Figure)
}

type silent struct{}

func (silent) head(*Report)           {}
func (silent) figure(*Report, Figure) {}

// table is for people.
type table struct{ w io.Writer }

func (t *table) head(r *Report) {
	fmt.Fprintln(t.w, r.Device)
	if r.PeakTFlops > 0 {
		fmt.Fprintf(t.w, "float32 multiply-adds: %.1f TFLOP/s\n", r.PeakTFlops)
	}
	fmt.Fprintf(t.w, "\n%-10s %11s %12s %10s %9s %9s %9s %9s\n", "", "elements", "time", "G/s", "GB/s", "of copy", "TFLOP/s", "of peak")
}

func (t *table) figure(r *Report, f Figure) {
	took := time.Duration(f.Seconds * 1e9).Round(10 * time.Nanosecond)
	flops, ofPeak := "-", "-"
	if f.TFlops > 0 {
		flops = fmt.Sprintf("%.3g", f.TFlops)
		if r.PeakTFlops > 0 {
			ofPeak = percent(f.TFlops / r.PeakTFlops)
		}
	}
	fmt.Fprintf(t.w, "%-10s %11d %12v %10.4g %9.4g %9s %9s %9s\n", f.Name, f.Elements, took, float64(f.Elements)/f.Seconds/1e9, f.GBs, percent(f.GBs/f.CopyGBs), flops, ofPeak)
}

func percent(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) }

// rows is CSV.
type rows struct{ w *csv.Writer }

func (t *rows) head(*Report) {
	t.write("algorithm", "elements", "seconds", "gb_per_second", "copy_gb_per_second", "tflops", "peak_tflops")
}

func (t *rows) figure(r *Report, f Figure) {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	t.write(f.Name, strconv.Itoa(f.Elements), number(f.Seconds), number(f.GBs), number(f.CopyGBs), number(f.TFlops), number(r.PeakTFlops))
}

func (t *rows) write(fields ...string) {
	t.w.Write(fields)
	t.w.Flush()
}
