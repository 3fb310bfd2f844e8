package gpu

import (
	"errors"
	"unsafe"

	"quern.dev/internal/driver"
)

// capabilities are what a device can do beyond driver.Device, or what takes its place,
// as far as it is asked for often. They are found when the device is opened.
type capabilities struct {
	pages      driver.PageLocker        // Go's memory if the device locks none
	persistent driver.PersistentKernels // a list if no function waits for kernels
	forgetter  driver.Forgetter         // nil if the device does not track what was written

	direct bool // page-locked memory is no faster than other memory
}

func capabilitiesOf(drv driver.Device) capabilities {
	info := drv.Info()
	c := capabilities{direct: info.DirectHost}
	var ok bool
	if c.pages, ok = drv.(driver.PageLocker); !ok {
		c.pages, c.direct = driver.GoMemory{Limit: info.TotalMemory}, true
	}
	if c.persistent, ok = drv.(driver.PersistentKernels); !ok {
		c.persistent = new(driver.PersistentList)
	}
	c.forgetter, _ = drv.(driver.Forgetter)
	return c
}

// newPool returns the device's stream-ordered pool, or one over Alloc and Free.
func newDriverPool(drv driver.Device, keep int64) (driver.Pool, error) {
	if p, ok := drv.(driver.Pools); ok {
		return p.NewPool(keep)
	}
	return driver.PlainPool(drv), nil
}

// priorities returns the range of the device's priorities.
func priorities(drv driver.Device) (least, greatest int) {
	if p, ok := drv.(driver.Prioritizer); ok {
		return p.Priorities()
	}
	return 0, 0
}

// newTexture is that of driver.Textures.
func newTexture(drv driver.Device, i driver.TextureInfo) (driver.Texture, error) {
	if t, ok := drv.(driver.Textures); ok {
		return t.NewTexture(i)
	}
	return nil, unsupported("textures")
}

// newGraphExec is that of driver.Graphs.
func newGraphExec(drv driver.Device, nodes []driver.GraphNode, failed func(error)) (driver.GraphExec, error) {
	if g, ok := drv.(driver.Graphs); ok {
		return g.NewGraphExec(nodes, failed)
	}
	return nil, unsupported("graphs")
}

// mapHost is that of driver.HostMapper.
func mapHost(drv driver.Device, p unsafe.Pointer, size int64) (driver.Memory, error) {
	if m, ok := drv.(driver.HostMapper); ok {
		return m.MapHost(p, size)
	}
	return driver.Memory{}, unsupported("mapped memory of the host")
}

// unmapHost is that of driver.HostMapper, which has mapped the memory.
func unmapHost(drv driver.Device, m driver.Memory) error { return drv.(driver.HostMapper).UnmapHost(m) }

// allocManaged is that of driver.ManagedMemory.
func allocManaged(drv driver.Device, size int64) (driver.Memory, unsafe.Pointer, error) {
	if m, ok := drv.(driver.ManagedMemory); ok {
		return m.AllocManaged(size)
	}
	return driver.Memory{}, nil, unsupported("managed memory")
}

// copyInAsync copies from page-locked memory.
func copyInAsync(s driver.Stream, dst driver.Memory, src unsafe.Pointer, n int64) error {
	if a, ok := s.(driver.AsyncCopier); ok {
		return a.CopyInAsync(dst, src, n)
	}
	return s.CopyIn(dst, src, n)
}

// copyOutAsync copies to page-locked memory.
func copyOutAsync(s driver.Stream, dst unsafe.Pointer, src driver.Memory, n int64) error {
	if a, ok := s.(driver.AsyncCopier); ok {
		return a.CopyOutAsync(dst, src, n)
	}
	return s.CopyOut(dst, src, n)
}

// copyBox is that of driver.BoxCopier, or a copy piece by piece.
func copyBox(s driver.Stream, c *driver.BoxCopy) error {
	if b, ok := s.(driver.BoxCopier); ok {
		return b.CopyBox(c)
	}
	return c.Each(func(dst, src, n int64) error {
		switch {
		case c.Src.Go != nil:
			return s.CopyIn(c.Dst.Memory.Offset(dst), unsafe.Add(c.Src.Go, src), n)
		case c.Dst.Go != nil:
			return s.CopyOut(unsafe.Add(c.Dst.Go, dst), c.Src.Memory.Offset(src), n)
		default:
			return s.Copy(c.Dst.Memory.Offset(dst), c.Src.Memory.Offset(src), n)
		}
	})
}

// callHost is that of driver.HostCaller.
func callHost(s driver.Stream, f func()) error {
	if h, ok := s.(driver.HostCaller); ok {
		return h.CallHost(f)
	}
	return unsupported("functions in streams")
}

func unsupported(what string) error {
	return &failure{"the device has no " + what, errors.ErrUnsupported}
}
