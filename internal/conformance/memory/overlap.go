package memory

import "quern.dev/kernel"

// spot has fields of different sizes.
type spot struct {
	A int32
	B [3]int16
}

// shiftFew, shiftMany and shiftSpots assign arrays. Each thread has width elements of dst
// and of src to itself, which may be the same memory.
//
//quern:kernel
func shiftFew(t kernel.Thread, width, to, from int, dst, src []int32) {
	if i := t.Global() * width; i+width <= len(dst) && i+width <= len(src) {
		*(*[5]int32)(dst[i+to:]) = *(*[5]int32)(src[i+from:])
	}
}

//quern:kernel
func shiftMany(t kernel.Thread, width, to, from int, dst, src []int32) {
	if i := t.Global() * width; i+width <= len(dst) && i+width <= len(src) {
		*(*[150]int32)(dst[i+to:]) = *(*[150]int32)(src[i+from:])
	}
}

//quern:kernel
func shiftSpots(t kernel.Thread, width, to, from int, dst, src []spot) {
	if i := t.Global() * width; i+width <= len(dst) && i+width <= len(src) {
		*(*[3]spot)(dst[i+to:]) = *(*[3]spot)(src[i+from:])
		*(*[30]spot)(dst[i+to:]) = *(*[30]spot)(src[i+from:])
	}
}

// moveThrough is called with pointers that may point to the same memory.
func moveThrough(dst, src *[90]int32) { *dst = *src }

// shiftPlaces assigns arrays within shared memory, within local memory, and between them.
//
//quern:kernel block=4
func shiftPlaces(t kernel.Thread, to, from int, x []int32) {
	tile := kernel.Shared[[4][100]int32](t)
	x = x[100*t.Global():][:100]
	own := tile[t.ThreadIdx.X][:]
	var local [100]int32
	for i, v := range x {
		own[i], local[99-i] = v, v
	}
	*(*[4]int32)(own[to:]) = *(*[4]int32)(own[from:])
	*(*[4]int32)(local[to:]) = *(*[4]int32)(local[from:])
	moveThrough((*[90]int32)(own[to:]), (*[90]int32)(own[from:]))
	moveThrough((*[90]int32)(local[to:]), (*[90]int32)(local[from:]))
	p, q := (*[80]int32)(local[from:]), (*[80]int32)(local[to:])
	if to == 3 {
		q = (*[80]int32)(own[to:])
	}
	*p, *q = *q, *p
	for i := range x {
		x[i] = own[i]*1000 + local[i]
	}
}

// chase follows links and writes to what they lead to, which may be links or the loop's bound.
//
//quern:kernel
func chase(t kernel.Thread, links, out []int32) {
	for e := links[0]; e < links[1]; e++ {
		if to := links[links[e]]; to%3 != 0 {
			out[to] = e
		}
	}
}
