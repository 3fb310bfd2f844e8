package cuda

import (
	"errors"
	"runtime"
	"unsafe"

	"quern.dev/internal/driver"
	"quern.dev/kernel"
)

// Structures of the driver's interface (cuda.h).
type (
	arrayDescriptor struct {
		width, height uint64
		format        uint32
		channels      uint32
	}

	copy2D struct {
		srcX, srcY           uint64
		srcType              uint32
		srcHost              unsafe.Pointer
		srcDevice            uint64
		srcArray             uintptr
		srcPitch             uint64
		dstX, dstY           uint64
		dstType              uint32
		dstHost              unsafe.Pointer
		dstDevice            uint64
		dstArray             uintptr
		dstPitch             uint64
		widthInBytes, height uint64
	}

	resourceDescriptor struct {
		kind  uint32
		array uintptr // the first member of a union of 128 bytes
		_     [120]byte
		flags uint32
	}

	textureDescriptor struct {
		address        [3]uint32
		filter         uint32
		flags          uint32
		maxAnisotropy  uint32
		mipmapFilter   uint32
		mipmapBias     float32
		minMip, maxMip float32
		border         [4]float32
		_              [12]int32
	}
)

// Values in them.
const (
	memoryHost, memoryArray = 1, 3
	readNormalized          = 2 // CU_TRSF_NORMALIZED_COORDINATES
)

var (
	arrayFormats = [...]uint32{driver.Float32: 0x20, driver.Uint8: 0x01, driver.Uint16: 0x02}
	addressModes = [...]uint32{kernel.AddressWrap: 0, kernel.AddressClamp: 1, kernel.AddressMirror: 2, kernel.AddressBorder: 3}
)

// texture is a CUDA array and the object that kernels use to read it.
type texture struct {
	dev    *device
	info   driver.TextureInfo
	array  uintptr // CUarray
	object uint64  // CUtexObject
}

func (d *device) NewTexture(info driver.TextureInfo) (driver.Texture, error) {
	t := &texture{dev: d, info: info}
	desc := &arrayDescriptor{
		width: uint64(info.Width), height: uint64(info.Height),
		format: arrayFormats[info.Texels], channels: uint32(info.Channels),
	}
	if err := d.call(cuArrayCreate, uintptr(unsafe.Pointer(&t.array)), uintptr(unsafe.Pointer(desc))); err != nil {
		return nil, err
	}
	resource := &resourceDescriptor{array: t.array}
	how := &textureDescriptor{address: [3]uint32{addressModes[info.AddressX], addressModes[info.AddressY], addressModes[info.AddressX]}}
	if info.Linear {
		how.filter = 1
	}
	if info.Normalized {
		how.flags |= readNormalized
	}
	err := d.call(cuTexObjectCreate, uintptr(unsafe.Pointer(&t.object)),
		uintptr(unsafe.Pointer(resource)), uintptr(unsafe.Pointer(how)), 0)
	if err != nil {
		return nil, errors.Join(err, d.handles(cuArrayDestroy, t.array))
	}
	return t, nil
}

func (t *texture) Object() uint64 { return t.object }

func (t *texture) Store(s driver.Stream, src unsafe.Pointer) error {
	row := uint64(t.info.Width * t.info.Channels * t.info.Texels.Size())
	c := &copy2D{
		srcType: memoryHost, srcHost: src, srcPitch: row,
		dstType: memoryArray, dstArray: t.array,
		widthInBytes: row, height: uint64(t.info.Height),
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	pins.Pin(src)
	st := s.(*stream)
	if err := t.dev.call(cuMemcpy2DAsync, uintptr(unsafe.Pointer(c)), st.handle); err != nil {
		return err
	}
	// The copy may still read src: whether the driver has staged it depends on how the
	// memory was made known to the driver.
	return t.dev.handles(cuStreamSynchronize, st.handle)
}

func (t *texture) Close() error {
	return errors.Join(
		t.dev.handles(cuTexObjectDestroy, uintptr(t.object)),
		t.dev.handles(cuArrayDestroy, t.array),
	)
}
