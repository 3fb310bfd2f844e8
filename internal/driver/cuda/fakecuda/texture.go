package fakecuda

import (
	"unsafe"

	"quern.dev/internal/driver"
	"quern.dev/kernel"
)

// array is a CUDA array. Its bytes are decoded when a texture object is created.
type array struct {
	width, height, channels int
	texels                  driver.Texels
	image                   *kernel.Image // of the texture object, nil until it exists
}

func init() {
	functions["cuArrayCreate_v2"] = entry{true, createArray}
	functions["cuArrayDestroy"] = entry{true, destroy}
	functions["cuTexObjectCreate"] = entry{true, createTexture}
	functions["cuTexObjectDestroy"] = entry{true, destroyTexture}
}

// createArray reads a CUDA_ARRAY_DESCRIPTOR.
func createArray(l *Library, a []uintptr) int {
	formats := map[uint32]driver.Texels{0x20: driver.Float32, 1: driver.Uint8, 2: driver.Uint16}
	texels, ok := formats[*at[uint32](a[1] + 16)]
	if !ok {
		return InvalidValue
	}
	return l.add(a[0], &array{
		width: int(*at[uint64](a[1])), height: int(*at[uint64](a[1] + 8)),
		channels: int(*at[uint32](a[1] + 20)), texels: texels,
	})
}

// createTexture reads a CUDA_RESOURCE_DESC and a CUDA_TEXTURE_DESC.
func createTexture(l *Library, a []uintptr) int {
	m, ok := object[*array](l, *at[uintptr](a[1] + 8))
	if kind := *at[uint32](a[1]); kind != 0 || !ok {
		return InvalidValue
	}
	modes := map[uint32]kernel.AddressMode{
		0: kernel.AddressWrap, 1: kernel.AddressClamp, 2: kernel.AddressMirror, 3: kernel.AddressBorder,
	}
	flags := *at[uint32](a[2] + 16)
	m.image = &kernel.Image{
		Width: m.width, Height: m.height, Channels: m.channels,
		AddressX: modes[*at[uint32](a[2])], AddressY: modes[*at[uint32](a[2] + 4)],
		Linear: *at[uint32](a[2] + 12) == 1, Normalized: flags&2 != 0,
		Texels: make([]float32, m.width*m.height*m.channels),
	}
	return set(a[0], kernel.OpenImage(m.image))
}

func destroyTexture(_ *Library, a []uintptr) int {
	kernel.CloseImage(uint64(a[0]))
	return Success
}

// copyToArray reads a CUDA_MEMCPY2D from host memory to an array.
func copyToArray(l *Library, a []uintptr) int {
	m, ok := object[*array](l, *at[uintptr](a[0] + 96))
	row := m.width * m.channels * m.texels.Size()
	if *at[uint32](a[0] + 16) != 1 || *at[uint32](a[0] + 72) != 3 || !ok || m.image == nil ||
		*at[uint64](a[0] + 112) != uint64(row) || *at[uint64](a[0] + 120) != uint64(m.height) {
		return InvalidValue
	}
	src, pitch := *at[uintptr](a[0] + 24), *at[uint64](a[0] + 48)
	for y := range m.height {
		line := unsafe.Pointer(unsafe.SliceData(bytes(src+uintptr(y)*uintptr(pitch), uintptr(row))))
		driver.Decode(m.texels, m.image.Texels[y*m.width*m.channels:][:m.width*m.channels], line)
	}
	return Success
}
