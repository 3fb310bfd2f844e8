//fuzz:launch seed=11 grid=2x1x1 block=8x1x1 x=192 y=192 z=512 w=1024 m=320 r=96 n=16

package main

import "quern.dev/kernel"

type recP0 struct {
	a int32
	b [3]int16
}

type wideP0 struct {
	f [4]int32
	g int64
}

func shiftP0(dst, src *[5]int32) { *dst = *src }

func sumP0(a [4]int32, p *[4]int32) int32 {
	p[0], p[3] = a[3], a[0]
	return a[0] - a[1] + a[2]*a[3]
}

//quern:kernel
func kernelP0(t kernel.Thread, n int, x, y []int32, z []recP0, w []int64, m [][2]int32, r []wideP0) {
	i := t.Global()
	if i >= n {
		return
	}
	// Windows of this thread's own elements.
	a := x[12*i : 12*i+12]
	*(*[4]int32)(a[1:]) = *(*[4]int32)(a[0:])
	*(*[4]int32)(a[6:]) = *(*[4]int32)(a[7:])
	lo := int(uint32(a[11]) % 4)
	*(*[4]int32)(a[lo+3:]) = *(*[4]int32)(a[lo+2:])
	*(*[3]int32)(a[2:]), *(*[3]int32)(a[1:]) = *(*[3]int32)(a[1:]), *(*[3]int32)(a[2:])
	p, q := (*[5]int32)(a[3:]), (*[5]int32)(a[5:])
	*p = *q
	shiftP0(q, p)
	shiftP0((*[5]int32)(a[lo:]), (*[5]int32)(a[lo+1:]))
	a[0] += sumP0(*(*[4]int32)(a[2:]), (*[4]int32)(a[3:]))
	for j, v := range *(*[4]int32)(a[4:]) {
		a[4+(j+1)%4] += v
	}

	// Structs.
	b := z[32*i : 32*i+32]
	*(*[6]recP0)(b[2:]) = *(*[6]recP0)(b[1:])
	*(*[20]recP0)(b[3:]) = *(*[20]recP0)(b[2:])
	*(*[20]recP0)(b[4:]) = *(*[20]recP0)(b[5:])
	b[1], b[2] = b[2], b[1]

	// More than fit in registers.
	c := w[64*i : 64*i+64]
	d := y[12*i : 12*i+12]
	k := int(uint32(d[0]) % 3)
	*(*[60]int64)(c[k:]) = *(*[60]int64)(c[1:])

	// Arrays in arrays.
	e := m[20*i : 20*i+20]
	*(*[3][2]int32)(e[1:]) = *(*[3][2]int32)(e[2:])
	*(*[3][2]int32)(e[k:]) = *(*[3][2]int32)(e[1:])
	*(*[2]int32)(e[4][:]) = *(*[2]int32)(e[5][:])

	// A field that is an array, and a window of it.
	f := &r[6*i]
	*(*[2]int32)(f.f[1:]) = *(*[2]int32)(f.f[2:])
	*(*[3]int32)(f.f[1:]) = *(*[3]int32)(f.f[:])
	g := r[6*i+1 : 6*i+6]
	*(*[3]wideP0)(g[1:]) = *(*[3]wideP0)(g[0:])

	// A local array.
	var l [12]int32
	for j := range l {
		l[j] = d[j]
	}
	*(*[6]int32)(l[2:]) = *(*[6]int32)(l[1:])
	*(*[6]int32)(l[k:]) = *(*[6]int32)(l[2:])
	s := l[1:11]
	*(*[7]int32)(s[k:]) = *(*[7]int32)(s[k+1:])
	for j := range l {
		d[j] = l[j]
	}
}
