package driver

import (
	"unsafe"

	"quern.dev/kernel"
)

// Texels is the storage format of a texture's elements.
type Texels uint8

// Storage formats. Integers are read as numbers from 0 to 1.
const (
	Float32 Texels = iota
	Uint8
	Uint16
)

// Size returns the size of one component in bytes.
func (t Texels) Size() int { return [...]int{Float32: 4, Uint8: 1, Uint16: 2}[t] }

// TextureInfo describes a texture to create.
type TextureInfo struct {
	Width, Height, Channels int
	Texels                  Texels
	AddressX, AddressY      kernel.AddressMode
	Linear, Normalized      bool
}

// Textures is implemented by devices whose kernels can sample images.
type Textures interface {
	NewTexture(i TextureInfo) (Texture, error)
}

// Texture is an image on a device.
type Texture interface {
	// Object returns the handle that kernels use.
	Object() uint64
	// Store copies all elements from Go memory, in stream order. It returns when src
	// may be reused.
	Store(s Stream, src unsafe.Pointer) error
	Close() error
}

// Decode converts the numbers stored at src to float32 and fills to with them.
func Decode(form Texels, to []float32, src unsafe.Pointer) {
	switch form {
	case Float32:
		copy(to, unsafe.Slice((*float32)(src), len(to)))
	case Uint8:
		for i, v := range unsafe.Slice((*uint8)(src), len(to)) {
			to[i] = float32(v) / 0xff
		}
	case Uint16:
		for i, v := range unsafe.Slice((*uint16)(src), len(to)) {
			to[i] = float32(v) / 0xffff
		}
	}
}
