package profile

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"quern.dev/gpu"
)

// A calibration runs the workload at some sizes, and compares with the model. The model's errors
// vary slowly with the size: mostly, they are of the kind "this loop takes twice as long as its
// operations do elsewhere", or "this launch wakes up more cores than that of an empty kernel". So
// its times are multiplied by the ratio at the sizes nearby.

// factors are measured times divided by those of the model.
type factors struct {
	kernel float64
	copies float64 // and of the launch and the wait, beside these
}

// correction has the factors at some sizes, in ascending order.
type correction []calibrated

type calibrated struct {
	n int
	factors
}

// at returns the factors for a size: interpolated on logarithmic scales, and those of the nearest
// size outside of what was measured.
func (c correction) at(n int) factors {
	i, _ := slices.BinarySearchFunc(c, n, func(x calibrated, n int) int { return x.n - n })
	if i == 0 || i == len(c) {
		return c[min(i, len(c)-1)].factors
	}
	a, b := c[i-1], c[i]
	share := math.Log(float64(n)/float64(a.n)) / math.Log(float64(b.n)/float64(a.n))
	between := func(x, y float64) float64 { return x * math.Pow(y/x, share) }
	return factors{between(a.kernel, b.kernel), between(a.copies, b.copies)}
}

// Bounds of a calibration.
const (
	calibrationTime  = 20 * time.Millisecond // of a run
	calibrationBytes = 1 << 30               // of the arrays
	mostCalibrated   = 6                     // sizes
	mostCorrection   = 32
	wakeTime         = 5 * time.Millisecond // after a pause, the first runs wake up cores that sleep
)

// calibrate runs the workload on a device at those sizes at which it takes little time, at least at
// the smallest, and returns them.
func (p *predictor) calibrate(ctx context.Context, w Workload, d *gpu.Device) (sizes []int, err error) {
	card, to := p.CPU, &p.cpu
	if d.Backend() == gpu.CUDA {
		card, to = p.GPU, &p.gpu
	}
	for _, n := range p.calibrationSizes() {
		c := at(p.counts, n)
		arrays := Instance{In: c.in, Out: c.out}
		if len(*to) > 0 && (p.times(card, *to, &c).Total > calibrationTime.Seconds() || arrays.bytes() > calibrationBytes) {
			break
		}
		f, err := p.measure(ctx, w, d, card, &c)
		if err != nil {
			return nil, err
		}
		*to = append(*to, calibrated{n, f})
		sizes = append(sizes, n)
	}
	return sizes, nil
}

// calibrationSizes returns the sizes at which the workload may run, in ascending order.
func (p *predictor) calibrationSizes() []int {
	list := p.CalibrateSizes
	if len(list) == 0 {
		list = append(sizesOf(p.counts), p.Sizes...)
	}
	list = slices.Compact(slices.Sorted(slices.Values(list)))
	for len(list) > mostCalibrated { // the two nearest sizes, as a ratio, become one
		nearest, least := 0, math.Inf(1)
		for i := 1; i < len(list); i++ {
			if ratio := float64(list[i]) / float64(list[i-1]); ratio < least {
				nearest, least = i, ratio
			}
		}
		list = slices.Delete(list, max(1, nearest-1), max(1, nearest-1)+1)
	}
	return list
}

// measure runs the workload at a size, and compares with the model.
func (p *predictor) measure(ctx context.Context, w Workload, d *gpu.Device, card *Card, c *countedSize) (f factors, err error) {
	s := d.DefaultStream()
	i, err := w.Prepare(s, c.n)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, i.close()) }()
	model := p.add(card, factors{1, 1}, c)
	run := func() error {
		if err := i.Launch(s); err != nil {
			return err
		}
		return s.Synchronize(ctx)
	}
	correct := func(measured, predicted float64) float64 {
		return min(max(measured/predicted, 1.0/mostCorrection), mostCorrection)
	}
	if d.Backend() != gpu.CUDA {
		seconds, err := awake(ctx, run)
		return factors{correct(seconds, model.Kernel), 1}, err
	}
	r, err := benchmark(ctx, s, BenchmarkConfig{Name: w.Name, MinTime: calibrationTime, MaxTime: 4 * calibrationTime, Noise: 0.05, KeepCache: true, Warmup: 1}, i.Launch)
	if err != nil {
		return f, err
	}
	kernel := r.Median / 1e9
	f = factors{correct(kernel, model.Kernel/float64(max(1, p.Launches))), 1}
	if len(i.Out) == 0 {
		return f, nil
	}
	trip, free, err := roundTrip(ctx, s, i, p.Pinned)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, free()) }()
	seconds, err := awake(ctx, trip)
	in, out := card.transfers(i.In, i.Out, p.Pinned)
	once := predictor{} // the benchmark and the round trip run the workload once
	f.copies = correct(seconds-max(kernel, once.submission(card, c)), in+out+card.Latency.Launch)
	return f, err
}

// awake returns the time of f in seconds while the device is busy with it. It is the lower quartile
// of several runs: what else a machine does makes some of them slower, and none faster.
func awake(ctx context.Context, f func() error) (float64, error) {
	var list []float64
	for begin := time.Now(); len(list) < hostFewest || time.Since(begin) < wakeTime+calibrationTime; {
		if err := context.Cause(ctx); err != nil {
			return 0, err
		}
		at := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		if at.Sub(begin) >= wakeTime {
			list = append(list, time.Since(at).Seconds())
		}
	}
	slices.Sort(list)
	return max(quantile(list, 0.25), 1e-9), nil
}

// roundTrip returns a function that copies arrays to the device, runs the workload, and copies
// arrays back. It moves as many bytes as the workload would, between arrays of its own.
func roundTrip(ctx context.Context, s *gpu.Stream, i *Instance, pinned bool) (trip, free func() error, err error) {
	type array struct {
		host   []byte
		memory *gpu.HostBuffer[byte] // of host, if it is page-locked
		device *gpu.Buffer[byte]
	}
	var all []array
	free = func() error {
		var errs []error
		for _, a := range all {
			errs = append(errs, a.device.Close(), a.memory.Close())
		}
		return errors.Join(errs...)
	}
	for _, n := range slices.Concat(i.In, i.Out) {
		var a array
		if pinned {
			a.memory, err = gpu.AllocHost[byte](s.Device(), int(n))
		} else {
			a.host = bytes.Repeat([]byte{1}, int(n)) // a page that was never written is read faster
		}
		if err == nil {
			a.device, err = gpu.Alloc[byte](s.Device(), int(n))
		}
		all = append(all, a)
		if err != nil {
			return nil, nil, errors.Join(err, free())
		}
	}
	in, out := all[:len(i.In)], all[len(i.In):]
	return func() error {
		for _, a := range in {
			err := error(nil)
			if pinned {
				err = gpu.CopyInAsync(s, a.device, a.memory)
			} else {
				err = gpu.CopyIn(s, a.device, a.host)
			}
			if err != nil {
				return err
			}
		}
		if err := i.Launch(s); err != nil {
			return err
		}
		for _, a := range out {
			err := error(nil)
			if pinned {
				err = gpu.CopyOutAsync(s, a.memory, a.device)
			} else {
				err = gpu.Download(ctx, s, a.host, a.device)
			}
			if err != nil {
				return err
			}
		}
		return s.Synchronize(ctx)
	}, free, nil
}
