package profile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"quern.dev/gpu"
)

// Analysis is the report of [Analyze]. Times are in seconds.
type Analysis struct {
	Kernel string `json:"kernel"`
	Device string `json:"device"`
	Host   string `json:"host"`
	Size   int    `json:"size"`

	Work     Work     `json:"work"`
	Roofline Roofline `json:"roofline"`

	// The whole of the work as it is: copies from and to ordinary memory, and the kernel with
	// its own block size.
	Baseline Times   `json:"baseline"`
	OnHost   float64 `json:"onHost"` // on the CPU, without copies

	// Lanes is the share of the lanes of warps that work: less than 1 if lanes of a warp take
	// different paths. Coalesced is the share of the bytes of accessed sectors that threads ask
	// for.
	Lanes     float64 `json:"lanes"`
	Coalesced float64 `json:"coalesced"`

	// Steps are the parts of the strategy, in the order in which they were tried.
	Steps []Step `json:"steps"`
	// Best is the time of the fastest way that gave the same results.
	Best     float64 `json:"best"`
	BestName string  `json:"bestName"`

	// Validation compares the device with the CPU at this size; nil if the device is the CPU.
	Validation *Validation `json:"validation"`
}

// Roofline is the position of a kernel in the roofline model (Williams et al., 2009).
type Roofline struct {
	Intensity float64 `json:"intensity"` // operations per byte of memory, each byte once
	Ridge     float64 `json:"ridge"`     // the intensity from which operations are the limit
	Class     string  `json:"class"`     // "memory" or "compute"; "latency" if neither is near its limit
	Attained  float64 `json:"attained"`  // operations per second; bytes per second if there are none
	Limit     float64 `json:"limit"`     // that the model allows at this intensity
}

// RooflineOf returns the position of a kernel that does the work in the given time, on the
// device of the card.
func (c *Card) RooflineOf(w *Work, seconds float64) Roofline {
	flops, peak := w.Flops32, c.Machine.Flops32
	if w.Flops64 > w.Flops32 {
		flops, peak = w.Flops64, c.Machine.Flops64
	}
	bytes := w.memory()
	bandwidth := c.bandwidth(bytes)
	r := Roofline{Ridge: peak / bandwidth, Class: "memory"}
	if flops == 0 || bytes == 0 {
		r.Limit = bandwidth
		if seconds > 0 {
			r.Attained = bytes / seconds
		}
	} else {
		r.Intensity = flops / bytes
		r.Limit = min(peak, r.Intensity*bandwidth)
		if r.Intensity >= r.Ridge {
			r.Class = "compute"
		}
		if seconds > 0 {
			r.Attained = flops / seconds
		}
	}
	const near = 0.3
	if r.Attained > 0 && r.Attained < near*r.Limit {
		r.Class = "latency"
	}
	return r
}

// Step is a part of a strategy: something that was tried, or advice.
type Step struct {
	Name string `json:"name"`
	Why  string `json:"why"`
	// Seconds is the time of the whole work with the step, 0 if it is only advice.
	Seconds float64 `json:"seconds"`
	Speedup float64 `json:"speedup"` // compared with the baseline
	Same    bool    `json:"same"`    // the results are those of the baseline
	Result  string  `json:"result"`  // "kept", "no faster", "different results", "not possible: ...", "advice"
}

// Analyze examines a kernel on a device: what limits it, by counted instructions and measured
// times; what could make the whole work faster; and whether it does. It tries block sizes,
// page-locked memory, and copies that overlap with the kernel, and compares the results of each
// with those of the plain way. card and host are those of the device and of the CPU.
//
// A size must be small enough for the memory of the device and of the host.
func Analyze(ctx context.Context, c Call, n int, device, cpu *gpu.Device, card, host *Card) (*Analysis, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	switch {
	case c.Kernel == nil:
		return nil, errors.New("profile: analyze: Call.Kernel is nil")
	case device == nil || cpu == nil || card == nil || host == nil:
		return nil, fmt.Errorf("profile: analyze %s: a device or a card is nil", c.Kernel.Name())
	case device.Backend() == gpu.Sim:
		return nil, fmt.Errorf("profile: analyze %s: the times of a simulator mean nothing", c.Kernel.Name())
	}
	a := &analyzer{ctx: ctx, call: c, n: n, d: device, s: device.DefaultStream(), card: card, out: &Analysis{Kernel: c.Kernel.Name(), Device: device.Name(), Host: cpu.Name(), Size: n}}
	err := a.run(cpu, host)
	if err != nil {
		return nil, fmt.Errorf("profile: analyze %s: %w", c.Kernel.Name(), err)
	}
	return a.out, nil
}

// analyzer makes an analysis.
type analyzer struct {
	ctx    context.Context
	call   Call
	n      int
	d      *gpu.Device
	s      *gpu.Stream
	card   *Card
	bound  *boundCall
	expect []any // outputs of the baseline
	kernel float64
	out    *Analysis
}

func (a *analyzer) run(cpu *gpu.Device, host *Card) (err error) {
	counts, err := countLadder(a.ctx, a.call.Workload(), []int{a.n})
	if err != nil {
		return err
	}
	a.out.Work = at(counts, a.n).work
	w := &a.out.Work
	a.out.Lanes, a.out.Coalesced = 1, 1
	if issued := w.Issued + w.IssuedGlobal + w.IssuedShared + w.IssuedBarrier; issued > 0 {
		threads := w.Integers + w.Float32 + w.Float64 + w.Roots + w.Functions + w.Matrices + w.Global + w.Atomics + w.Local + w.Shared + w.Barriers
		a.out.Lanes = min(1, threads/issued/32)
	}
	if w.SectorBytes > 0 {
		a.out.Coalesced = min(1, w.AccessedBytes/w.SectorBytes)
	}
	if a.bound, err = a.call.bind(a.s, a.n, Random, validationSeed); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.bound.close()) }()
	if err := a.baseline(); err != nil {
		return err
	}
	a.out.Roofline = a.card.RooflineOf(w, a.kernel)
	for _, step := range []func() error{a.blocks, a.pinned, a.streams, a.advice} {
		if err := step(); err != nil {
			return err
		}
	}
	if a.d.Backend() != gpu.CUDA {
		return nil
	}
	if a.out.OnHost, err = a.onHost(cpu); err != nil {
		return err
	}
	a.out.Validation, err = Validate(a.ctx, a.call, a.d, cpu, []int{a.n})
	return err
}

// wall returns the median time of f in seconds.
func (a *analyzer) wall(f func() error) (float64, error) {
	const fewest, most, long = 3, 25, 300 * time.Millisecond
	var list []float64
	for begin := time.Now(); len(list) < fewest || len(list) < most && time.Since(begin) < long; {
		at := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		list = append(list, time.Since(at).Seconds())
	}
	slices.Sort(list)
	return list[len(list)/2], nil
}

// kernelTime returns the median time of the kernel on the device.
func (a *analyzer) kernelTime(launch func(s *gpu.Stream) error) (float64, error) {
	r, err := benchmark(a.ctx, a.s, BenchmarkConfig{Name: a.call.Kernel.Name(), MinTime: cardTime, MaxTime: 8 * cardTime, Noise: 0.01, KeepCache: true}, launch)
	return r.Median / 1e9, err
}

// baseline measures the plain way, and keeps its results.
func (a *analyzer) baseline() (err error) {
	b := a.bound
	whole := func() error {
		if err := b.send(a.s); err != nil {
			return err
		}
		if err := b.launch(a.s); err != nil {
			return err
		}
		return b.receive(a.ctx, a.s)
	}
	if err := whole(); err != nil {
		return err
	}
	a.expect = a.outputs()
	t := &a.out.Baseline
	t.Bound = a.card.kernel(&a.out.Work).bound
	if a.kernel, err = a.kernelTime(b.launch); err != nil {
		return err
	}
	t.Kernel = a.kernel
	a.out.BestName = plainly
	if a.d.Backend() != gpu.CUDA { // nothing is copied
		t.Total, a.out.Best = a.kernel, a.kernel
		return nil
	}
	if t.Total, err = a.wall(whole); err != nil {
		return err
	}
	if t.In, err = a.wall(func() error { return errors.Join(b.send(a.s), a.s.Synchronize(a.ctx)) }); err != nil {
		return err
	}
	if t.Out, err = a.wall(func() error { return b.receive(a.ctx, a.s) }); err != nil {
		return err
	}
	a.out.Best = t.Total
	return nil
}

// plainly is the name of the baseline.
const plainly = "as it is"

// outputs returns the current contents of the outputs on the host.
func (a *analyzer) outputs() (list []any) {
	for _, x := range a.bound.arrays {
		if x.isOutput() {
			list = append(list, x.output())
		}
	}
	return list
}

// same reports whether the outputs on the host are those of the baseline.
func (a *analyzer) same() (bool, error) {
	i := 0
	for _, x := range a.bound.arrays {
		if !x.isOutput() {
			continue
		}
		d, err := x.measure(a.expect[i])
		if err != nil || d.Different > 0 {
			return false, err
		}
		i++
	}
	return true, nil
}

// faster is the least speed-up for which a step is kept.
const faster = 1.02

// conclude adds a step that was tried.
func (a *analyzer) conclude(name, why string, seconds float64, failed error) error {
	s := Step{Name: name, Why: why, Seconds: seconds}
	if failed != nil {
		s.Seconds, s.Result = 0, "not possible: "+failed.Error()
		a.out.Steps = append(a.out.Steps, s)
		return nil
	}
	var err error
	if s.Same, err = a.same(); err != nil {
		return err
	}
	s.Speedup = a.out.Baseline.Total / seconds
	switch {
	case !s.Same:
		s.Result = "different results"
	case s.Speedup < faster:
		s.Result = "no faster"
	default:
		s.Result = "kept"
		if seconds < a.out.Best {
			a.out.Best, a.out.BestName = seconds, name
		}
	}
	a.out.Steps = append(a.out.Steps, s)
	return nil
}

// blocks tries block sizes.
func (a *analyzer) blocks() error {
	const why = "resident threads hide latency, and large blocks leave some out"
	best, size := a.kernel, 0
	var failed error
	tried := 0
	times := why + "; kernel " + seconds(a.kernel) + " as it is"
	for _, block := range []int{64, 128, 256, 512, 1024} {
		grid := a.bound.grid.Block(gpu.Dim3{X: block})
		launch := func(s *gpu.Stream) error {
			return a.call.Kernel.Launch(s, grid, a.bound.arguments(func(x array) any { return x.buffer() })...)
		}
		t, err := a.kernelTime(launch)
		if errors.Is(err, gpu.ErrInvalid) {
			failed = err
			continue
		}
		if err != nil {
			return err
		}
		tried++
		times += fmt.Sprintf(", %s with %d threads", seconds(t), block)
		if t < best {
			best, size = t, block
		}
	}
	switch {
	case tried == 0:
		return a.conclude("block size", why, 0, failed)
	case size == 0 || a.kernel/best < faster:
		a.out.Steps = append(a.out.Steps, Step{Name: "block size", Why: times, Seconds: a.out.Baseline.Total, Speedup: 1, Same: true, Result: "no faster"})
		return nil
	}
	grid := a.bound.grid.Block(gpu.Dim3{X: size})
	name := fmt.Sprintf("blocks of %d threads (kernel %.2f times as fast)", size, a.kernel/best)
	t, err := a.wall(func() error {
		if err := a.bound.send(a.s); err != nil {
			return err
		}
		if err := a.call.Kernel.Launch(a.s, grid, a.bound.arguments(func(x array) any { return x.buffer() })...); err != nil {
			return err
		}
		return a.bound.receive(a.ctx, a.s)
	})
	if err != nil {
		return err
	}
	if a.d.Backend() != gpu.CUDA {
		t = best
	}
	return a.conclude(name, times, t, nil)
}

// pinned tries copies from and to page-locked memory.
func (a *analyzer) pinned() error {
	const name = "page-locked memory"
	why := fmt.Sprintf("copies take %.0f %% of the time", 100*(a.out.Baseline.In+a.out.Baseline.Out)/a.out.Baseline.Total)
	if a.d.Backend() != gpu.CUDA {
		return a.conclude(name, why, 0, errors.New("the CPU copies nothing"))
	}
	if err := a.bound.each(func(x array) error { return x.pin(a.d) }); err != nil {
		return a.conclude(name, why, 0, err)
	}
	t, err := a.wall(func() error {
		if err := a.bound.each(func(x array) error { return x.pin(a.d) }); err != nil {
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	restore := t // the host fills the memory, which is no part of the way
	t, err = a.wall(func() error {
		if err := a.bound.each(func(x array) error { return x.pin(a.d) }); err != nil {
			return err
		}
		if err := a.bound.each(func(x array) error { return x.sendPinned(a.s, 0, 1) }); err != nil {
			return err
		}
		if err := a.bound.launch(a.s); err != nil {
			return err
		}
		if err := a.bound.eachOutput(func(x array) error { return x.receivePinned(a.s, 0, 1) }); err != nil {
			return err
		}
		return a.s.Synchronize(a.ctx)
	})
	if err != nil {
		return err
	}
	return a.conclude(name, why, max(t-restore, 1e-9), nil)
}

// streamParts is the number of parts in which streams overlap copies and kernels.
const streamParts = 8

// streams tries to copy one part of the arrays while the kernel works on another. The results
// show whether the kernel allows that.
func (a *analyzer) streams() (err error) {
	name := fmt.Sprintf("%d parts on two streams", streamParts)
	const why = "copies in both directions and the kernel can run at the same time"
	refuse := func(text string) error { return a.conclude(name, why, 0, errors.New(text)) }
	switch {
	case a.d.Backend() != gpu.CUDA:
		return refuse("the CPU copies nothing")
	case a.call.Threads != "" && a.call.Threads != "n":
		return refuse("the grid does not have one thread per element")
	}
	for _, x := range a.bound.arrays {
		if x.length() != a.n {
			return refuse("the arrays do not have one element per thread")
		}
	}
	var list [2]*gpu.Stream
	for i := range list {
		if list[i], err = a.d.NewStream(a.ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, list[i].Close()) }()
	}
	fill := func() error { return a.bound.each(func(x array) error { return x.pin(a.d) }) }
	restore, err := a.wall(fill)
	if err != nil {
		return err
	}
	t, failed := a.wall(func() error {
		if err := fill(); err != nil {
			return err
		}
		for part := range streamParts {
			if err := a.part(list[part%2], part); err != nil {
				return err
			}
		}
		return errors.Join(list[0].Synchronize(a.ctx), list[1].Synchronize(a.ctx))
	})
	return a.conclude(name, why, max(t-restore, 1e-9), failed)
}

// part adds the work on a part of the arrays to a stream.
func (a *analyzer) part(s *gpu.Stream, part int) error {
	lo, hi := float64(part)/streamParts, float64(part+1)/streamParts
	if err := a.bound.each(func(x array) error { return x.sendPinned(s, lo, hi) }); err != nil {
		return err
	}
	args := a.bound.arguments(func(x array) any { return x.part(lo, hi) })
	if err := a.call.Kernel.Launch(s, gpu.Linear((a.n+streamParts-1)/streamParts), args...); err != nil {
		return err
	}
	return a.bound.eachOutput(func(x array) error { return x.receivePinned(s, lo, hi) })
}

// advice adds what would need another kernel.
func (a *analyzer) advice() error {
	w, r := &a.out.Work, &a.out.Roofline
	add := func(name, why string) {
		a.out.Steps = append(a.out.Steps, Step{Name: name, Why: why, Result: "advice"})
	}
	if r.Class == "memory" {
		each := w.memory() / float64(max(1, len(a.bound.arrays))) / a.card.bandwidth(w.memory())
		add("fusion with the kernel before or after", fmt.Sprintf("the kernel waits for memory: each array that stays in registers saves %s of %s of the kernel",
			seconds(min(each, a.kernel)), seconds(a.kernel)))
	}
	if w.Float64 > 0 {
		narrow := *w
		narrow.Float32, narrow.Float64, narrow.Flops32, narrow.Flops64 = w.Float32+w.Float64, 0, w.Flops32+w.Flops64, 0
		narrow.ReadBytes, narrow.WrittenBytes, narrow.SectorBytes = w.ReadBytes/2, w.WrittenBytes/2, w.SectorBytes/2
		add("float32 instead of float64", fmt.Sprintf("if its 24 bits are enough, the kernel becomes about %.1f times as fast, and copies take half the time", a.card.kernel(w).seconds/a.card.kernel(&narrow).seconds))
	}
	if a.out.Coalesced < 0.5 {
		add("another layout of the arrays", fmt.Sprintf("neighboring threads do not access neighboring elements: %.0f %% of the bytes moved are used", 100*a.out.Coalesced))
	}
	if a.out.Lanes < 0.7 {
		add("fewer branches that differ within a warp", fmt.Sprintf("%.0f %% of the lanes work", 100*a.out.Lanes))
	}
	return nil
}

// onHost measures the work on the CPU.
func (a *analyzer) onHost(cpu *gpu.Device) (t float64, err error) {
	s := cpu.DefaultStream()
	b, err := a.call.bind(s, a.n, Random, validationSeed)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	return a.wall(func() error { return errors.Join(b.launch(s), s.Synchronize(a.ctx)) })
}
