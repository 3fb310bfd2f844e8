package memory

import "quern.dev/kernel"

// job says what a thread copies: at most n elements, within its own part of each memory.
type job struct{ From, To, N, M int32 }

// part is the number of elements that belong to one thread.
const part = 24

type pixel struct {
	R, G, B uint8
	Weight  float32
}

//quern:kernel block=8 instantiate=uint8,int32,float64
func copies[T kernel.Number](t kernel.Thread, jobs []job, x, other []T, counts []int32) {
	shared := kernel.Shared[[8 * part]T](t)
	var local [part]T
	i := t.Global()
	if i >= len(jobs) {
		return
	}
	j := jobs[i]
	from, to, n, m := int(j.From), int(j.To), int(j.N), int(j.M)
	own, beside := x[i*part:][:part], other[i*part:][:part]
	mine := shared[t.ThreadIdx.X*part:][:part]
	c := counts[8*i:][:8]

	c[0] = int32(copy(mine, own))
	c[1] = int32(copy(local[:], beside))
	c[2] = int32(copy(own[to:to+n], own[from:from+m])) // overlapping
	c[3] = int32(copy(mine[to:to+m], mine[from:from+n]))
	c[4] = int32(copy(local[to:to+n], local[from:from+m]))
	c[5] = int32(copy(beside[to:], own[from:from+m]))
	c[6] = int32(copy(own[from:][:n], mine[to:]))
	clear(mine[to : to+m])
	copy(mine[from:from+m], local[to:])
	c[7] = int32(copy(local[from:from+n], own))
	for k := range own {
		own[k] += mine[k] * 3
		beside[k] += local[k] * 5
	}
}

//quern:kernel
func copyPixels(t kernel.Thread, jobs []job, x []pixel, count []int32) {
	i := t.Global()
	if i >= len(jobs) {
		return
	}
	j := jobs[i]
	own := x[i*part:][:part]
	count[i] = int32(copy(own[j.To:j.To+j.N], own[j.From:j.From+j.M]))
	clear(own[:j.N/2])
}

// moved copies src to dst for its caller.
func moved(dst, src []int32) int { return copy(dst, src) }

//quern:kernel
func copyInCalls(t kernel.Thread, jobs []job, x []int32) {
	for i := t.Global(); i < len(jobs); i += t.Stride() {
		j := jobs[i]
		own := x[i*part:][:part]
		n := moved(own[j.To:j.To+j.N], own[j.From:])
		if n > 0 {
			own[0] += int32(n)
		}
		copy(own, own[:part/2])
		copy(own[part/2:], own)
	}
}

//quern:kernel
func copyShifted(t kernel.Thread, to, from int, dst, src []int32) {
	copy(dst[to:], src[from:])
}

// copyTogether has barriers, and all threads copy the same number of elements.
//
//quern:kernel block=32
func copyTogether(t kernel.Thread, x, out []int32) {
	shared := kernel.Shared[[64]int32](t)
	if t.ThreadIdx.X == 0 {
		copy(shared[:], x)
	}
	var own [4]int32
	if copy(own[:], x) == 4 {
		t.Sync()
		out[t.Global()] = shared[t.ThreadIdx.X] + own[t.ThreadIdx.X&3]
	}
}
