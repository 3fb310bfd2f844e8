package main

import (
	"maps"
	"slices"
)

// reference computes the palette in plain Go.
func reference(picture []uint32, colors, most int) []rgb {
	pixels := map[uint32]int64{}
	for _, p := range picture {
		pixels[p]++
	}
	order := slices.Sorted(maps.Keys(pixels))
	nearest := func(c uint32, palette []rgb) (best int, distance int32) {
		for k, p := range palette {
			if d := unpacked(c).distance(p); k == 0 || d < distance {
				best, distance = k, d
			}
		}
		return best, distance
	}
	var palette []rgb
	for range colors {
		chosen, largest := order[0], int64(-1)
		for _, c := range order {
			e := pixels[c]
			if len(palette) > 0 {
				_, d := nearest(c, palette)
				e *= int64(d)
			}
			if e > largest {
				chosen, largest = c, e
			}
		}
		palette = append(palette, unpacked(chosen))
	}
	for range most {
		sums := make([][4]int64, colors)
		for _, c := range order {
			k, _ := nearest(c, palette)
			u, p := unpacked(c), pixels[c]
			for i, v := range [4]int32{u.R, u.G, u.B, 1} {
				sums[k][i] += p * int64(v)
			}
		}
		before := slices.Clone(palette)
		for k, s := range sums {
			if p := s[3]; p > 0 {
				palette[k] = rgb{int32((s[0] + p/2) / p), int32((s[1] + p/2) / p), int32((s[2] + p/2) / p)}
			}
		}
		if slices.Equal(palette, before) {
			break
		}
	}
	return palette
}
