package kernels

import "quern.dev/kernel"

// The conversions: those from RGB, and those to it.
const (
	RGBToGray = iota
	RGBToHSV
	RGBToLab
	RGBToYUV601
	RGBToYUV709
	GrayToRGB
	HSVToRGB
	LabToRGB
	YUV601ToRGB
	YUV709ToRGB
	RGBToRGB
)

// colors converts colors of 8 bits with integers only, so that all devices agree.
//
//quern:kernel block=32x8
func colors(t kernel.Thread, conversion, srcChannels, dstChannels, w, h, srcStride, dstStride int, src, dst []uint8) {
	x, y := t.Global2()
	if x >= w || y >= h {
		return
	}
	in, out := y*srcStride+x*srcChannels, y*dstStride+x*dstChannels
	a := int32(src[in])
	b, c := a, a
	alpha := uint8(255)
	if srcChannels >= 3 {
		b, c = int32(src[in+1]), int32(src[in+2])
	}
	if srcChannels == 4 {
		alpha = src[in+3]
	}
	switch conversion {
	case RGBToGray:
		a = (19595*a + 38470*b + 7471*c + 1<<15) >> 16
	case RGBToHSV:
		a, b, c = toHSV(a, b, c)
	case HSVToRGB:
		a, b, c = fromHSV(a, b, c)
	case RGBToLab:
		a, b, c = toLab(a, b, c)
	case LabToRGB:
		a, b, c = fromLab(a, b, c)
	case RGBToYUV601:
		a, b, c = (19595*a+38470*b+7471*c+1<<15)>>16, (-11056*a-21712*b+32768*c+257<<15)>>16, (32768*a-27440*b-5328*c+257<<15)>>16
	case RGBToYUV709:
		a, b, c = (13933*a+46871*b+4732*c+1<<15)>>16, (-7509*a-25259*b+32768*c+257<<15)>>16, (32768*a-29763*b-3005*c+257<<15)>>16
	case YUV601ToRGB:
		y, u, v := a*0x10101, b-128, c-128
		a, b, c = (y+91881*v)>>16, (y-22554*u-46802*v)>>16, (y+116130*u)>>16
	case YUV709ToRGB:
		y, u, v := a*0x10101, b-128, c-128
		a, b, c = (y+103206*v)>>16, (y-12276*u-30679*v)>>16, (y+121609*u)>>16
	}
	dst[out] = uint8(kernel.Clamp(a, 0, 255))
	if dstChannels >= 3 {
		dst[out+1] = uint8(kernel.Clamp(b, 0, 255))
		dst[out+2] = uint8(kernel.Clamp(c, 0, 255))
	}
	if dstChannels == 4 {
		dst[out+3] = alpha
	}
}

// toHSV returns the hue in units of 2 degrees, 0 to 179, and saturation and value of 0 to 255,
// each rounded to the nearest integer, ties up.
func toHSV(r, g, b int32) (h, s, v int32) {
	v = max(r, g, b)
	d := v - min(r, g, b)
	if d == 0 {
		return 0, 0, v
	}
	var n int32 // hue in units of 2/d degrees
	switch v {
	case r:
		n = 30 * (g - b)
		if n < 0 {
			n += 180 * d
		}
	case g:
		n = 60*d + 30*(b-r)
	default:
		n = 120*d + 30*(r-g)
	}
	h = (2*n + d) / (2 * d)
	if h == 180 {
		h = 0
	}
	return h, (510*d + v) / (2 * v), v
}

// fromHSV rounds to the nearest integers, ties up. Hues above 179 are taken modulo 180.
func fromHSV(h, s, v int32) (r, g, b int32) {
	h %= 180
	sector := h / 30
	f := h % 30
	p := (2*v*(255-s) + 255) / 510
	q := (2*v*(7650-s*f) + 7650) / 15300
	t := (2*v*(7650-s*(30-f)) + 7650) / 15300
	switch sector {
	case 0:
		return v, t, p
	case 1:
		return q, v, p
	case 2:
		return p, v, t
	case 3:
		return p, q, v
	case 4:
		return t, p, v
	default:
		return v, p, q
	}
}

const one24 = 1 << 24

// labCurve returns the function f of CIE Lab with 15 fractional bits, for a value with 24.
func labCurve(t int64) int64 {
	if t <= 148584 { // (6/29)^3
		return (t*255166+1<<23)>>24 + 4520 // 841/108*t + 16/116
	}
	n := t << 21
	r := int64(kernel.Cbrt(float32(n)))
	for r*r*r > n {
		r--
	}
	for (r+1)*(r+1)*(r+1) <= n {
		r++
	}
	return r
}

// toLab returns L*255/100, a+128 and b+128.
func toLab(r, g, b int32) (l, a, bb int32) {
	in := [3]int64{int64(intensities[uint8(r)]), int64(intensities[uint8(g)]), int64(intensities[uint8(b)])}
	var f [3]int64
	//quern:unroll
	for i := range f {
		f[i] = labCurve((toXYZ[i][0]*in[0] + toXYZ[i][1]*in[1] + toXYZ[i][2]*in[2] + one24/2) >> 24)
	}
	l = int32(((116*f[1]-16<<15)*255/100 + 1<<14) >> 15)
	a = int32((500*(f[0]-f[1]) + 128<<15 + 1<<14) >> 15)
	bb = int32((200*(f[1]-f[2]) + 128<<15 + 1<<14) >> 15)
	return l, a, bb
}

func labInverse(f int64) int64 {
	if f <= 3471174 { // 6/29
		return (f - 2314116) * 108 / 841
	}
	return ((f*f)>>24*f + one24/2) >> 24
}

func fromLab(l, a, b int32) (r, g, bb int32) {
	y := (int64(l)*100*one24/255 + 16*one24) / 116
	x, z := y+int64(a-128)*one24/500, y-int64(b-128)*one24/200
	xyz := [3]int64{labInverse(x), labInverse(y), labInverse(z)}
	var out [3]int32
	//quern:unroll
	for i := range out {
		out[i] = encode((fromXYZ[i][0]*xyz[0] + fromXYZ[i][1]*xyz[1] + fromXYZ[i][2]*xyz[2] + one24/2) >> 24)
	}
	return out[0], out[1], out[2]
}

// encode returns the 8-bit value for an intensity.
func encode(v int64) int32 {
	code := int32(0)
	for bit := int32(128); bit > 0; bit >>= 1 {
		if v >= int64(thresholds[uint8(code|bit)]) {
			code |= bit
		}
	}
	return code
}

// colorsFloat converts colors in float32.
//
//quern:kernel block=32x8
func colorsFloat(t kernel.Thread, conversion, srcChannels, dstChannels, w, h, srcStride, dstStride int, src, dst []float32) {
	x, y := t.Global2()
	if x >= w || y >= h {
		return
	}
	in, out := y*srcStride+x*srcChannels, y*dstStride+x*dstChannels
	a := src[in]
	b, c, alpha := a, a, float32(1)
	if srcChannels >= 3 {
		b, c = src[in+1], src[in+2]
	}
	if srcChannels == 4 {
		alpha = src[in+3]
	}
	switch conversion {
	case RGBToGray:
		a = 0.299*a + 0.587*b + 0.114*c
	case RGBToHSV:
		a, b, c = toHSVFloat(a, b, c)
	case HSVToRGB:
		a, b, c = fromHSVFloat(a, b, c)
	case RGBToLab:
		a, b, c = toLabFloat(a, b, c)
	case LabToRGB:
		a, b, c = fromLabFloat(a, b, c)
	case RGBToYUV601:
		y := 0.299*a + 0.587*b + 0.114*c
		a, b, c = y, (c-y)*(0.5/(1-0.114))+0.5, (a-y)*(0.5/(1-0.299))+0.5
	case RGBToYUV709:
		y := 0.2126*a + 0.7152*b + 0.0722*c
		a, b, c = y, (c-y)*(0.5/(1-0.0722))+0.5, (a-y)*(0.5/(1-0.2126))+0.5
	case YUV601ToRGB:
		u, v := b-0.5, c-0.5
		a, b, c = a+1.402*v, a-(0.114*1.772/0.587)*u-(0.299*1.402/0.587)*v, a+1.772*u
	case YUV709ToRGB:
		u, v := b-0.5, c-0.5
		a, b, c = a+1.5748*v, a-(0.0722*1.8556/0.7152)*u-(0.2126*1.5748/0.7152)*v, a+1.8556*u
	}
	dst[out] = a
	if dstChannels >= 3 {
		dst[out+1], dst[out+2] = b, c
	}
	if dstChannels == 4 {
		dst[out+3] = alpha
	}
}

func toHSVFloat(r, g, b float32) (h, s, v float32) {
	v = max(r, g, b)
	d := v - min(r, g, b)
	if d == 0 {
		return 0, 0, v
	}
	switch v {
	case r:
		h = (g - b) / d
		if h < 0 {
			h += 6
		}
	case g:
		h = 2 + (b-r)/d
	default:
		h = 4 + (r-g)/d
	}
	return h / 6, d / v, v
}

func fromHSVFloat(h, s, v float32) (r, g, b float32) {
	h = (h - kernel.Floor(h)) * 6
	sector := kernel.Floor(h)
	f := h - sector
	p, q, t := v*(1-s), v*(1-s*f), v*(1-s*(1-f))
	switch int32(sector) {
	case 0, 6:
		return v, t, p
	case 1:
		return q, v, p
	case 2:
		return p, v, t
	case 3:
		return p, q, v
	case 4:
		return t, p, v
	default:
		return v, p, q
	}
}

// decodeFloat returns the intensity of a value in sRGB.
func decodeFloat(v float32) float32 {
	if v <= 0.04045 {
		return v / 12.92
	}
	return kernel.Pow((v+0.055)/1.055, 2.4)
}

func encodeFloat(v float32) float32 {
	if v <= 0.0031308 {
		return v * 12.92
	}
	return 1.055*kernel.Pow(v, 1/2.4) - 0.055
}

func toLabFloat(r, g, b float32) (l, a, bb float32) {
	in := [3]float32{decodeFloat(r), decodeFloat(g), decodeFloat(b)}
	var f [3]float32
	//quern:unroll
	for i := range f {
		v := toXYZFloat[i][0]*in[0] + toXYZFloat[i][1]*in[1] + toXYZFloat[i][2]*in[2]
		if v > 216./24389 {
			f[i] = kernel.Cbrt(v)
		} else {
			f[i] = v*(841./108) + 16./116
		}
	}
	return 116*f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])
}

func fromLabFloat(l, a, b float32) (red, green, blue float32) {
	y := (l + 16) / 116
	f := [3]float32{y + a/500, y, y - b/200}
	//quern:unroll
	for i := range f {
		if v := f[i]; v > 6./29 {
			f[i] = v * v * v
		} else {
			f[i] = (v - 16./116) * (108. / 841)
		}
	}
	var out [3]float32
	//quern:unroll
	for i := range out {
		out[i] = encodeFloat(max(0, fromXYZFloat[i][0]*f[0]+fromXYZFloat[i][1]*f[1]+fromXYZFloat[i][2]*f[2]))
	}
	return out[0], out[1], out[2]
}
