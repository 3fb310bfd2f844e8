package driver

import (
	"unsafe"

	"quern.dev/kernel"
)

// Texels says how a texture's elements are stored.
type Texels uint8

// Forms of elements. Integers become numbers from 0 to 1.
const (
	Float32 Texels = iota
	Uint8
	Uint16
)

// Size is the number of bytes of one number.
func (t Texels) Size() int { return [...]int{Float32: 4, Uint8: 1, Uint16: 2}[t] }

// TextureInfo says what a texture is to be.
type TextureInfo struct {
	Width, Height, Channels int
	Texels                  Texels
	AddressX, AddressY      kernel.AddressMode
	Linear, Normalized      bool
}

// Textures is implemented by devices on which kernels sample images.
type Textures interface {
	NewTexture(i TextureInfo) (Texture, error)
}

// Texture is an image on a device.
type Texture interface {
	// Object is what kernels call the texture.
	Object() uint64
	// Store copies all elements from Go memory, in the order of the stream. It
	// returns when src may be reused.
	Store(s Stream, src unsafe.Pointer) error
	Close() error
}

// Decode fills to with numbers that are stored at src.
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
