package kernels

import "quern.dev/kernel"

// RGB is a pixel.
type RGB struct{ R, G, B uint8 }

// yuv converts pixels to planes of luma and chroma (ITU-R BT.601, studio range).
//
//quern:kernel block=256 also=unchecked
func yuv(t kernel.Thread, in []RGB, y, u, v []uint8) {
	i := t.Global()
	if i >= len(in) {
		return
	}
	r, g, b := int32(in[i].R), int32(in[i].G), int32(in[i].B)
	y[i] = uint8((66*r+129*g+25*b+128)>>8 + 16)
	u[i] = uint8((-38*r-74*g+112*b+128)>>8 + 128)
	v[i] = uint8((112*r-94*g-18*b+128)>>8 + 128)
}
