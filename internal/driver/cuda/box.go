package cuda

import (
	"runtime"
	"unsafe"

	"quern.dev/internal/driver"
)

var cuMemcpy3DAsync = optional("cuMemcpy3DAsync_v2")

// copy3D is CUDA_MEMCPY3D.
type copy3D struct {
	src, dst                    copy3DSide
	widthInBytes, height, depth uint64
}

type copy3DSide struct {
	xInBytes, y, z, lod uint64
	kind                uint32 // CUmemorytype
	host                unsafe.Pointer
	device              uint64
	array               uintptr
	_                   uintptr
	pitch, height       uint64
}

// memoryDevice is CU_MEMORYTYPE_DEVICE.
const memoryDevice = 2

// maxPitch is the largest row pitch that copies support on every GPU
// (CU_DEVICE_ATTRIBUTE_MAX_PITCH).
const maxPitch = 1<<31 - 1

// CopyBox copies a few contiguous pieces one by one and leaves other boxes to the
// driver.
func (s *stream) CopyBox(c *driver.BoxCopy) error {
	var err error
	rows := c.Height * c.Depth
	switch d, r := &c.Dst, &c.Src; {
	case d.Dense(c.Width, c.Height, c.Depth) && r.Dense(c.Width, c.Height, c.Depth), rows == 1,
		d.Pitch > maxPitch, r.Pitch > maxPitch, c.Depth > 1 && !s.dev.api.has(cuMemcpy3DAsync):
		err = c.Each(func(dst, src, n int64) error { return s.copyPiece(c, dst, src, n) })
	default:
		err = s.copyBox(c)
	}
	if err == nil && !c.Async && (c.Dst.Go != nil || c.Src.Go != nil) {
		// Whether the driver has staged host memory depends on how the memory was made
		// known to it.
		err = s.dev.handles(cuStreamSynchronize, s.handle)
	}
	runtime.KeepAlive(c)
	return err
}

// copyPiece copies one contiguous piece.
func (s *stream) copyPiece(c *driver.BoxCopy, dst, src, n int64) error {
	switch {
	case c.Src.Go != nil:
		return s.CopyInAsync(c.Dst.Memory.Offset(dst), unsafe.Add(c.Src.Go, src), n)
	case c.Dst.Go != nil:
		return s.CopyOutAsync(unsafe.Add(c.Dst.Go, dst), c.Src.Memory.Offset(src), n)
	default:
		return s.Copy(c.Dst.Memory.Offset(dst), c.Src.Memory.Offset(src), n)
	}
}

func (s *stream) copyBox(c *driver.BoxCopy) error {
	var pins runtime.Pinner
	defer pins.Unpin()
	for _, side := range []*driver.BoxSide{&c.Dst, &c.Src} {
		if side.Go != nil && !c.Async {
			pins.Pin(side.Go)
		}
	}
	if c.Depth == 1 {
		return s.dev.call(cuMemcpy2DAsync, uintptr(unsafe.Pointer(&copy2D{
			srcType: kindOf(&c.Src), srcHost: c.Src.Go, srcDevice: c.Src.Memory.Addr, srcPitch: uint64(c.Src.Pitch),
			dstType: kindOf(&c.Dst), dstHost: c.Dst.Go, dstDevice: c.Dst.Memory.Addr, dstPitch: uint64(c.Dst.Pitch),
			widthInBytes: uint64(c.Width), height: uint64(c.Height),
		})), s.handle)
	}
	return s.dev.call(cuMemcpy3DAsync, uintptr(unsafe.Pointer(&copy3D{
		src: side3D(&c.Src), dst: side3D(&c.Dst),
		widthInBytes: uint64(c.Width), height: uint64(c.Height), depth: uint64(c.Depth),
	})), s.handle)
}

func side3D(b *driver.BoxSide) copy3DSide {
	return copy3DSide{kind: kindOf(b), host: b.Go, device: b.Memory.Addr, pitch: uint64(b.Pitch), height: uint64(b.Rows)}
}

// kindOf returns the CUmemorytype of a side.
func kindOf(b *driver.BoxSide) uint32 {
	if b.Go != nil {
		return memoryHost
	}
	return memoryDevice
}
