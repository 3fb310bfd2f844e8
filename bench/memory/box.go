package main

import (
	"errors"

	"quern.dev/gpu"
)

func init() { register("box", measureBoxes) }

// measureBoxes measures copies of half of every second row of a matrix, and of strided
// elements, compared with contiguous copies of as many bytes.
func measureBoxes(r *run) error {
	const rows, columns = 8 << 10, 8 << 10 // of 4 bytes
	s := r.dev.DefaultStream()
	from, err := gpu.Alloc[float32](r.dev, rows*columns)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := gpu.Alloc[float32](r.dev, rows*columns)
	if err != nil {
		return err
	}
	defer to.Close()
	pinned, err := gpu.AllocHost[float32](r.dev, rows*columns)
	if err != nil {
		return err
	}
	defer pinned.Close()
	host := make([]float32, rows*columns)
	half := rows * columns / 2
	if err := errors.Join(gpu.Zero(s, from), gpu.Zero(s, to)); err != nil {
		return err
	}

	box, dense := gpu.Rect(columns/4, 0, columns/2, rows, columns), gpu.Rect(0, 0, columns/2, rows, 0)
	transposed := gpu.Strided{Shape: []int{columns / 2, rows}, Stride: []int{1, columns}}
	inner := gpu.Strided{Offset: columns / 4, Shape: []int{rows, columns / 2}, Stride: []int{columns, 1}}
	for _, c := range []struct {
		name string
		copy func() error
	}{
		{"on the device, dense", func() error { return gpu.Copy(s, to.Slice(0, half), from.Slice(0, half)) }},
		{"on the device, box to box", func() error { return gpu.CopyBox(s, to, box, from, box) }},
		{"on the device, box to dense", func() error { return gpu.CopyBox(s, to, dense, from, box) }},
		{"in, dense Go slice", func() error { return gpu.CopyIn(s, to.Slice(0, half), host[:half]) }},
		{"in, box of a Go slice to box", func() error { return gpu.CopyInBox(s, to, box, host, box) }},
		{"in, box of a Go slice to dense", func() error { return gpu.CopyInBox(s, to, dense, host, box) }},
		{"in, box of page-locked memory to box", func() error { return gpu.CopyInBox(s, to, box, pinned.Data(), box) }},
		{"in, strided rows of a Go slice", func() error { return gpu.CopyInStrided(s, to.Slice(0, half), host, inner) }},
		{"in, transpose of a Go slice", func() error { return gpu.CopyInStrided(s, to.Slice(0, half), host, transposed) }},
		{"out, box to box of a Go slice", func() error { return gpu.DownloadBox(r.ctx, s, host, box, from, box) }},
		{"out, dense to box of a Go slice", func() error { return gpu.DownloadBox(r.ctx, s, host, box, from, dense) }},
		{"out, dense to box of page-locked memory", func() error { return gpu.DownloadBox(r.ctx, s, pinned.Data(), box, from, dense) }},
		{"out, strided rows of a Go slice", func() error { return gpu.DownloadStrided(r.ctx, s, host, inner, from.Slice(0, half)) }},
	} {
		took, err := median(3, func() error { return errors.Join(c.copy(), s.Synchronize(r.ctx)) })
		if err != nil {
			return err
		}
		r.show(c.name, 4*float64(half)/took.Seconds()/1e9, "GB/s")
	}
	return nil
}
