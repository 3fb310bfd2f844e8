package gpu

import (
	"errors"
	"math"
	"runtime"
	"sync/atomic"
	"unsafe"

	"quern.dev/gpu/compiled"
	"quern.dev/internal/driver"
	"quern.dev/kernel"
)

// Texture2D is an image on a device that kernels read as a [kernel.Texture2D]. It is
// safe for concurrent use, but the program must keep kernels from reading it while
// [Store] replaces its contents.
type Texture2D[T kernel.Texel] struct {
	mem    *memory
	value  kernel.Texture2D[T]
	info   driver.TextureInfo
	closed atomic.Bool
}

// TextureOptions configure how kernels read a texture.
type TextureOptions struct {
	// Filter selects the value between the centers of elements.
	Filter TextureFilter
	// AddressX and AddressY select the value outside the image.
	AddressX, AddressY AddressMode
	// Normalized makes coordinates run from 0 to 1 over the image instead of 0 to its
	// width and height.
	Normalized bool
}

// TextureFilter selects how the value at a coordinate is computed.
type TextureFilter uint8

// Filters.
const (
	FilterPoint  TextureFilter = iota // the element that contains the coordinate
	FilterLinear                      // bilinear interpolation of the four nearest elements
)

// AddressMode selects the value of a texture outside the image.
type AddressMode = kernel.AddressMode

// Address modes.
const (
	AddressClamp  = kernel.AddressClamp  // the nearest element of the image
	AddressBorder = kernel.AddressBorder // zero
	AddressWrap   = kernel.AddressWrap   // the image repeated; needs Normalized
	AddressMirror = kernel.AddressMirror // the image mirrored; needs Normalized
)

// Stored is a type of the numbers in a texture. Kernels see an integer v as a number
// from 0 to 1: v/255 or v/65535.
type Stored interface{ uint8 | uint16 | float32 }

// Limits of a two-dimensional texture, on every device (CUDA C Programming Guide,
// compute capabilities).
const (
	maxTextureWidth  = 131072
	maxTextureHeight = 65536
)

// NewTexture2D makes a texture of height rows of width elements. The caller closes
// it. An element of type T has 1, 2 or 4 numbers, which are adjacent in texels. When
// NewTexture2D returns, texels may be changed.
func NewTexture2D[T kernel.Texel, S Stored](s *Stream, width, height int, texels []S, o TextureOptions) (*Texture2D[T], error) {
	const doing = "new texture"
	var zero T
	var stored S
	info := driver.TextureInfo{
		Width: width, Height: height, Channels: int(unsafe.Sizeof(zero) / 4),
		AddressX: o.AddressX, AddressY: o.AddressY,
		Linear: o.Filter == FilterLinear, Normalized: o.Normalized,
	}
	switch any(stored).(type) {
	case uint8:
		info.Texels = driver.Uint8
	case uint16:
		info.Texels = driver.Uint16
	}
	if err := s.check(); err != nil {
		return nil, driverError(doing, err)
	}
	if err := checkTexture(info, len(texels), o); err != nil {
		return nil, driverError(doing, err)
	}
	m, err := s.dev.newTexture(doing, info)
	if err != nil {
		return nil, err
	}
	x := &Texture2D[T]{mem: m, info: info}
	x.value = kernel.NewTexture2D[T](m.storage.(textureMemory).Object(), width, height, o.Normalized)
	if err := store(s, x, texels); err != nil {
		return nil, errors.Join(driverError(doing, err), x.Close())
	}
	return x, nil
}

func checkTexture(i driver.TextureInfo, texels int, o TextureOptions) error {
	repeats := func(m AddressMode) bool { return m == AddressWrap || m == AddressMirror }
	switch {
	case i.Width <= 0 || i.Height <= 0:
		return invalid("a texture of %d x %d elements", i.Width, i.Height)
	case i.Width > maxTextureWidth || i.Height > maxTextureHeight:
		return invalid("a texture of %d x %d elements, at most %d x %d", i.Width, i.Height, maxTextureWidth, maxTextureHeight)
	case texels != i.Width*i.Height*i.Channels:
		return invalid("slice of %s for a texture of %d x %d elements of %s", count(texels, "number"), i.Width, i.Height, count(i.Channels, "number"))
	case o.Filter > FilterLinear:
		return invalid("unknown filter %d", o.Filter)
	case o.AddressX > AddressMirror:
		return invalid("unknown address mode %d along X", o.AddressX)
	case o.AddressY > AddressMirror:
		return invalid("unknown address mode %d along Y", o.AddressY)
	case !i.Normalized && (repeats(o.AddressX) || repeats(o.AddressY)):
		return invalid("AddressWrap and AddressMirror need normalised coordinates; set Normalized")
	default:
		return nil
	}
}

// textureMemory is the storage of a texture.
type textureMemory struct{ driver.Texture }

func (textureMemory) noun() string           { return "texture" }
func (textureMemory) lent() bool             { return false }
func (t textureMemory) free(m *memory) error { return t.Close() }

// newTexture makes a texture as a memory, so that launches can hold it.
func (d *Device) newTexture(doing string, i driver.TextureInfo) (*memory, error) {
	if err := d.acquire(); err != nil {
		return nil, driverError(doing, err)
	}
	t, err := newTexture(d.drv, i)
	if err != nil {
		return nil, errors.Join(driverError(doing, err), d.release())
	}
	return d.adopt(doing, &memory{dev: d, size: int64(i.Width) * int64(i.Height) * int64(i.Channels*i.Texels.Size()), storage: textureMemory{t}})
}

// Store replaces all elements. When it returns, texels may be changed.
func Store[T kernel.Texel, S Stored](s *Stream, dst *Texture2D[T], texels []S) error {
	return driverError("store texture", store(s, dst, texels))
}

func store[T kernel.Texel, S Stored](s *Stream, dst *Texture2D[T], texels []S) error {
	if err := s.acquire(); err != nil {
		return err
	}
	defer s.release()
	if err := dst.check(s.dev); err != nil {
		return err
	}
	if err := dst.mem.acquire(); err != nil {
		return err
	}
	defer dst.mem.release()
	var stored S
	i := dst.info
	if want := i.Width * i.Height * i.Channels; len(texels) != want || int(unsafe.Sizeof(stored)) != i.Texels.Size() {
		return invalid("slice of %s of %d bytes each for a texture of %d numbers of %d bytes each", count(len(texels), "number"), unsafe.Sizeof(stored), want, i.Texels.Size())
	}
	err := dst.mem.storage.(textureMemory).Store(s.drv, unsafe.Pointer(unsafe.SliceData(texels)))
	runtime.KeepAlive(texels)
	return err
}

// Width returns the number of elements in a row.
func (x *Texture2D[T]) Width() int {
	if x == nil {
		return 0
	}
	return x.info.Width
}

// Height returns the number of rows.
func (x *Texture2D[T]) Height() int {
	if x == nil {
		return 0
	}
	return x.info.Height
}

// Close releases the texture once the work that uses it is done. Closing again does
// nothing.
func (x *Texture2D[T]) Close() error {
	if x == nil || x.mem == nil || x.closed.Swap(true) {
		return nil
	}
	return x.mem.close()
}

// check returns an error if the texture cannot be used with device d.
func (x *Texture2D[T]) check(d *Device) error {
	switch {
	case x == nil:
		return invalid("texture is nil")
	case x.mem == nil:
		return invalid("texture was not made by NewTexture2D")
	case x.closed.Load() || x.mem.lease.Closed():
		return x.mem.dev.closedError("texture")
	case x.mem.dev != d:
		return otherDevice("texture", x.mem.dev, d)
	default:
		return nil
	}
}

// TextureArg sets the next argument, a texture.
func TextureArg[T kernel.Texel](l *Launch, x *Texture2D[T]) {
	a := l.argument()
	if a == nil {
		return
	}
	p := l.kernel.info.param(l.next - 1)
	if p.Kind != compiled.Texture || a.Size != int(unsafe.Sizeof(x.value)) {
		l.fail(invalid("have %T, want %s", x, p.describe()))
		return
	}
	if err := x.check(l.stream.dev); err != nil {
		l.fail(err)
		return
	}
	if err := x.mem.acquire(); err != nil {
		l.fail(err)
		return
	}
	*(*kernel.Texture2D[T])(a.Value) = x.value
	s := &l.params[l.next-1]
	s.value, s.memory, s.held = math.MaxInt64, x.mem, true
}
