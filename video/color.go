package video

import (
	"quern.dev/gpu"
	"quern.dev/video/internal/kernels"
)

// Matrix is the relation between RGB and luma.
type Matrix uint8

// The weights of red, green and blue in luma.
const (
	BT709  Matrix = iota // 0.2126, 0.7152, 0.0722: high definition
	BT601                // 0.299, 0.587, 0.114: standard definition
	BT2020               // 0.2627, 0.6780, 0.0593: ultra-high definition
)

// name returns ffmpeg's name of a matrix.
func (m Matrix) name() string { return [...]string{"bt709", "smpte170m", "bt2020nc"}[m] }

// weights returns the weights of red, green and blue, whose sum is the last number.
func (m Matrix) weights() (r, g, b, sum int64) {
	w := [...][3]int64{{2126, 7152, 722}, {2990, 5870, 1140}, {2627, 6780, 593}}[m]
	return w[0], w[1], w[2], 10000
}

// Format is how a frame is stored.
type Format uint8

const (
	NV12    Format = iota // luma, then pairs of chroma samples of 2 x 2 pixels
	YUV420P               // luma, then both planes of chroma
	RGB24                 // red, green and blue of each pixel
)

func (f Format) name() string { return [...]string{"nv12", "yuv420p", "rgb24"}[f] }

// Bytes returns the size of a frame.
func (f Format) Bytes(width, height int) int {
	if f == RGB24 {
		return 3 * width * height
	}
	return width * height * 3 / 2
}

// Colors is a conversion between RGB and what a video stores.
//
// Encoding gives, for each sample, the integer that is nearest to the real number of the standard, halves up; chroma is
// that of the mean of 2 x 2 pixels. Decoding gives the nearest integers, halves up, clamped; a chroma sample counts for its
// 2 x 2 pixels. Both are computed in integers, without error.
type Colors struct {
	Matrix Matrix
	Full   bool // samples have 0 to 255, and not 16 to 235 (luma) and 16 to 240 (chroma)
}

func gcd(a ...int64) int64 {
	d := int64(0)
	for _, x := range a {
		for x = max(x, -x); x != 0; {
			d, x = x, d%x
		}
	}
	return d
}

// ranges returns the steps of luma and of chroma from the least to the greatest sample, and the luma of black.
func (c Colors) ranges() (luma, chroma, black int64) {
	if c.Full {
		return 255, 255, 0
	}
	return 219, 224, 16
}

func (c Colors) encoding() (e kernels.Encoding) {
	kr, kg, kb, k := c.Matrix.weights()
	luma, chroma, black := c.ranges()
	var offset int64
	e.Y, offset, e.YDivisor = fraction([3]int64{luma * kr, luma * kg, luma * kb}, black, 255*k)
	e.YOffset = uint32(offset)
	// Cb = (B - Y) / (2*(1-kb)): the sum of four pixels is divided by 4*255*2*(1-kb).
	e.U, offset, e.UDivisor = fraction([3]int64{-chroma * kr, -chroma * kg, chroma * (k - kb)}, 128, 4*255*2*(k-kb))
	e.UOffset = uint32(offset)
	e.V, offset, e.VDivisor = fraction([3]int64{chroma * (k - kr), -chroma * kg, -chroma * kb}, 128, 4*255*2*(k-kr))
	e.VOffset = uint32(offset)
	return e
}

// fraction returns the smallest integers with the same quotient, and the numerator's offset that adds a whole number and
// rounds.
func fraction(n [3]int64, whole, d int64) (weights [3]int32, offset int64, divisor uint32) {
	// Twice the divisor keeps its half exact; it is not needed if the divisor is even.
	g := gcd(n[0], n[1], n[2], d)
	d /= g
	for i := range n {
		weights[i] = int32(n[i] / g)
	}
	// For an odd divisor there are no halves, and d/2 rounded down is enough.
	return weights, whole*d + d/2, uint32(d)
}

func (c Colors) decoding() (d kernels.Decoding) {
	kr, kg, kb, k := c.Matrix.weights()
	luma, chroma, black := c.ranges()
	// R = Y + 2*(1-kr)*V, B = Y + 2*(1-kb)*U, G = Y - 2*kb*(1-kb)/kg*U - 2*kr*(1-kr)/kg*V, with the denominator luma*chroma*kg*k.
	y := 255 * chroma * kg * k
	d.R = [3]int64{y, 0, 2 * (k - kr) * 255 * luma * kg}
	d.B = [3]int64{y, 2 * (k - kb) * 255 * luma * kg, 0}
	d.G = [3]int64{y, -2 * kb * (k - kb) * 255 * luma, -2 * kr * (k - kr) * 255 * luma}
	d.Divisor = luma * chroma * kg * k
	g := gcd(y, d.R[2], d.B[1], d.G[1], d.G[2], d.Divisor)
	for i := range 3 {
		d.R[i], d.G[i], d.B[i] = d.R[i]/g, d.G[i]/g, d.B[i]/g
	}
	d.Divisor /= g
	d.YZero = black
	return d
}

// Encode queues the conversion of a frame of RGBA (four bytes per pixel; alpha is ignored) to a format. The width and the
// height must be even, except for RGB24.
func (c Colors) Encode(s *gpu.Stream, f Format, width, height int, rgba, out *gpu.Buffer[uint8]) error {
	if err := checkFrame("encode", f, width, height, rgba, out); err != nil {
		return err
	}
	if f == RGB24 {
		return kernels.LaunchPack(s, gpu.Linear(width*height), width*height, rgba, out)
	}
	return kernels.LaunchEncode(s, gpu.Plane(width/2, height/2), kernels.Frame{Width: width, Height: height, Planar: f == YUV420P}, c.encoding(), rgba, out)
}

// Decode queues the conversion of a frame to RGBA, with an alpha of 255.
func (c Colors) Decode(s *gpu.Stream, f Format, width, height int, in, rgba *gpu.Buffer[uint8]) error {
	if err := checkFrame("decode", f, width, height, rgba, in); err != nil {
		return err
	}
	if f == RGB24 {
		return kernels.LaunchUnpack(s, gpu.Linear(width*height), width*height, in, rgba)
	}
	return kernels.LaunchDecode(s, gpu.Plane(width, height), kernels.Frame{Width: width, Height: height, Planar: f == YUV420P}, c.decoding(), in, rgba)
}

func checkFrame(op string, f Format, width, height int, rgba, other *gpu.Buffer[uint8]) error {
	if f > RGB24 {
		return fail(ErrArgument, op, "format", "unknown format %d", f)
	}
	if width < 1 || height < 1 || f != RGB24 && (width%2 != 0 || height%2 != 0) {
		return fail(ErrArgument, op, "size", "%d x %d: want positive numbers, even ones for %s", width, height, f.name())
	}
	if rgba.Len() != 4*width*height || other.Len() != f.Bytes(width, height) {
		return fail(ErrArgument, op, "frame", "buffers of %d and %d bytes: want %d for RGBA and %d for %s", rgba.Len(), other.Len(), 4*width*height, f.Bytes(width, height), f.name())
	}
	return nil
}
