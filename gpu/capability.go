package gpu

import (
	"errors"
	"unsafe"

	"quern.dev/internal/driver"
)

// capabilities are the optional interfaces of a driver.Device that are often needed,
// or their replacements. They are looked up when the device is opened.
type capabilities struct {
	pages      driver.PageLocker        // if the device locks no pages, an implementation on Go memory
	persistent driver.PersistentKernels // if no function waits for kernels, a plain list
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

// newDriverPool returns the device's stream-ordered pool, or a pool on top of Alloc
// and Free.
func newDriverPool(drv driver.Device, keep int64) (driver.Pool, error) {
	if p, ok := drv.(driver.Pools); ok {
		return p.NewPool(keep)
	}
	return driver.PlainPool(drv), nil
}

// priorities returns the range of stream priorities of the device.
func priorities(drv driver.Device) (least, greatest int) {
	if p, ok := drv.(driver.Prioritizer); ok {
		return p.Priorities()
	}
	return 0, 0
}

// newTexture calls driver.Textures.
func newTexture(drv driver.Device, i driver.TextureInfo) (driver.Texture, error) {
	if t, ok := drv.(driver.Textures); ok {
		return t.NewTexture(i)
	}
	return nil, unsupported("textures")
}

// newGraphExec calls driver.Graphs.
func newGraphExec(drv driver.Device, nodes []driver.GraphNode, failed func(error)) (driver.GraphExec, error) {
	if g, ok := drv.(driver.Graphs); ok {
		return g.NewGraphExec(nodes, failed)
	}
	return nil, unsupported("graphs")
}

// mapHost calls driver.HostMapper.
func mapHost(drv driver.Device, p unsafe.Pointer, size int64) (driver.Memory, error) {
	if m, ok := drv.(driver.HostMapper); ok {
		return m.MapHost(p, size)
	}
	return driver.Memory{}, unsupported("mapped host memory")
}

// unmapHost calls driver.HostMapper, which must have mapped the memory.
func unmapHost(drv driver.Device, m driver.Memory) error { return drv.(driver.HostMapper).UnmapHost(m) }

// allocManaged calls driver.ManagedMemory.
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

// copyBox calls driver.BoxCopier, or copies piece by piece if the device has none.
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

// callHost calls driver.HostCaller.
func callHost(s driver.Stream, f func()) error {
	if h, ok := s.(driver.HostCaller); ok {
		return h.CallHost(f)
	}
	return unsupported("functions in streams")
}

func unsupported(what string) error {
	return &failure{"the device has no " + what, errors.ErrUnsupported}
}
