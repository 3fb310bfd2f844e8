package conformance

import "quern.dev/kernel"

//quern:kernel
func collatz(t kernel.Thread, in []int64, out []int64) {
	for i := t.Global(); i < len(in); i += t.Stride() {
		n := in[i]&0xffff + 1
		steps := int64(0)
		for n != 1 {
			if n%2 == 0 {
				n /= 2
			} else {
				n = 3*n + 1
			}
			steps++
			if steps > 500 {
				break
			}
		}
		out[i] = steps
	}
}

//quern:kernel
func labelledLoops(t kernel.Thread, in []int32, out []int32) {
	i := t.Global()
	if i >= len(in) {
		return
	}
	x := in[i]
	sum := int32(0)
outer:
	for a := int32(0); a < 10; a++ {
		for b := range int32(10) {
			switch {
			case a*b == x&63:
				break outer
			case b > a:
				continue outer
			case (a+b)&3 == x&3:
				continue
			}
			sum += a*10 + b
		}
		sum ^= a
	}
	out[i] = sum
}

//quern:kernel
func switches(t kernel.Thread, in []int32, out []int32) {
	i := t.Global()
	if i >= len(in) {
		return
	}
	r := int32(0)
	switch x := in[i] & 15; x {
	case 0, 3, 5:
		r = 1
	case 1:
		r = 10
		fallthrough
	case 2:
		r += 100
		if in[i] < 0 {
			break
		}
		r += 7
	case 9:
		r = 99
		fallthrough
	case 10:
		r++
	default:
		r = -x
	}
	switch in[i] & 3 {
	default:
		r += 5
		fallthrough
	case 1:
		r -= 2
	case 2:
	}
	switch {
	case in[i] > 1000:
		r *= 2
	case in[i] < -1000:
		r *= 3
	}
	out[i] = r
}

//quern:kernel
func earlyReturns(t kernel.Thread, in []int32, out []int32) {
	i := t.Global()
	if i >= len(in) {
		return
	}
	for k := int32(0); ; k++ {
		if k*k > in[i]&1023 {
			out[i] = k
			return
		}
		if k == 20 {
			break
		}
	}
	out[i] = firstAbove(in, i, 1000)
}

// firstAbove has several returns inside and outside of loops.
func firstAbove(in []int32, from int, limit int32) int32 {
	for k, v := range in[from:] {
		if v > limit {
			return int32(k)
		}
		if k > 40 {
			return -2
		}
	}
	return -1
}

//quern:kernel
func divmod(t kernel.Thread, in []int32, out []int32) {
	i := t.Global()
	if i+1 >= len(in) {
		return
	}
	q, r := divide(in[i], in[i+1]|1)
	out[2*i], out[2*i+1] = q, r
}

func divide(a, b int32) (q, r int32) {
	q = a / b
	r = a - q*b
	return
}

//quern:kernel
func swaps(t kernel.Thread, in []int32, out []int32) {
	i := t.Global()
	if i*4+3 >= len(in) {
		return
	}
	var v [4]int32
	for k := range v {
		v[k] = in[i*4+k]
	}
	// A sorting network.
	for _, p := range [5][2]int{{0, 1}, {2, 3}, {0, 2}, {1, 3}, {1, 2}} {
		if v[p[0]] > v[p[1]] {
			v[p[0]], v[p[1]] = v[p[1]], v[p[0]]
		}
	}
	for k, x := range v {
		out[i*4+k] = x
	}
}

//quern:kernel
func volume(t kernel.Thread, w, h, d int, out []int32) {
	x, y, z := t.Global3()
	if x < w && y < h && z < d {
		out[(z*h+y)*w+x] += int32(x + 100*y + 10000*z)
	}
}

//quern:kernel
func plane(t kernel.Thread, w, h int, in []int32, out []int32) {
	x, y := t.Global2()
	if x >= w || y >= h {
		return
	}
	sum := int32(0)
	for dy := -1; dy <= 1; dy++ {
		for dx := -1; dx <= 1; dx++ {
			u, v := min(max(x+dx, 0), w-1), min(max(y+dy, 0), h-1)
			sum += in[v*w+u]
		}
	}
	out[y*w+x] = sum
}

// bounds holds the bounds of the loops in leaveLoops.
type bounds struct{ rounds, stop, skip uint32 }

// reach counts in all cells up to the bound of skips, through pointers that keep the
// bounds in a variable of each thread.
func reach(b *bounds, cells *[32]uint32, at int) {
	for i := uint32(0); i < b.skip; i++ {
		cells[at] += i
	}
}

// leaveLoops uses break, continue and return in loops with barriers, under conditions that
// are the same for all threads.
//
//quern:kernel block=32
func leaveLoops(t kernel.Thread, rounds, stop, skip uint32, out []uint32) {
	b := bounds{rounds, stop, skip}
	cells := kernel.Shared[[32]uint32](t)
	at := t.ThreadIdx.X
	cells[at] = 0
	t.Sync()
	seen := uint32(0)
outer:
	for round := uint32(0); ; round++ {
		reach(&b, cells, at)
		t.Sync()
		seen += cells[31-at]
		t.Sync()
		if round >= b.rounds {
			break
		}
		for inner := uint32(0); inner < 4; inner++ {
			cells[at]++
			t.Sync()
			seen = seen*3 + cells[(at+1)%32]
			t.Sync()
			if round*4+inner == b.skip {
				continue outer
			}
			if round*4+inner == b.skip+9 {
				break outer
			}
			if round*4+inner == b.stop {
				out[t.Global()] = seen
				return
			}
			seen++
		}
		seen += 100
	}
	out[t.Global()] = seen + 1000
}

// stepLoops counts by steps that only the launch knows: they may be 0, negative, or so large
// that the counter wraps. count bounds the iterations.
//
//quern:kernel
func stepLoops(t kernel.Thread, first, end, step int, count int32, in, out []int64) {
	i := t.Global()
	if i >= len(out) {
		return
	}
	sum, n := int64(0), int32(0)
	for k := first; k < end; k += step {
		if n >= count {
			break
		}
		sum = sum*31 + in[k&15]
		n++
	}
	for k := first; k <= end && n < 2*count; k += step {
		sum = sum*31 + in[(k>>1)&15]
		n++
	}
	m := int32(0)
	for k := int32(first); k < int32(end); k += int32(step) {
		if m >= count {
			break
		}
		sum = sum*31 + in[k&15]
		m++
	}
	for k := max(first, 0); k < min(end, len(in)); k += min(max(step, 1), 99) {
		sum = sum*31 + in[k]
	}
	out[i] = sum + int64(n)<<32 + int64(m)
}

// negatedEnds counts down to negations.
//
//quern:kernel instantiate=int32,int64
func negatedEnds[T int32 | int64](t kernel.Thread, start T, in, out []T) {
	i := t.Global()
	if i >= len(in) || 8*i+7 >= len(out) {
		return
	}
	x := in[i]
	var sums [8]T
	for v := T(0); v > -x; v-- {
		sums[0] = sums[0]*3 + v
	}
	for v := start; v >= -x; v -= 2 {
		sums[1] = sums[1]*3 + v
	}
	end := -x
	for v := start; end < v; v-- {
		sums[2] = v
	}
	for v := start; v > -(x * 2); v -= 3 {
		sums[3] = sums[3]*3 + v
	}
	for v := start; ; v-- {
		if v <= -x {
			break
		}
		sums[4] = sums[4]*3 + v
	}
	for v := start; v > x*-1; v-- {
		sums[5] = sums[5]*3 + v
	}
	for v := start; v > x/-1; v-- {
		sums[6] = sums[6]*3 + v
	}
	for v := start; v > -x; v-- {
		for u := v; u > -x; u-- {
			sums[7] = sums[7]*3 + u
		}
	}
	for k, sum := range sums {
		out[8*i+k] = sum
	}
}
