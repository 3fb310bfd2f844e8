package kernels

import "quern.dev/kernel"

// Encoding is the conversion from RGB to luma and chroma in integers. Each sample is a fraction of integers, rounded to
// nearest with halves up:
//
//	luma    (Y.R*R + Y.G*G + Y.B*B) / YDivisor
//	chroma  (U.R*R + U.G*G + U.B*B) / UDivisor
//
// where the sums over the four pixels of a chroma sample, the offsets and the halves are included. All values of
// numerators are from 0 to 2^32-1.
type Encoding struct {
	Y, U, V                      [3]int32 // of red, green and blue
	YOffset, UOffset, VOffset    uint32
	YDivisor, UDivisor, VDivisor uint32
}

// Frame is the form of a frame of luma and chroma. Luma comes first, without gaps. Chroma has half the width and height.
type Frame struct {
	Width, Height int  // even
	Planar        bool // all of U before all of V (yuv420p), and not U and V side by side (nv12)
}

// chroma returns the indices of the chroma samples of a block of 2 x 2 pixels.
func (f *Frame) chroma(x, y int) (u, v int) {
	size := f.Width * f.Height
	block := y*(f.Width/2) + x
	if f.Planar {
		return size + block, size + size/4 + block
	}
	return size + 2*block, size + 2*block + 1
}

// weigh returns a quotient, at most 255.
func weigh(weights *[3]int32, r, g, b int32, offset, divisor uint32) uint8 {
	n := offset + uint32(weights[0]*r+weights[1]*g+weights[2]*b)
	return uint8(min(n/divisor, 255))
}

// encode converts blocks of 2 x 2 pixels of RGBA. The colors of the four are averaged for chroma.
//
//quern:kernel
func encode(t kernel.Thread, f Frame, e Encoding, rgba, out []uint8) {
	x, y := t.Global2()
	if 2*x >= f.Width || 2*y >= f.Height {
		return
	}
	var r, g, b int32
	for j := range 2 {
		for i := range 2 {
			at := (2*y+j)*f.Width + 2*x + i
			p, q, s := int32(rgba[4*at]), int32(rgba[4*at+1]), int32(rgba[4*at+2])
			out[at] = weigh(&e.Y, p, q, s, e.YOffset, e.YDivisor)
			r, g, b = r+p, g+q, b+s
		}
	}
	u, v := f.chroma(x, y)
	out[u] = weigh(&e.U, r, g, b, e.UOffset, e.UDivisor)
	out[v] = weigh(&e.V, r, g, b, e.VOffset, e.VDivisor)
}

// Decoding is the conversion to RGB: (Y*(y-YZero) + U*(u-128) + V*(v-128)) / Divisor, rounded to nearest with halves up,
// and clamped.
type Decoding struct {
	R, G, B [3]int64 // weights of y, u and v
	YZero   int64
	Divisor int64
}

// decode converts a frame to RGBA. Each chroma sample counts for its block of 2 x 2 pixels.
//
//quern:kernel
func decode(t kernel.Thread, f Frame, d Decoding, in, rgba []uint8) {
	x, y := t.Global2()
	if x >= f.Width || y >= f.Height {
		return
	}
	iu, iv := f.chroma(x/2, y/2)
	at := y*f.Width + x
	luma, u, v := int64(in[at])-d.YZero, int64(in[iu])-128, int64(in[iv])-128
	rgba[4*at], rgba[4*at+1], rgba[4*at+2], rgba[4*at+3] = component(&d.R, luma, u, v, d.Divisor), component(&d.G, luma, u, v, d.Divisor), component(&d.B, luma, u, v, d.Divisor), 255
}

func component(weights *[3]int64, y, u, v, divisor int64) uint8 {
	n := weights[0]*y + weights[1]*u + weights[2]*v + divisor/2
	if n < 0 {
		return 0
	}
	return uint8(min(n/divisor, 255))
}

// pack leaves out alpha.
//
//quern:kernel
func pack(t kernel.Thread, pixels int, rgba, rgb []uint8) {
	if i := t.Global(); i < pixels {
		rgb[3*i], rgb[3*i+1], rgb[3*i+2] = rgba[4*i], rgba[4*i+1], rgba[4*i+2]
	}
}

// unpack adds an alpha of 255.
//
//quern:kernel
func unpack(t kernel.Thread, pixels int, rgb, rgba []uint8) {
	if i := t.Global(); i < pixels {
		rgba[4*i], rgba[4*i+1], rgba[4*i+2], rgba[4*i+3] = rgb[3*i], rgb[3*i+1], rgb[3*i+2], 255
	}
}
