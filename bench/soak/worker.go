package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"quern.dev/gpu"
)

// worker is one goroutine of a soak.
type worker struct {
	*soak
	random *rand.Rand
}

// array is a buffer with its expected contents.
type array struct {
	buffer *gpu.Buffer[uint32]
	want   []uint32
}

// chain is one round: work on several arrays of the same length. Streams take turns, in an
// order established by events.
type chain struct {
	*worker
	length int
	stream *gpu.Stream
	arrays []array
}

// round does random work and checks the results.
func (w *worker) round() (err error) {
	c := &chain{worker: w, stream: w.anyStream()}
	// All orders of magnitude are equally likely.
	c.length = int(math.Exp(w.random.Float64() * math.Log(float64(w.most))))
	defer func() { err = errors.Join(err, c.close()) }()
	if err := c.upload(); err != nil {
		return err
	}
	steps := []func() error{c.upload, c.copyOne, c.copyPart, c.fill, c.mix, c.mix, c.mix, c.reverse, c.reverse, c.scratch, c.graph, c.move, c.move, c.drop, c.check, c.canceled}
	for range 1 + w.random.IntN(12) {
		if err := steps[w.random.IntN(len(steps))](); err != nil {
			return err
		}
	}
	for len(c.arrays) > 0 {
		if err := c.check(); err != nil {
			return err
		}
		if err := c.drop(); err != nil {
			return err
		}
	}
	return nil
}

func (w *worker) anyStream() *gpu.Stream { return w.streams[w.random.IntN(len(w.streams))] }

func (c *chain) any() *array { return &c.arrays[c.random.IntN(len(c.arrays))] }

// atOnce is the maximum number of arrays in a chain.
const atOnce = 4

// newArray adds an uninitialized array from the pool or the device.
func (c *chain) newArray() (*array, error) {
	if len(c.arrays) == atOnce {
		if err := c.drop(); err != nil {
			return nil, err
		}
	}
	var b *gpu.Buffer[uint32]
	var err error
	if c.random.IntN(8) == 0 {
		b, err = gpu.Alloc[uint32](c.dev, c.length)
	} else {
		b, err = gpu.Acquire[uint32](c.pool, c.stream, c.length)
	}
	if err != nil {
		return nil, err
	}
	c.arrays = append(c.arrays, array{b, make([]uint32, c.length)})
	return &c.arrays[len(c.arrays)-1], nil
}

// upload adds an array of random numbers.
func (c *chain) upload() error {
	a, err := c.newArray()
	if err != nil {
		return err
	}
	for i := range a.want {
		a.want[i] = c.random.Uint32()
	}
	c.copied()
	if c.random.IntN(3) > 0 {
		return gpu.CopyIn(c.stream, a.buffer, a.want)
	}
	h, err := c.newHost()
	if err != nil {
		return err
	}
	copy(h.Data(), a.want)
	return errors.Join(
		gpu.CopyInAsync(c.stream, a.buffer, h),
		h.Close(), // while the copy may still be running
	)
}

// newHost returns page-locked memory, usually from the pool.
func (c *chain) newHost() (*gpu.HostBuffer[uint32], error) {
	if c.random.IntN(8) == 0 {
		return gpu.AllocHost[uint32](c.dev, c.length)
	}
	return gpu.AcquireHost[uint32](c.hostPool, c.length)
}

func (c *chain) copied() {
	c.copies.Add(1)
	c.bytes.Add(4 * int64(c.length))
}

// other adds an array. It returns the new array and an older one.
func (c *chain) other() (from, to *array, err error) {
	if len(c.arrays) == 0 {
		if err := c.upload(); err != nil {
			return nil, nil, err
		}
	}
	if to, err = c.newArray(); err != nil {
		return nil, nil, err
	}
	if len(c.arrays) == 1 { // newArray had to drop the only one
		return nil, to, gpu.CopyIn(c.stream, to.buffer, to.want)
	}
	return &c.arrays[c.random.IntN(len(c.arrays)-1)], to, nil
}

func (c *chain) copyOne() error {
	from, to, err := c.other()
	if err != nil || from == nil {
		return err
	}
	copy(to.want, from.want)
	c.copied()
	return gpu.Copy(c.stream, to.buffer, from.buffer)
}

// copyPart copies a range within an array.
func (c *chain) copyPart() error {
	if len(c.arrays) == 0 {
		return nil
	}
	a := c.any()
	n := c.random.IntN(c.length/2 + 1)
	from := c.random.IntN(c.length/2 - n + 1)
	to := c.length - n
	copy(a.want[to:], a.want[from:from+n])
	c.copied()
	return gpu.Copy(c.stream, a.buffer.Slice(to, c.length), a.buffer.Slice(from, from+n))
}

func (c *chain) fill() error {
	if len(c.arrays) == 0 {
		return nil
	}
	a, v := c.any(), c.random.Uint32()
	lo := c.random.IntN(c.length)
	hi := lo + c.random.IntN(c.length-lo+1)
	for i := lo; i < hi; i++ {
		a.want[i] = v
	}
	return gpu.Fill(c.stream, a.buffer.Slice(lo, hi), v)
}

func (c *chain) mix() error {
	from, to, err := c.other()
	if err != nil || from == nil {
		return err
	}
	seed := c.random.Uint32()
	for i, v := range from.want {
		to.want[i] = mixed(v, seed, i)
	}
	c.launches.Add(1)
	return LaunchMix(c.stream, gpu.Linear(c.length), seed, from.buffer, to.buffer)
}

func (c *chain) reverse() error {
	from, to, err := c.other()
	if err != nil || from == nil {
		return err
	}
	copy(to.want, from.want)
	slices.Reverse(to.want)
	c.launches.Add(1)
	return LaunchReverse(c.stream, gpu.Linear(c.length), from.buffer, to.buffer)
}

// move continues on another stream, which first waits for the current one.
func (c *chain) move() (err error) {
	e, err := c.dev.NewEvent()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if err := c.stream.Record(e); err != nil {
		return err
	}
	c.stream = c.anyStream()
	return c.stream.Wait(e)
}

// drop closes an array while work on it may still be running.
func (c *chain) drop() error {
	if len(c.arrays) == 0 {
		return nil
	}
	i := c.random.IntN(len(c.arrays))
	b := c.arrays[i].buffer
	c.arrays = slices.Delete(c.arrays, i, i+1)
	if err := b.Close(); err != nil {
		return err
	}
	if err := gpu.Zero(c.stream, b); !errors.Is(err, gpu.ErrClosed) {
		return fmt.Errorf("a buffer was used after it was closed: %v", err)
	}
	return b.Close()
}

// check compares an array with its expected contents.
func (c *chain) check() error {
	if len(c.arrays) == 0 {
		return nil
	}
	a := c.any()
	c.copied()
	if c.random.IntN(2) == 0 {
		got := make([]uint32, c.length)
		if err := gpu.Download(context.Background(), c.stream, got, a.buffer); err != nil {
			return err
		}
		return a.compare(got)
	}
	h, err := c.newHost()
	if err != nil {
		return err
	}
	err = errors.Join(gpu.CopyOutAsync(c.stream, h, a.buffer), c.stream.Synchronize(context.Background()))
	if err == nil {
		err = a.compare(h.Data())
	}
	return errors.Join(err, h.Close())
}

func (a *array) compare(got []uint32) error {
	for i, v := range got {
		if v != a.want[i] {
			return fmt.Errorf("element %d of %d is %#x, want %#x", i, len(got), v, a.want[i])
		}
	}
	return nil
}

// scratch does work on memory of a scope and ends the scope while the work may still be
// running.
func (c *chain) scratch() error {
	if len(c.arrays) == 0 {
		return nil
	}
	a, seed := c.any(), c.random.Uint32()
	for i, v := range a.want {
		a.want[i] = mixed(v, seed, i)
	}
	c.launches.Add(1)
	return c.pool.Scope(c.stream, func(scope *gpu.Scope) error {
		b, err := gpu.AcquireIn[uint32](scope, c.length)
		if err != nil {
			return err
		}
		return errors.Join(
			gpu.Copy(c.stream, b, a.buffer),
			LaunchMix(c.stream, gpu.Linear(c.length), seed, b, a.buffer),
		)
	})
}

// canceled cancels a wait.
func (c *chain) canceled() error {
	if len(c.arrays) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := gpu.Download(ctx, c.stream, make([]uint32, c.length), c.any().buffer); !errors.Is(err, context.Canceled) {
		return fmt.Errorf("a download with a canceled context: %v", err)
	}
	return nil
}

func (c *chain) close() error {
	var errs []error
	for _, a := range c.arrays {
		errs = append(errs, a.buffer.Close())
	}
	return errors.Join(errs...)
}
