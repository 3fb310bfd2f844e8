package cpu

import (
	"unsafe"

	"quern.dev/internal/driver"
)

// texture is an image that kernels read through package kernel.
type texture struct{ *driver.SoftwareTexture }

func (d *device) NewTexture(info driver.TextureInfo) (driver.Texture, error) {
	return texture{driver.NewSoftwareTexture(info)}, nil
}

func (t texture) Store(s driver.Stream, src unsafe.Pointer) error {
	st := s.(*stream)
	st.begin()
	defer st.end()
	t.Set(src)
	return nil
}
