package main

import "quern.dev/kernel"

// The scene is a mountain lake at sunset. The origin of its coordinates is the center
// of the picture, with X to the right and Y up; the picture has a height of 1.
const (
	shore = -0.16 // Y of the far shore of the lake

	sunX, sunY = 0.32, 0.085

	ranges = 5 // mountain ranges, the farthest first
)

// scene renders the picture, w x h pixels, as packed sRGB.
//
//quern:kernel block=32x8
func scene(t kernel.Thread, w, h int, pixels []uint32) {
	x, y := t.Global2()
	if x >= w || y >= h {
		return
	}
	pixel := 1 / float32(h)
	sx := (float32(x) + 0.5 - float32(w)/2) * pixel
	sy := (float32(h)/2 - float32(y) - 0.5) * pixel

	var c rgb
	if sy > shore {
		c = land(sx, sy, pixel)
	} else {
		c = lake(sx, sy, pixel)
	}
	// Lenses darken toward the corners.
	c = c.scale(1 - 0.35*(sx*sx+sy*sy))
	// Steps of 8-bit values are visible in a smooth sky; a random half step hides them.
	c = c.scale(1 + 0.012*(hash(int32(x), int32(y))-0.5))
	pixels[y*w+x] = pack(c)
}

// land returns the color above the shore: the ranges, and the sky behind them. It goes
// from the nearest range to the farthest and stops when nothing behind is visible.
func land(x, y, pixel float32) rgb {
	var c rgb
	open := float32(1) // visible share of what is behind
	for i := ranges - 1; i >= 0 && open > 0; i-- {
		depth := float32(i) / (ranges - 1) // 0 is the farthest
		top := skyline(x, i)
		cover := smoothStep(-pixel, pixel, top-y)
		if cover > 0 {
			c = c.add(slope(x, y, top, depth).scale(open * cover))
			open *= 1 - cover
		}
	}
	if open > 0 {
		c = c.add(sky(x, y).scale(open))
	}
	return c
}

// sky returns the color of the sky: a gradient, the sun, and clouds lit from below.
func sky(x, y float32) rgb {
	up := kernel.Saturate((y - shore) * 1.5)
	c := rgb{0.95, 0.46, 0.20}.mix(rgb{0.42, 0.28, 0.34}, smoothStep(0, 0.35, up))
	c = c.mix(rgb{0.045, 0.09, 0.24}, smoothStep(0.2, 1, up))

	dx, dy := x-sunX, y-sunY
	distance := kernel.Sqrt(dx*dx + dy*dy)
	glow := kernel.Exp(-5 * distance)
	c = c.add(rgb{1.0, 0.48, 0.16}.scale(0.75 * glow))

	// Clouds are layers seen at a grazing angle; they are flatter near the horizon.
	far := 0.35 / (up + 0.22)
	density := clouds(3.1*x*far+5, 9*far+2)
	veil := smoothStep(0.47, 0.78, density) * smoothStep(0.02, 0.3, up)
	lit := rgb{1.0, 0.50, 0.30}.scale(0.55 + 0.9*glow)
	shaded := rgb{0.20, 0.15, 0.24}
	c = c.mix(shaded.mix(lit, smoothStep(0.85, 0.5, density)+0.2), 0.85*veil)

	disc := smoothStep(0.037, 0.034, distance)
	return c.mix(rgb{6, 3.6, 1.7}, disc*(1-0.7*veil))
}

// skyline returns the height of a range at x.
func skyline(x float32, i int) float32 {
	depth := float32(i) / (ranges - 1)
	base := kernel.Lerp(float32(0.10), -0.155, depth)
	height := kernel.Lerp(float32(0.20), 0.10, depth)
	frequency := kernel.Lerp(float32(1.3), 3.2, depth)
	top := base - 0.12*height + height*(ridges(x*frequency+7.3*float32(i)+2, int32(37*i))-0.35)
	if i == ranges-1 {
		top = max(top, -0.135+0.02*noise1(5*x, 911)) + trees(x)
	}
	return top
}

// trees returns the height of the firs on the nearest range: one fir per cell of
// a line, as a triangle with a serrated edge.
func trees(x float32) float32 {
	const density = 95 // firs per unit length
	position := x * density
	cell := kernel.Floor(position)
	var height float32
	for k := range int32(3) {
		i := int32(cell) + k - 1
		centre := float32(i) + 0.3 + 0.4*hash(i, 501)
		tall := 0.012 + 0.024*hash(i, 502)
		aside := kernel.Abs(position-centre) * (1.0 / density)
		serration := kernel.Abs(kernel.Fract(aside*900) - 0.5)
		height = max(height, tall-4.2*aside+0.007*serration)
	}
	return height
}

// slope returns the color of a range: lit from the side of the sun, bluer and
// brighter with distance, and misty at its foot.
func slope(x, y, top, depth float32) rgb {
	below := top - y
	relief := clouds(14*x+60*depth, 26*y+9*x) - clouds(14*x+60*depth+0.25, 26*y+9*x+0.1)
	light := kernel.Saturate(0.45 + 2.2*relief)
	rock := rgb{0.020, 0.022, 0.032}.mix(rgb{0.16, 0.075, 0.055}, light*(1-depth))
	rim := kernel.Exp(-70*below) * (1 - 0.85*depth)
	dx := x - sunX
	rock = rock.add(rgb{0.50, 0.22, 0.10}.scale(0.5 * rim / (1 + 5*dx*dx)))

	air := rgb{0.62, 0.33, 0.26}.mix(rgb{0.20, 0.16, 0.26}, kernel.Saturate(kernel.Abs(dx)*1.1))
	haze := 0.80 * (1 - depth) * (1 - 0.35*depth)
	mist := 0.55 * smoothStep(0.03, 0.22, below) * (1 - depth)
	return rock.mix(air, kernel.Saturate(haze+mist*(1-haze)))
}

// lake reflects the land in rippled water.
func lake(x, y, pixel float32) rgb {
	depth := shore - y // below the shore in the picture
	// The width of ripples depends on their distance.
	near := 1 / (depth + 0.015)
	ripple := clouds(1.4*x*near+3, 7*near+40) - 0.5
	ripple += 0.4 * (noise2(5*x*near, 30*near) - 0.5)
	strength := 0.10 * depth / (depth + 0.05)
	c := land(x+0.25*strength*ripple, shore+max(depth*0.96+strength*ripple, 0.0005), 2*pixel)

	// Water reflects less at steeper viewing angles.
	fresnel := kernel.Lerp(float32(0.82), 0.42, smoothStep(0, 0.35, depth))
	c = rgb{0.012, 0.026, 0.040}.mix(c, fresnel)
	// A line of light along the far shore.
	return c.add(rgb{0.35, 0.20, 0.13}.scale(0.6 * kernel.Exp(-260*depth)))
}
