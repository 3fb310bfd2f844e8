package synchronous

import (
	"unsafe"

	"quern.dev/internal/driver"
	"quern.dev/kernel"
)

// texture is an image that kernels sample through package kernel.
type texture struct {
	form   driver.Texels
	object uint64
	image  *kernel.Image
}

// NewTexture creates a texture of zeros.
func (d *Device) NewTexture(i driver.TextureInfo) (driver.Texture, error) {
	image := &kernel.Image{
		Width: i.Width, Height: i.Height, Channels: i.Channels,
		AddressX: i.AddressX, AddressY: i.AddressY, Linear: i.Linear, Normalized: i.Normalized,
		Texels: make([]float32, i.Width*i.Height*i.Channels),
	}
	return &texture{i.Texels, kernel.OpenImage(image), image}, nil
}

// Object returns the number that identifies the image to package kernel.
func (t *texture) Object() uint64 { return t.object }

// Store replaces all elements.
func (t *texture) Store(s driver.Stream, src unsafe.Pointer) error {
	own := s.(*Stream)
	own.begin()
	defer own.end()
	driver.Decode(t.form, t.image.Texels, src)
	return nil
}

// Close releases the image.
func (t *texture) Close() error {
	kernel.CloseImage(t.object)
	return nil
}
