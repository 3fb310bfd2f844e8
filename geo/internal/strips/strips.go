// Package strips writes images whose rows are computed from the top to the bottom, some at a time.
package strips

import (
	"context"

	"quern.dev/geo/tiff"
)

// rowBytes is how many bytes of the output are computed at a time.
const rowBytes = 16 << 20

// Rows returns how many rows are computed at a time.
func Rows(h *tiff.Header) int {
	return min(h.Height, max(1, rowBytes/(h.Width*h.Bands*h.Type.Size())))
}

// Write writes a file. read makes rows y to y+n-1 ready, and compute turns what it returned into pixels; the next rows are
// read while rows are computed. progress, if it is not nil, is called with the rows that are done.
func Write[T any](ctx context.Context, name string, h tiff.Header, o tiff.Options, read func(ctx context.Context, y, n int) (T, error),
	compute func(ctx context.Context, y, n int, rows T, pixels []byte) error, progress func(done, total int)) error {
	out, err := tiff.Create(name, h, o)
	if err != nil {
		return err
	}
	defer out.Abort() // does nothing after Close
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type part struct {
		rows T
		err  error
	}
	count := Rows(&h)
	parts := make(chan part)
	go func() {
		defer close(parts)
		for y := 0; y < h.Height; y += count {
			rows, err := read(ctx, y, min(count, h.Height-y))
			select {
			case parts <- part{rows, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	row := h.Width * h.Bands * h.Type.Size()
	pixels := tiff.Bytes(make([]complex128, (count*row+15)/16)) // aligned for every type
	for y := 0; y < h.Height; y += count {
		p, ok := <-parts
		if !ok {
			return ctx.Err()
		}
		if p.err != nil {
			return p.err
		}
		n := min(count, h.Height-y)
		if err := compute(ctx, y, n, p.rows, pixels[:n*row]); err != nil {
			return err
		}
		if err := out.WriteRows(ctx, tiff.Rows{Pixels: pixels[:n*row]}); err != nil {
			return err
		}
		if progress != nil {
			progress(y+n, h.Height)
		}
	}
	return out.Close()
}
