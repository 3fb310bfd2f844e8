package fft

import (
	"unsafe"

	"quern.dev/gpu"
)

// NewSplitPlan is NewPlan with passes of at most the given number of points, so that short
// transforms test what long ones do.
func NewSplitPlan[C Complex](dev *gpu.Device, d Desc, most int) (*Plan[C], error) {
	var zero C
	b := newBuilder(dev, int(unsafe.Sizeof(zero)))
	b.most = most
	return newPlan[C](b, dev, d)
}
