package kernels

import "quern.dev/kernel"

const isingEach = 4 // spins per thread

// ising updates the spins of one color of a checkerboard with the Metropolis algorithm. A
// spin of the w x h torus is 1 or -1, w is a multiple of 8 and h even. chances has the
// probability of a flip if the product of the spin with the sum of its neighbors is -4,
// -2, 0, 2 and 4. Each thread updates four spins of a row.
//
//quern:kernel block=32x8 also=unchecked
func ising(t kernel.Thread, w, h, color int, seed, step uint32, chances [5]float32, spins []int8) {
	tx, y := t.Global2()
	if tx >= w/(2*isingEach) || y >= h {
		return
	}
	above, below := y-1, y+1
	if above < 0 {
		above = h - 1
	}
	if below == h {
		below = 0
	}
	random := kernel.Philox([4]uint32{uint32(y*w + tx), step}, [2]uint32{seed})
	for k := range isingEach {
		x := 2*(tx*isingEach+k) + (y+color)&1
		left, right := x-1, x+1
		if left < 0 {
			left = w - 1
		}
		if right == w {
			right = 0
		}
		spin := spins[y*w+x]
		sum := spins[above*w+x] + spins[below*w+x] + spins[y*w+left] + spins[y*w+right]
		if kernel.UnitFloat32(random[k]) < chances[(spin*sum+4)/2] {
			spins[y*w+x] = -spin
		}
	}
}
