package main

import "quern.dev/kernel"

//go:generate go tool quern gen

// rgb is a color in units of a 16th of a level.
type rgb struct{ R, G, B int32 }

// levels is the number of units in a level of 8-bit colors.
const levels = 16

// unpacked returns the color 0xRRGGBB.
func unpacked(c uint32) rgb {
	return rgb{levels * int32(c>>16&0xff), levels * int32(c>>8&0xff), levels * int32(c&0xff)}
}

// packed returns the nearest 8-bit color.
func (c rgb) packed() uint32 {
	r, g, b := (c.R+levels/2)/levels, (c.G+levels/2)/levels, (c.B+levels/2)/levels
	return uint32(r<<16 | g<<8 | b)
}

// distance returns the square of the distance of two colors.
func (c rgb) distance(other rgb) int32 {
	r, g, b := c.R-other.R, c.G-other.G, c.B-other.B
	return r*r + g*g + b*b
}

// choose makes color at[0] number k of the palette. It updates the distance of each color
// from the palette, and weights it with the number of its pixels.
//
//quern:kernel
func choose(t kernel.Thread, k int, at []int, color []uint32, pixels []int, distance []int32, weighted []int64, palette []rgb) {
	i := t.Global()
	if i >= len(color) || i >= len(pixels) || i >= len(distance) || i >= len(weighted) {
		return
	}
	newest := unpacked(color[at[0]])
	if i == 0 {
		palette[k] = newest
	}
	d := unpacked(color[i]).distance(newest)
	if k > 0 {
		d = min(d, distance[i])
	}
	distance[i] = d
	weighted[i] = int64(d) * int64(pixels[i])
}

// assign finds the nearest palette color of each color, and the error that this makes.
//
//quern:kernel
func assign(t kernel.Thread, palette []rgb, color []uint32, pixels []int, label, number []uint32, weighted []int64) {
	i := t.Global()
	if i >= len(color) || i >= len(pixels) || i >= len(label) || i >= len(number) || i >= len(weighted) {
		return
	}
	c := unpacked(color[i])
	best, nearest := c.distance(palette[0]), 0
	for k := 1; k < len(palette); k++ {
		if d := c.distance(palette[k]); d < best {
			best, nearest = d, k
		}
	}
	label[i], number[i] = uint32(nearest), uint32(i)
	weighted[i] = int64(best) * int64(pixels[i])
}

// addends writes what colors add to the sums of their palette color, in the order of
// number: red, green, blue, and the number of pixels, n elements of each.
//
//quern:kernel
func addends(t kernel.Thread, number, color []uint32, pixels []int, out []int64) {
	i, n := t.Global(), len(number)
	if i >= n {
		return
	}
	c, p := unpacked(color[number[i]]), int64(pixels[number[i]])
	out[i], out[n+i], out[2*n+i], out[3*n+i] = p*int64(c.R), p*int64(c.G), p*int64(c.B), p
}

// recenter moves palette colors to the mean of their pixels. Element i of the four rows of
// sums is that of palette color label[i]. Colors without pixels stay.
//
//quern:kernel
func recenter(t kernel.Thread, count []int, label []uint32, sums []int64, palette []rgb) {
	i, n := t.Global(), len(label)
	if i >= n || i >= count[0] {
		return
	}
	p := sums[3*n+i]
	palette[label[i]] = rgb{int32((sums[i] + p/2) / p), int32((sums[n+i] + p/2) / p), int32((sums[2*n+i] + p/2) / p)}
}

// paint looks up the label of each pixel, whose color is number at[i].
//
//quern:kernel
func paint(t kernel.Thread, at []int, label []uint32, out []uint8) {
	if i := t.Global(); i < len(out) && i < len(at) {
		out[i] = uint8(label[at[i]])
	}
}
