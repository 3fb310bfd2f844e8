package sim

import (
	"unsafe"

	"quern.dev/internal/driver"
)

// texture is an image that kernels read with tex instructions.
type texture struct{ *driver.SoftwareTexture }

func (d *device) NewTexture(info driver.TextureInfo) (driver.Texture, error) {
	return texture{driver.NewSoftwareTexture(info)}, nil
}

func (t texture) Store(s driver.Stream, src unsafe.Pointer) error {
	d := s.(*stream).dev
	d.begin()
	defer d.end()
	t.Set(src)
	return nil
}
