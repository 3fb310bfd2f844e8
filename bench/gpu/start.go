package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"quern.dev/bench/kernels"
	"quern.dev/bench/results"
	"quern.dev/gpu"
)

// A small program opens the device, uploads two arrays, launches one kernel that the
// driver has compiled before, downloads the result and closes everything. It runs as a
// separate process, because a process initializes the driver only once.
const (
	startVariable = "QUERN_BENCH_START" // environment variable that names the tool in that process
	startElements = 1 << 20
	startRounds   = 11
)

// startPhases lists the phases of a small program in order, then their sum, and the time
// of the whole process.
var startPhases = []string{"open", "first uploads", "first launch", "download", "close", "small program", "its process"}

// phases records the times of the phases in this process.
type phases struct {
	began  time.Time
	last   time.Time
	micros map[string]float64
}

func newPhases() *phases {
	now := time.Now()
	return &phases{began: now, last: now, micros: map[string]float64{}}
}

// end ends the phase with the given name.
func (p *phases) end(name string) {
	now := time.Now()
	p.micros[name] = float64(now.Sub(p.last)) / 1e3
	p.last = now
}

// startProgram runs a small program with the given tool.
func startProgram(tool, device string) error {
	x, y := make([]float32, startElements), make([]float32, startElements)
	for i := range x {
		x[i], y[i] = float32(i), 1
	}
	p := newPhases()
	run := startQuern
	if tool == "driver call" {
		run = func(p *phases, _ string, x, y []float32) error { return startBare(p, x, y) }
	}
	if err := run(p, device, x, y); err != nil {
		return err
	}
	p.micros["small program"] = float64(p.last.Sub(p.began)) / 1e3
	for i, got := range y {
		if want := 2*float32(i) + 1; got != want {
			return fmt.Errorf("y[%d] = %v, want %v", i, got, want)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(p.micros)
}

func startQuern(p *phases, device string, x, y []float32) (err error) {
	dev, err := gpu.Open(gpu.Config{Device: device})
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, dev.Close())
		p.end("close")
	}()
	s := dev.DefaultStream()
	p.end("open")
	dx, err := gpu.Upload(s, x)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dx.Close()) }()
	dy, err := gpu.Upload(s, y)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dy.Close()) }()
	p.end("first uploads")
	if err := kernels.LaunchSaxpy(s, gpu.Linear(len(x)), 2, dx, dy); err != nil {
		return err
	}
	if err := s.Synchronize(context.Background()); err != nil {
		return err
	}
	p.end("first launch")
	if err := gpu.Download(context.Background(), s, y, dy); err != nil {
		return err
	}
	p.end("download")
	return nil
}

// start measures small programs with Quern and with bare driver calls in turns.
func (b *bench) start(device string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	tools := []string{"driver call", "Quern"}
	samples, failed := map[string]map[string][]float64{}, map[string]error{}
	for round := range startRounds + 1 {
		for _, tool := range tools {
			if failed[tool] != nil {
				continue
			}
			micros, err := startOnce(b.ctx, self, tool, device)
			failed[tool] = err
			if err != nil || round == 0 { // the first round fills the driver's cache
				continue
			}
			if samples[tool] == nil {
				samples[tool] = map[string][]float64{}
			}
			for name, v := range micros {
				samples[tool][name] = append(samples[tool][name], v)
			}
		}
	}
	for _, tool := range tools {
		if failed[tool] != nil {
			b.report("small program", tool, results.Duration, 0, failed[tool])
			continue
		}
		for _, name := range startPhases {
			b.report(name, tool, results.Duration, median(samples[tool][name]), nil)
		}
	}
	return nil
}

// startOnce runs a small program and returns the times of its phases in microseconds.
func startOnce(ctx context.Context, self, tool, device string) (map[string]float64, error) {
	c := exec.CommandContext(ctx, self, "-device", device)
	c.Env = append(os.Environ(), startVariable+"="+tool)
	c.Stderr = os.Stderr
	begin := time.Now()
	out, err := c.Output()
	took := time.Since(begin)
	if err != nil {
		return nil, fmt.Errorf("small program of %s: %w", tool, err)
	}
	micros := map[string]float64{}
	if err := json.Unmarshal(out, &micros); err != nil {
		return nil, fmt.Errorf("small program of %s: %w", tool, err)
	}
	micros["its process"] = float64(took) / 1e3
	return micros, nil
}
