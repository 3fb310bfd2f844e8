package rows

import (
	"context"
	"errors"
	"fmt"

	"quern.dev/gpu"
	"quern.dev/kernel"
)

// tile is the width and height of a tile of matmul, which one block computes.
const tile = 16

// matmul computes C = A*B of row-major matrices: A is m x k, B is k x n, C is
// m x n.
//
//quern:kernel block=16x16
func matmul(t kernel.Thread, m, n, k int, a, b, c []float32) {
	tileA := kernel.Shared[[tile][tile]float32](t)
	tileB := kernel.Shared[[tile][tile]float32](t)
	x, y := t.ThreadIdx.X, t.ThreadIdx.Y
	row, column := t.BlockIdx.Y*tile+y, t.BlockIdx.X*tile+x
	var sum float32
	for k0 := 0; k0 < k; k0 += tile {
		var va, vb float32
		if row < m && k0+x < k {
			va = a[row*k+k0+x]
		}
		if k0+y < k && column < n {
			vb = b[(k0+y)*n+column]
		}
		tileA[y][x], tileB[y][x] = va, vb
		t.Sync()
		for i := range tile {
			sum += tileA[y][i] * tileB[i][x]
		}
		t.Sync()
	}
	if row < m && column < n {
		c[row*n+column] = sum
	}
}

// Matmul computes C = A*B. The rows of A and C are distributed over the same
// devices; each device has a copy of B, made by [Replicate]. Matmul returns
// without waiting for the result; [gpu.Distributed.Gather] waits.
func Matmul(ctx context.Context, c, a *gpu.Distributed[float32], b []*gpu.Buffer[float32]) error {
	m, n, k := c.Rows(), c.RowLen(), a.RowLen()
	parts := a.Parts()
	switch {
	case a.Rows() != m:
		return fmt.Errorf("rows: matmul: A has %d rows, but C has %d", a.Rows(), m)
	case len(b) != len(parts) || len(c.Parts()) != len(parts):
		return fmt.Errorf("rows: matmul: A, B and C are on %d, %d and %d devices; use the same devices for all", len(parts), len(b), len(c.Parts()))
	}
	for i := range b {
		if b[i].Len() != k*n {
			return fmt.Errorf("matrix of %d elements, want %d rows of %d", b[i].Len(), k, n)
		}
	}
	devs := make([]*gpu.Device, len(parts))
	for i, p := range parts {
		devs[i] = p.Device
	}
	return gpu.OnEach(ctx, devs, func(_ context.Context, i int, d *gpu.Device) error {
		rows := parts[i].Rows
		if rows == 0 || n == 0 {
			return nil
		}
		return LaunchMatmul(d.DefaultStream(), gpu.Plane(n, rows), rows, n, k, parts[i].Data, b[i], c.Parts()[i].Data)
	})
}

// Replicate returns one buffer per device with a copy of host. The host sends the data
// to the first device, which sends it to the others. Close each buffer after use.
func Replicate[T any](devs []*gpu.Device, host []T) ([]*gpu.Buffer[T], error) {
	if len(devs) == 0 {
		return nil, nil
	}
	copies := make([]*gpu.Buffer[T], len(devs))
	if err := replicate(devs, host, copies); err != nil {
		return nil, errors.Join(err, CloseAll(copies))
	}
	return copies, nil
}

func replicate[T any](devs []*gpu.Device, host []T, copies []*gpu.Buffer[T]) error {
	s := devs[0].DefaultStream()
	var err error
	if copies[0], err = gpu.Upload(s, host); err != nil {
		return err
	}
	for i, d := range devs[1:] {
		if copies[i+1], err = gpu.Alloc[T](d, len(host)); err != nil {
			return err
		}
		if err := gpu.CopyPeer(s, copies[i+1], copies[0]); err != nil {
			return err
		}
	}
	// The other devices wait until the copies have arrived.
	arrived, err := devs[0].NewEvent()
	if err != nil {
		return err
	}
	defer arrived.Close()
	if err := s.Record(arrived); err != nil {
		return err
	}
	for _, d := range devs[1:] {
		if err := d.DefaultStream().Wait(arrived); err != nil {
			return err
		}
	}
	return nil
}

// CloseAll closes the buffers returned by [Replicate].
func CloseAll[T any](copies []*gpu.Buffer[T]) error {
	var errs []error
	for _, b := range copies {
		errs = append(errs, b.Close())
	}
	return errors.Join(errs...)
}
