package ringbench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"quern.dev/gpu"
	"quern.dev/kernel"
)

// The cost of a message depends on the machine: on some, the device reads host memory
// four times as fast as on others. The kernels here do the minimum of work, for
// comparison.

// Offsets of words, each in its own cache line.
const (
	bareQuestion = 0
	bareAnswer   = 16
	bareWords    = 32
)

// bareEnd is the question that ends an echo.
const bareEnd = 1<<64 - 1

// mirror answers each question with the question itself. It ends when it has answered
// bareEnd or after life cycles.
//
//quern:kernel
func mirror(t kernel.Thread, words []uint64, life int64) {
	if t.ThreadIdx.X != 0 {
		return
	}
	begin, last := kernel.Clock(), uint64(0)
	for last != bareEnd && kernel.Clock()-begin < life {
		if v := kernel.LoadRelaxed(&words[bareQuestion], kernel.SystemScope); v != last {
			kernel.StoreRelaxed(&words[bareAnswer], v, kernel.SystemScope)
			last = v
		}
	}
}

// rally has block 0 ask and block 1 answer for all of trips. It records the cycles of each
// round trip in trips, and the cycles and nanoseconds of all of them in total. It ends
// early after life cycles.
//
//quern:kernel
func rally(t kernel.Thread, words []uint64, trips []uint32, total []int64, life int64) {
	t.SyncGrid() // both blocks run
	if t.ThreadIdx.X != 0 {
		return
	}
	begin, born := kernel.Clock(), kernel.GlobalTimer()
	last := begin
	for i := range trips {
		number := uint64(i) + 1
		if t.BlockIdx.X == 0 {
			kernel.StoreRelaxed(&words[bareQuestion], number)
		}
		from := bareAnswer * (1 - t.BlockIdx.X)
		for kernel.LoadRelaxed(&words[from]) != number {
			if kernel.Clock()-begin >= life {
				return
			}
		}
		if t.BlockIdx.X == 1 {
			kernel.StoreRelaxed(&words[bareAnswer], number)
			continue
		}
		now := kernel.Clock()
		trips[i] = uint32(now - last)
		last = now
	}
	if t.BlockIdx.X == 0 {
		total[0], total[1] = last-begin, kernel.GlobalTimer()-born
	}
}

// Bare holds the round trips of a word that a kernel waits for and writes back.
type Bare struct {
	Trips    int
	P50, P99 time.Duration
}

// The longest measurement with a bare kernel, and the time by which the limit on a
// kernel's life exceeds the measurement.
const (
	bareMost = 2 * time.Second
	bareLife = 5 * time.Second
)

// cycles converts a time to cycles of the device's clock, if the clock rate is known.
func cycles(dev *gpu.Device, d time.Duration) int64 {
	if rate := dev.Attributes().ClockRate; dev.Backend() == gpu.CUDA && rate > 0 {
		return d.Microseconds() * int64(rate) / 1000
	}
	return d.Nanoseconds()
}

// MeasureBareEcho has a kernel, without any actor, answer the host through host memory. No
// runtime may be open on the device, because operations that pause its actors would also
// wait for the kernel.
func MeasureBareEcho(ctx context.Context, dev *gpu.Device, d time.Duration) (b Bare, err error) {
	host, err := gpu.AllocHost[uint64](dev, bareWords)
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, host.Close()) }()
	words := host.Data()
	clear(words)
	mapped, err := host.Mapped()
	if err != nil {
		return b, err
	}
	on, err := dev.NewStream(ctx)
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, on.Close()) }()
	d = min(d, bareMost)
	ended, life := make(chan error, 1), 2*d+bareLife
	go func() { // where kernels run in their caller, the launch returns when the kernel ends
		err := LaunchMirror(on, gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 32}), mapped, cycles(dev, life))
		if err == nil {
			err = on.Synchronize(context.Background())
		}
		ended <- err
	}()
	number, over := uint64(0), false
	trip := func() error {
		number++
		atomic.StoreUint64(&words[bareQuestion], number)
		for looks := 1; atomic.LoadUint64(&words[bareAnswer]) != number; looks++ {
			if looks%4096 != 0 {
				continue
			}
			runtime.Gosched()
			select {
			case err := <-ended:
				over = true
				return errors.Join(fmt.Errorf("the kernel of the bare echo ended before trip %d; its limit is %v", number, life), err)
			case <-ctx.Done():
				return ctx.Err()
			default:
			}
		}
		return nil
	}
	var samples durations
	if err = trip(); err == nil { // the kernel runs
		err = warm(d, trip)
	}
	if err == nil {
		samples, err = roundTrips(ctx, d, trip)
	}
	if !over {
		atomic.StoreUint64(&words[bareQuestion], bareEnd)
		err = errors.Join(err, <-ended)
	}
	if err != nil {
		return b, err
	}
	return Bare{len(samples), samples.at(0.5), samples.at(0.99)}, nil
}

// bareTrips is the number of round trips between the blocks.
const bareTrips = 1 << 16

// MeasureBareRally has two blocks of a kernel, without actors, answer each other through
// device memory. As for [MeasureBareEcho], no runtime may be open.
func MeasureBareRally(ctx context.Context, dev *gpu.Device) (Bare, error) {
	return measureBareRally(ctx, dev, bareTrips)
}

func measureBareRally(ctx context.Context, dev *gpu.Device, n int) (b Bare, err error) {
	on, err := dev.NewStream(ctx)
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, on.Close()) }()
	words, err := gpu.Upload(on, make([]uint64, bareWords))
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, words.Close()) }()
	taken := make([]uint32, n)
	trips, err := gpu.Upload(on, taken)
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, trips.Close()) }()
	sums := make([]int64, 2)
	total, err := gpu.Upload(on, sums)
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, total.Close()) }()
	if err := LaunchRally(on, gpu.Blocks(gpu.Dim3{X: 2}, gpu.Dim3{X: 32}), words, trips, total, cycles(dev, bareLife)); err != nil {
		return b, err
	}
	if err := errors.Join(gpu.Download(ctx, on, taken, trips), gpu.Download(ctx, on, sums, total)); err != nil {
		return b, err
	}
	if sums[0] == 0 {
		return b, fmt.Errorf("two blocks did not answer each other %d times within %v; is the device busy?", n, bareLife)
	}
	slices.Sort(taken)
	perCycle := float64(sums[1]) / float64(sums[0])
	at := func(share float64) time.Duration {
		return time.Duration(perCycle * float64(taken[int(share*float64(n-1))]))
	}
	return Bare{n, at(0.5), at(0.99)}, nil
}
