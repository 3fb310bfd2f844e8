package types

import (
	"math"

	"quern.dev/kernel"
)

// chain reads what it has written: through the same slice, and through one that may be the
// same memory.
//
//quern:kernel
func chain(t kernel.Thread, k int32, x, y, out []int32) {
	if i := t.Global(); 4*i+3 < len(x) && 4*i+3 < len(y) && i < len(out) {
		x[4*i] = k
		x[4*i+1] = x[4*i] + 1 // what was written
		y[4*i] = 7
		x[4*i+2] = x[4*i] + x[4*i+1] // may have been written through y
		x[4*i+2] *= 3
		sum := y[4*i+2]
		x[4*i+2] += sum
		x[4*i+3] = 5 // is replaced, but y may be read before
		sum += y[4*i+3]
		x[4*i+3] = x[4*i+2] - sum
		out[i] = sum
	}
}

// moving writes to elements whose index changes in between.
//
//quern:kernel
func moving(t kernel.Thread, at []int32, x []int32) {
	if i := t.Global(); i < len(at) {
		j := at[i]
		x[j] = 3
		j++
		x[j] = x[j-1] + 10
		x[j] += x[j-1]
		if x[j] > 15 {
			x[j-1] = 100
		}
		x[j] += x[j-1]
	}
}

type parts struct {
	A [4]int16
	B float32
	C uint32
}

// bits reads what it has written as another type, and elements that another index names.
//
//quern:kernel
func bits(t kernel.Thread, which []int32, p []parts) {
	if i := t.Global(); i < len(p) && i < len(which) {
		w := which[i] & 3
		p[i].A[1] = 5
		p[i].A[w] = 6
		p[i].A[2] += p[i].A[1]
		p[i].B = 1.5
		p[i].C = math.Float32bits(p[i].B) + uint32(p[i].A[2])
		p[i].B = float32(p[i].C >> 24)
		p[i].B *= 2
	}
}
