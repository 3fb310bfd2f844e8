package gpu

import (
	"errors"
	"fmt"

	"quern.dev/internal/driver"
)

// CooperativeLaunchError is why a launch of a kernel that calls SyncGrid fails: its
// blocks cannot all be resident at once. Nothing has run. A smaller grid whose
// threads each do more, in a loop with steps of t.Stride(), does the same work.
type CooperativeLaunchError struct {
	Blocks int // of the grid
	Limit  int // at most, of the block size and shared memory of the launch
}

// Error tells how many blocks there were and may be.
func (e *CooperativeLaunchError) Error() string { return (*driver.CooperativeLaunchError)(e).Error() }

// Unwrap makes the error match ErrInvalid.
func (e *CooperativeLaunchError) Unwrap() error { return ErrInvalid }

// CapabilityError is why a kernel cannot run on a device that lacks what it
// uses. Nothing has run. It matches errors.ErrUnsupported.
type CapabilityError struct {
	Feature      string // "thread block clusters"
	Major, Minor int    // the compute capability that the device has
	Need         string // the one that has it, "9.0"
}

// Error names the feature and both compute capabilities.
func (e *CapabilityError) Error() string {
	return fmt.Sprintf("%s need compute capability %s; the device has %d.%d", e.Feature, e.Need, e.Major, e.Minor)
}

// Unwrap returns errors.ErrUnsupported.
func (e *CapabilityError) Unwrap() error { return errors.ErrUnsupported }

// supported reports what the kernel uses and a device lacks. Devices without a
// compute capability have everything.
func (k *kernelInfo) supported(d *driver.Info) error {
	switch {
	case d.Major == 0:
	case k.Cluster.X > 0 && d.Major < 9:
		return &CapabilityError{"thread block clusters", d.Major, d.Minor, "9.0"}
	case k.Cooperative && d.Major < 6:
		return &CapabilityError{"barriers of the grid", d.Major, d.Minor, "6.0"}
	}
	return nil
}

// checkClusters reports a grid that is not made of whole clusters.
func checkClusters(cluster, grid Dim3) error {
	if cluster.X == 0 {
		return nil
	}
	c := filled(cluster)
	if grid.X%c.X != 0 || grid.Y%c.Y != 0 || grid.Z%c.Z != 0 {
		return invalid("%v blocks are not a multiple of the kernel's clusters of %v; state a multiple, or use gpu.Linear, Plane or Volume, which round up", grid, c)
	}
	return nil
}
