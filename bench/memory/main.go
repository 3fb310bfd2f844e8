// Command memory measures copies, pools, pipelines, graphs and several devices, compares
// them with CuPy and torch in the same run, and prints each figure with its goal.
//
//	CGO_ENABLED=0 go build -o .gpu/bench-memory ./bench/memory
//	.gpu/bench-memory [-device cuda] [section ...]
//
// The peers run as separate python3 programs if Python has them.
package main

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"time"

	"quern.dev/gpu"
)

// section is one part of the measurements.
type section struct {
	name string
	run  func(*run) error
}

var sections []section

// register adds a section. Each file of the package registers one.
func register(name string, f func(*run) error) { sections = append(sections, section{name, f}) }

// run is one run of the command.
type run struct {
	ctx    context.Context
	dev    *gpu.Device
	failed []string
}

// show prints a figure.
func (r *run) show(name string, value float64, unit string) {
	fmt.Printf("  %-58s %10.4g %s\n", name, value, unit)
}

// atLeast prints a figure with a lower bound as its goal.
func (r *run) atLeast(name string, value, goal float64, unit string) {
	r.judge(name, value, unit, fmt.Sprintf("at least %g", goal), value >= goal)
}

// atMost prints a figure with an upper bound as its goal.
func (r *run) atMost(name string, value, goal float64, unit string) {
	r.judge(name, value, unit, fmt.Sprintf("at most %g", goal), value <= goal)
}

func (r *run) judge(name string, value float64, unit, goal string, ok bool) {
	verdict := "ok"
	if !ok {
		verdict = "MISSED"
		r.failed = append(r.failed, name)
	}
	fmt.Printf("  %-58s %10.4g %-6s (%s: %s)\n", name, value, unit, goal, verdict)
}

//go:embed *.py
var scripts embed.FS

// peer runs one of the package's Python programs and returns the figures that it prints,
// one JSON object {"name": value, ...} per line. The error says if Python or a library is
// missing.
func (r *run) peer(script string, args ...string) (map[string]float64, error) {
	source, err := scripts.ReadFile(script)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(r.ctx, "python3", append([]string{"-"}, args...)...)
	cmd.Stdin = strings.NewReader(string(source))
	var log strings.Builder
	cmd.Stderr = &log
	out, err := cmd.Output()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		return nil, fmt.Errorf("%s: %w: %s", script, err, lines[len(lines)-1])
	}
	figures := map[string]float64{}
	for line := range strings.Lines(string(out)) {
		if err := json.Unmarshal([]byte(line), &figures); err != nil {
			return nil, fmt.Errorf("%s printed %q: %w", script, line, err)
		}
	}
	return figures, nil
}

// median runs f once without measuring it, then the given number of times, and returns the
// median duration.
func median(times int, f func() error) (time.Duration, error) {
	if err := f(); err != nil {
		return 0, err
	}
	took := make([]time.Duration, times)
	for i := range took {
		begin := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		took[i] = time.Since(begin)
	}
	slices.Sort(took)
	return took[times/2], nil
}

func main() {
	device := flag.String("device", "", "device to measure")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := measure(ctx, *device, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func measure(ctx context.Context, device string, wanted []string) error {
	slices.SortFunc(sections, func(a, b section) int { return cmp.Compare(a.name, b.name) })
	for _, name := range wanted {
		if !slices.ContainsFunc(sections, func(s section) bool { return s.name == name }) {
			return fmt.Errorf("memory: no section %q", name)
		}
	}
	d, err := gpu.Open(gpu.Config{Device: device})
	if err != nil {
		return err
	}
	defer d.Close()
	fmt.Printf("%s (%s), %s\n", d.Name(), d.ID(), time.Now().Format(time.DateTime))
	r := &run{ctx: ctx, dev: d}
	for _, s := range sections {
		if len(wanted) > 0 && !slices.Contains(wanted, s.name) {
			continue
		}
		fmt.Printf("%s\n", s.name)
		if err := s.run(r); err != nil {
			fmt.Printf("  FAILED: %v\n", err)
			r.failed = append(r.failed, s.name)
		}
	}
	if len(r.failed) > 0 {
		return fmt.Errorf("missed: %s", strings.Join(r.failed, "; "))
	}
	return nil
}
