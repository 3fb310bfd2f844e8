package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"quern.dev/examples/multigpu/rows"
	"quern.dev/gpu"
)

func init() { register("multi", measureMulti) }

// Sizes of the problems. A quarter of each still fills one GPU.
const (
	matmulSize = 8192     // rows and columns
	sumRows    = 16 << 10 // rows of sumRowLen numbers: 64 GiB
	sumRowLen  = 1 << 20
)

// scaling maps the number of devices to the goal for the speedup over one device.
var scaling = map[int]float64{2: 1.9, 4: 3.6}

// measureMulti measures how much faster a matrix product and a summary of numbers are with
// more GPUs. Each GPU has a part of the rows.
func measureMulti(r *run) error {
	devs, err := gpu.OpenAll(gpu.Config{Device: string(r.dev.Backend())})
	if err != nil {
		return err
	}
	err = scale(r, devs, matmulSize, sumRows, sumRowLen)
	return errors.Join(err, gpu.CloseAll(devs))
}

func scale(r *run, devs []*gpu.Device, size, sumRows, sumRowLen int) error {
	if len(devs) < 2 {
		fmt.Println("  one device: nothing to compare it with")
		return nil
	}
	m := newMatrices(size)
	one, err := m.product(r.ctx, devs[:1])
	if err != nil {
		return err
	}
	flop := 2 * float64(size) * float64(size) * float64(size)
	r.show(fmt.Sprintf("product of %d x %d, 1 device", size, size), flop/one.Seconds()/1e12, "TFLOP/s")
	for n := 2; n <= len(devs); n *= 2 {
		took, err := m.product(r.ctx, devs[:n])
		if err != nil {
			return err
		}
		r.scaled(fmt.Sprintf("product, %d devices against 1", n), n, one, took)
	}

	one, err = summary(r.ctx, devs[:1], sumRows, sumRowLen)
	if err != nil {
		return err
	}
	bytes := 4 * float64(sumRows) * float64(sumRowLen)
	r.show("sum, least, greatest, 1 device", bytes/one.Seconds()/1e9, "GB/s")
	for n := 2; n <= len(devs); n *= 2 {
		took, err := summary(r.ctx, devs[:n], sumRows, sumRowLen)
		if err != nil {
			return err
		}
		r.scaled(fmt.Sprintf("sum, least, greatest, %d devices against 1", n), n, one, took)
	}
	return nil
}

// scaled prints the speedup of several devices over one.
func (r *run) scaled(name string, devices int, one, several time.Duration) {
	factor := one.Seconds() / several.Seconds()
	if goal := scaling[devices]; goal > 0 {
		r.atLeast(name, factor, goal, "")
		return
	}
	r.show(name, factor, "")
}

// matrices holds the factors of a product. Their elements are integers so small that the
// product is exact.
type matrices struct {
	size int
	a, b []float32
}

func newMatrices(size int) *matrices {
	m := &matrices{size: size, a: make([]float32, size*size), b: make([]float32, size*size)}
	for i := range m.a {
		m.a[i], m.b[i] = float32(i%7-3), float32(i%5-1)
	}
	return m
}

// product measures the product on devices that already hold B and their rows of A, and
// checks some elements.
func (m *matrices) product(ctx context.Context, devs []*gpu.Device) (time.Duration, error) {
	a, err := gpu.Distribute(devs, m.size, m.size, m.a)
	if err != nil {
		return 0, err
	}
	defer a.Close()
	b, err := rows.Replicate(devs, m.b)
	if err != nil {
		return 0, err
	}
	defer rows.CloseAll(b)
	c, err := gpu.AllocDistributed[float32](devs, m.size, m.size)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	took, err := median(5, func() error {
		if err := rows.Matmul(ctx, c, a, b); err != nil {
			return err
		}
		return gpu.OnEach(ctx, devs, func(_ context.Context, _ int, d *gpu.Device) error {
			return d.DefaultStream().Synchronize(context.Background())
		})
	})
	if err != nil {
		return 0, err
	}
	got := make([]float32, m.size*m.size)
	if err := c.Gather(ctx, got); err != nil {
		return 0, err
	}
	return took, m.check(got)
}

// check recomputes some elements in several hundred rows.
func (m *matrices) check(got []float32) error {
	for row := 0; row < m.size; row += max(1, m.size/256) {
		column := row * 31 % m.size
		var want float32
		for k := range m.size {
			want += m.a[row*m.size+k] * m.b[k*m.size+column]
		}
		if v := got[row*m.size+column]; v != want {
			return fmt.Errorf("row %d, column %d is %v, want %v", row, column, v, want)
		}
	}
	return nil
}

// summary measures the summary of numbers that are on the devices, and checks it.
func summary(ctx context.Context, devs []*gpu.Device, rowCount, rowLen int) (time.Duration, error) {
	x, err := gpu.AllocDistributed[float32](devs, rowCount, rowLen)
	if err != nil {
		return 0, err
	}
	defer x.Close()
	n := rowCount * rowLen
	err = x.OnEach(ctx, func(_ context.Context, p gpu.Part[float32]) error {
		return gpu.Fill(p.Device.DefaultStream(), p.Data, 2)
	})
	if err != nil {
		return 0, err
	}
	if err := errors.Join(set(x, n/5, -7), set(x, n-1, 9)); err != nil {
		return 0, err
	}
	want := rows.Summary{Count: n, Sum: 2*float64(n-2) + 9 - 7, Min: -7, Max: 9}
	check := func() error {
		got, err := rows.Summarise(ctx, x)
		if err == nil && got != want {
			err = fmt.Errorf("summary %+v, want %+v", got, want)
		}
		return err
	}
	// Idle devices need some time to reach their full clock rates.
	for begin := time.Now(); time.Since(begin) < 300*time.Millisecond; {
		if err := check(); err != nil {
			return 0, err
		}
	}
	return median(25, check)
}

// set sets element i of the concatenated rows.
func set(x *gpu.Distributed[float32], i int, v float32) error {
	for _, p := range x.Parts() {
		if at := i - p.First*x.RowLen(); at >= 0 && at < p.Data.Len() {
			return gpu.Fill(p.Device.DefaultStream(), p.Data.Slice(at, at+1), v)
		}
	}
	return fmt.Errorf("no element %d", i)
}
