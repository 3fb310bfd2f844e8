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

// Texture is an image on a device.
type Texture interface {
	// Object is what kernels call the texture.
	Object() uint64
	// Store copies all elements from Go memory, in the order of the stream. It
	// returns when src may be reused.
	Store(s Stream, src unsafe.Pointer) error
	Close() error
}

// SoftwareTexture is a texture of a device without texture units.
type SoftwareTexture struct {
	info   TextureInfo
	object uint64
	image  *kernel.Image
}

// NewSoftwareTexture makes a texture of zeros.
func NewSoftwareTexture(info TextureInfo) *SoftwareTexture {
	t := &SoftwareTexture{info: info}
	t.image = &kernel.Image{
		Width: info.Width, Height: info.Height, Channels: info.Channels,
		AddressX: info.AddressX, AddressY: info.AddressY, Linear: info.Linear, Normalized: info.Normalized,
		Texels: make([]float32, info.Width*info.Height*info.Channels),
	}
	t.object = kernel.OpenImage(t.image)
	return t
}

// Object returns the number by which package kernel knows the image.
func (t *SoftwareTexture) Object() uint64 { return t.object }

// Set replaces all elements.
func (t *SoftwareTexture) Set(src unsafe.Pointer) { Decode(t.info.Texels, t.image.Texels, src) }

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

// Close forgets the image.
func (t *SoftwareTexture) Close() error {
	kernel.CloseImage(t.object)
	return nil
}
