package gpu

import (
	"errors"
	"fmt"

	"quern.dev/internal/driver"
)

// CooperativeLaunchError means that the blocks of a kernel which calls SyncGrid cannot all be
// resident at once. Nothing has run. Use a smaller grid, in which each thread loops over its
// elements in steps of t.Stride().
type CooperativeLaunchError struct {
	Blocks int // of the grid
	Limit  int // maximum number of blocks with the block size and shared memory of the launch
}

// Error states the number of blocks and the limit.
func (e *CooperativeLaunchError) Error() string { return (*driver.CooperativeLaunchError)(e).Error() }

// Unwrap makes the error match ErrInvalid.
func (e *CooperativeLaunchError) Unwrap() error { return ErrInvalid }

// CapabilityError means that a device lacks a feature that a kernel uses. Nothing has run.
// It matches errors.ErrUnsupported.
type CapabilityError struct {
	Feature      string // "thread block clusters"
	Major, Minor int    // compute capability of the device
	Need         string // compute capability that has the feature, such as "9.0"
}

// Error names the feature and both compute capabilities.
func (e *CapabilityError) Error() string {
	return fmt.Sprintf("%s need compute capability %s; the device has %d.%d", e.Feature, e.Need, e.Major, e.Minor)
}

// Unwrap returns errors.ErrUnsupported.
func (e *CapabilityError) Unwrap() error { return errors.ErrUnsupported }

// supported returns an error if a device lacks a feature that the kernel uses. Devices
// without a compute capability have all features.
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

// checkClusters returns an error if a grid is not a whole number of clusters.
func checkClusters(cluster, grid Dim3) error {
	if cluster.X == 0 {
		return nil
	}
	c := filled(cluster)
	if grid.X%c.X != 0 || grid.Y%c.Y != 0 || grid.Z%c.Z != 0 {
		return invalid("%v blocks are not a multiple of the kernel's clusters of %v; use a multiple, or gpu.Linear, Plane or Volume, which round up", grid, c)
	}
	return nil
}
