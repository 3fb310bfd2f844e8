package main

import (
	"context"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"quern.dev/bench/kernels"
	"quern.dev/gpu"
	"quern.dev/internal/ringbench"
	"quern.dev/ring"
)

func init() {
	checks = append(checks, ringbench.Check{Name: "idle", Run: checkIdle})
}

// idleActors is the number of idle actors. settling is the time until they and the GPU's
// clocks have settled.
const (
	idleActors = 100
	settling   = 1500 * time.Millisecond
)

// checkIdle measures the cost of idle actors: host processor time, power, and the slowdown
// of another kernel.
func checkIdle(ctx context.Context, c *ringbench.Checker) (err error) {
	const elements = 1 << 25
	s := c.Device.DefaultStream()
	x, err := gpu.Alloc[float32](c.Device, elements)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	if err := gpu.Fill(s, x, 0); err != nil {
		return err
	}
	saxpy := func() (time.Duration, error) {
		best := time.Hour
		for range 10 {
			begin := time.Now()
			err := kernels.LaunchSaxpy(s, gpu.Linear(elements), 1, x, x)
			if err = errors.Join(err, s.Synchronize(ctx)); err != nil {
				return 0, err
			}
			best = min(best, time.Since(begin))
		}
		return best, nil
	}
	var alone time.Duration
	for range 2 { // the first round warms up caches and clocks
		if alone, err = saxpy(); err != nil {
			return err
		}
	}
	time.Sleep(settling)
	watts := power(c.Device)

	rt, err := ring.New(c.Device, ring.Config{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	for range idleActors {
		a, err := ringbench.SpawnEcho64(ctx, rt, ring.Options{})
		if err != nil {
			return err
		}
		if _, err := a.Ask(ctx, ringbench.Message64{}); err != nil {
			return err
		}
	}
	time.Sleep(settling)
	begin, before := time.Now(), processorTime()
	time.Sleep(c.Duration)
	share := float64(processorTime()-before) / float64(time.Since(begin))
	c.Add("100 idle actors, share of a host core", 100*share, "%", ringbench.AtMost(1, 1))
	if watts > 0 {
		c.Add("100 idle actors, additional power", 100*(power(c.Device)/watts-1), "%", ringbench.OnGPU(ringbench.AtMost(10, 0)))
	}
	beside, err := saxpy()
	if err != nil {
		return err
	}
	c.Add("another kernel with 100 idle actors, relative speed", 100*float64(alone)/float64(beside), "%", ringbench.OnGPU(ringbench.AtLeast(95, 0)))
	return nil
}

// processorTime returns the processor time of the process.
func processorTime() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// power returns the power draw of the GPU in watts, as the mean of several readings, or 0
// if it is unknown.
func power(dev *gpu.Device) float64 {
	if dev.Backend() != gpu.CUDA {
		return 0
	}
	_, number, _ := strings.Cut(dev.ID(), ":")
	sum := 0.0
	const readings = 5
	for range readings {
		text, err := exec.Command("nvidia-smi", "--query-gpu=power.draw.instant", "--format=csv,noheader,nounits", "-i", number).Output()
		w, parseErr := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
		if err != nil || parseErr != nil {
			return 0
		}
		sum += w
	}
	return sum / readings
}
