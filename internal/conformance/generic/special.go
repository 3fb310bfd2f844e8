package generic

import "quern.dev/kernel"

const widest = 4

// blur averages the elements around each element. It ignores positions past the ends.
//
//quern:kernel specialise=radius:1,2,widest
func blur(t kernel.Thread, radius int, in, out []float32) {
	i := t.Global()
	if i >= len(out) {
		return
	}
	sum, n := float32(0), float32(0)
	for j := -radius; j <= radius; j++ {
		if k := i + j; k >= 0 && k < len(in) {
			sum += in[k]
			n++
		}
	}
	out[i] = sum / n
}

// mixed has several specialized parameters of different types. The body changes one of
// them.
//
//quern:kernel specialise=flip:true,false specialise=step:-2,3,1<<6
func mixed(t kernel.Thread, step int8, flip bool, x []int32) {
	i := t.Global()
	if i >= len(x) {
		return
	}
	v := x[i]
	for range 3 {
		if flip {
			v = -v
		}
		v += int32(step)
		step++
		if step != 0 {
			v += 100 / int32(step)
		}
	}
	x[i] = v
}

// picked indexes an array by a specialized parameter, which is out of range for one value.
//
//quern:kernel specialise=at:0,3,7
func picked(t kernel.Thread, at int, x []int32) {
	var list [4]int32
	for j := range list {
		list[j] = int32(j * j)
	}
	if i := t.Global(); i < len(x) {
		x[i] += list[at] + 12/int32(at+1)
	}
}

// sized is generic and specialized, with shared memory and a barrier that depends on the
// parameter.
//
//quern:kernel instantiate=float32,int16 specialise=rounds:0,1,5 block=32
func sized[T kernel.Number](t kernel.Thread, rounds uint16, x []T) {
	tile := kernel.Shared[[32]T](t)
	i := t.Global()
	v := x[i]
	for range rounds {
		tile[t.ThreadIdx.X] = v
		t.Sync()
		v += tile[(t.ThreadIdx.X+1)%32]
		t.Sync()
	}
	x[i] = v
}

// filtered applies a filter with few taps.
//
//quern:kernel specialise=taps:4,8
func filtered(t kernel.Thread, taps int, weights, in, out []float32) {
	if i := t.Global(); i < len(out) {
		sum := float32(0)
		for j := range taps {
			sum += in[i+j] * weights[j]
		}
		out[i] = sum
	}
}
