package device

import (
	"fmt"
	"io"

	"quern.dev/geo/crs"
	"quern.dev/geo/crs/device/internal/kernels"
	"quern.dev/geo/internal/projection"
	"quern.dev/gpu"
)

// Transform is a transform with its grids on a device. It is safe for concurrent use, except Close.
type Transform struct {
	forward, back projection.Operation
	subgrids      *gpu.Buffer[projection.Subgrid]
	nodes         *gpu.Buffer[float32]
	none          *gpu.Buffer[float64]
	device        *gpu.Device
}

// New copies the grids of a transform to a device and waits for that.
func New(s *gpu.Stream, t *crs.Transform) (*Transform, error) {
	d := &Transform{device: s.Device()}
	var grids projection.Grids
	d.forward, grids = t.Operation(false)
	d.back, _ = t.Operation(true)
	// A kernel takes no nil buffers: what is empty has one element that nothing refers to.
	if len(grids.Subgrids) == 0 {
		grids = projection.Grids{Subgrids: make([]projection.Subgrid, 1), Nodes: make([]float32, 1)}
	}
	var err error
	if d.subgrids, err = gpu.Upload(s, grids.Subgrids); err != nil {
		return nil, fmt.Errorf("device: transform: %w", err)
	}
	if d.nodes, err = gpu.Upload(s, grids.Nodes); err != nil {
		d.Close()
		return nil, fmt.Errorf("device: transform: %w", err)
	}
	if d.none, err = gpu.Alloc[float64](s.Device(), 1); err != nil {
		d.Close()
		return nil, fmt.Errorf("device: transform: %w", err)
	}
	return d, nil
}

// Close frees the grids. Work that is queued must have ended.
func (d *Transform) Close() error {
	var first error
	for _, c := range []io.Closer{d.subgrids, d.nodes, d.none} {
		if err := c.Close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// Forward converts points in place. Without heights, z is nil and the points are at height 0.
func (d *Transform) Forward(s *gpu.Stream, x, y, z *gpu.Buffer[float64]) error {
	return d.launch(s, d.forward, x, y, z)
}

// Inverse is Forward from the target to the source.
func (d *Transform) Inverse(s *gpu.Stream, x, y, z *gpu.Buffer[float64]) error {
	return d.launch(s, d.back, x, y, z)
}

func (d *Transform) launch(s *gpu.Stream, o projection.Operation, x, y, z *gpu.Buffer[float64]) error {
	if x == nil || y == nil || x.Len() != y.Len() || z != nil && z.Len() != x.Len() {
		return fmt.Errorf("device: transform: buffers of x, y and z must have the same length: %w", crs.ErrParameter)
	}
	if x.Len() == 0 {
		return nil
	}
	if z == nil {
		z = d.none.Slice(0, 0)
	}
	return kernels.LaunchTransform(s, gpu.Linear(x.Len()), o, d.subgrids, d.nodes, x, y, z)
}
