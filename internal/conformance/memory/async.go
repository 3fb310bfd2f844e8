package memory

import "quern.dev/kernel"

// words copies single words of each size.
//
//quern:kernel
func words(t kernel.Thread, a []float32, b []int64, out []float64) {
	s := kernel.Shared[[64]float32](t)
	l := kernel.Shared[[64]int64](t)
	i := t.ThreadIdx.X
	kernel.AsyncCopy(t, &s[i], &a[t.Global()])
	kernel.AsyncCopy(t, &l[i], &b[t.Global()])
	kernel.AsyncCommit(t)
	kernel.AsyncWait(t, 0)
	t.Sync()
	n := t.BlockDim.X
	out[t.Global()] = float64(s[n-1-i]) + float64(l[n-1-i])
}

// pipeline sums tiles row by row. Two tiles are in flight while a third is added.
//
//quern:kernel block=64
func pipeline(t kernel.Thread, tiles int, a []float32, out []float32) {
	const stages = 3
	ring := kernel.Shared[[stages][256]float32](t)
	i := t.ThreadIdx.X
	base := t.BlockIdx.X * tiles * 256
	for s := range stages - 1 {
		if s < tiles {
			kernel.AsyncCopy(t, (*[4]float32)(ring[s][4*i:]), (*[4]float32)(a[base+s*256+4*i:]))
		}
		kernel.AsyncCommit(t)
	}
	sum := float32(0)
	for k := range tiles {
		kernel.AsyncWait(t, stages-2)
		t.Sync()
		if next := k + stages - 1; next < tiles {
			kernel.AsyncCopy(t, (*[4]float32)(ring[next%stages][4*i:]), (*[4]float32)(a[base+next*256+4*i:]))
		}
		kernel.AsyncCommit(t)
		for j := range 4 {
			sum += ring[k%stages][j*64+i] * float32(k+1)
		}
	}
	out[t.Global()] = sum
}

type sample struct {
	position [3]int16
	kind     uint16
}

// anyAlignment copies structs and parts of rows at addresses that are only multiples of
// their element sizes.
//
//quern:kernel
func anyAlignment(t kernel.Thread, offset int, s []sample, b []uint8, out []int32) {
	samples := kernel.Shared[[32]sample](t)
	bytes := kernel.Dynamic[uint8](t)
	i := t.ThreadIdx.X
	kernel.AsyncCopy(t, &samples[i], &s[i+1])
	kernel.AsyncCopy(t, (*[16]uint8)(bytes[16*i:]), (*[16]uint8)(b[offset+16*i:]))
	kernel.AsyncCommit(t)
	kernel.AsyncWait(t, 0)
	t.Sync()
	j := (i + 1) % t.BlockDim.X
	sum := int32(samples[j].position[0]) + int32(samples[j].position[2])*int32(samples[j].kind)
	for k := range 16 {
		sum = sum*31 + int32(bytes[16*j+k])
	}
	out[i] = sum
}

// tooShort converts a slice with fewer elements than the array.
//
//quern:kernel
func tooShort(t kernel.Thread, a, out []int32) {
	p := (*[4]int32)(a[t.ThreadIdx.X:])
	out[t.ThreadIdx.X] = p[3]
	q := [2]int32(a)
	out[t.ThreadIdx.X] += q[0]
}

// forgotWait reads data before it arrives.
//
//quern:kernel
func forgotWait(t kernel.Thread, a, out []int32) {
	s := kernel.Shared[[32]int32](t)
	kernel.AsyncCopy(t, &s[t.ThreadIdx.X], &a[t.ThreadIdx.X])
	kernel.AsyncCommit(t)
	t.Sync()
	out[t.ThreadIdx.X] = s[t.ThreadIdx.X]
}

// forgotCommit waits for a group that does not contain the copy.
//
//quern:kernel
func forgotCommit(t kernel.Thread, a, out []int32) {
	s := kernel.Shared[[32]int32](t)
	kernel.AsyncCopy(t, &s[t.ThreadIdx.X], &a[t.ThreadIdx.X])
	kernel.AsyncWait(t, 0)
	t.Sync()
	out[t.ThreadIdx.X] = s[t.ThreadIdx.X]
}

// forgotSync reads data that another thread has copied.
//
//quern:kernel
func forgotSync(t kernel.Thread, a, out []int32) {
	s := kernel.Shared[[32]int32](t)
	kernel.AsyncCopy(t, &s[t.ThreadIdx.X], &a[t.ThreadIdx.X])
	kernel.AsyncCommit(t)
	kernel.AsyncWait(t, 0)
	out[t.ThreadIdx.X] = s[t.ThreadIdx.X^1]
}

// overwrites copies to memory that other threads still read.
//
//quern:kernel
func overwrites(t kernel.Thread, a, out []int32) {
	s := kernel.Shared[[32]int32](t)
	s[t.ThreadIdx.X] = a[t.ThreadIdx.X]
	t.Sync()
	sum := s[t.ThreadIdx.X^1]
	kernel.AsyncCopy(t, &s[t.ThreadIdx.X], &a[t.ThreadIdx.X])
	kernel.AsyncCommit(t)
	kernel.AsyncWait(t, 0)
	out[t.ThreadIdx.X] = sum + s[t.ThreadIdx.X]
}
