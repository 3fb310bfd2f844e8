//fuzz:launch seed=62103711 grid=2x1x1 block=8x1x1 at0=136<136 atomicAnd=3 bound=16 count0=2 count1=8 data0=192 data1=136 data2=136 fused=16 in0=16 in1=16 n=16 out0=128 sums=16 width=12

package main

import (
	"quern.dev/kernel"
)

type rec1P0 struct {
	a int32
	b int32
	c float32
	d uint32
}

type rec2P0 struct {
	a float64
	b int
	c float64
}

var tab3P0 = [2]float64{100, 0.1}

func exchange4P0(t kernel.Thread, cells *[9]uint16, v uint16, by int) uint16 {
	cells[t.ThreadIdx.X] = v
	t.Sync()
	w := cells[(t.ThreadIdx.X+by)%t.BlockDim.X]
	t.Sync()
	return w
}

func cutfuint32P0(x float32) uint32 {
	return uint32(x)
}

func cutdint32P0(x float64) int32 {
	return int32(x)
}

func cutfuintP0(x float32) uint {
	return uint(x)
}

//quern:kernel block=8
func kernelP0(t kernel.Thread, n int, p int, in0 []rec1P0, in1 []uint64, count0 uint64, count1 uint, at0 []uint, width int, data0 []uint8, data1 []int, data2 []rec1P0, out0 []rec1P0, fused []float32, bound []float32, sums []uint64, atomicAnd []uint) {
	cells0 := kernel.Shared[[9]uint16](t)
	_ = cells0
	counts := kernel.Shared[[3]uint32](t)
	_ = counts
	i, tid := t.Global(), t.ThreadIdx.X
	_ = tid
	acc := uint64(0)
	out0[(i)*8].a = out0[(i)*8].b
	out0[(i)*8].b += kernel.ToInteger[int32](out0[(i)*8+2].c)
	out0[(i)*8].c = float32(data2[(i)*8+7].a)
	out0[(i)*8].d += cutfuint32P0(data2[(i)*8+4].c)
	out0[(i)*8+1].a = int32(data2[(i)*8+4].d)
	out0[(i)*8+1].b += data2[(i)*8+6].b * int32(out0[(i)*8+5].d)
	out0[(i)*8+1].c -= float32(float32(data2[(i)*8+5].b) * float32(data2[(i)*8+2].b))
	out0[(i)*8+1].d += kernel.ToInteger[uint32](out0[(i)*8+2].c)
	out0[(i)*8+2].a += int32(data2[(i)*8+5].d)
	out0[(i)*8+2].b += out0[(i)*8].a * data2[(i)*8+6].a
	out0[(i)*8+2].c = float32(data2[(i)*8+6].b)
	out0[(i)*8+2].d += uint32(wholeP0(float64(data2[(i)*8+6].c))) * kernel.ToInteger[uint32](data2[(i)*8+0].c)
	out0[(i)*8+6].a += data2[(i)*8+5].a * out0[(i)*8+1].a
	out0[(i)*8+6].b += data2[(i)*8+7].a * data2[(i)*8+4].a
	out0[(i)*8+6].c += float32(float32(data2[(i)*8+7].b) * float32(out0[(i)*8+7].d))
	out0[(i)*8+6].d = cutfuint32P0(data2[(i)*8+7].c)
	out0[(i)*8+1].c += float32(float32(data2[(i)*8+5].b) * float32(out0[(i)*8+7].b))
	out0[(i)*8+1].a += out0[(i)*8+5].a
	out0[(i)*8+1].b += data2[(i)*8+4].b * out0[(i)*8+4].a
	out0[(i)*8+1].c -= float32(data2[(i)*8+4].c * float32(data2[(i)*8+4].b))
	out0[(i)*8+1].d = kernel.ToInteger[uint32](out0[(i)*8+7].c)
	out0[(i)*8+4].a += data2[(i)*8+5].a * kernel.ToInteger[int32](out0[(i)*8+3].c)
	out0[(i)*8+4].b = int32(out0[(i)*8+1].d)
	out0[(i)*8+4].c += float32(out0[(i)*8+4].c * float32(out0[(i)*8+7].a))
	out0[(i)*8+4].d += data2[(i)*8+5].d * uint32(data2[(i)*8+7].a)
	out0[(i)*8+5].a = kernel.ToInteger[int32](data2[(i)*8+7].c)
	out0[(i)*8+5].b += data2[(i)*8+6].b * out0[(i)*8+7].b
	out0[(i)*8+5].c = data2[(i)*8+5].c
	out0[(i)*8+5].d += data2[(i)*8+6].d
	out0[(i)*8+6].a += out0[(i)*8+6].a
	out0[(i)*8+6].b += data2[(i)*8+7].b * out0[(i)*8+4].b
	out0[(i)*8+6].c = data2[(i)*8+7].c
	out0[(i)*8+6].d += cutfuint32P0(out0[(i)*8+4].c) * out0[(i)*8+4].d
	v1 := kernel.WarpReduceAdd(t, truthP0(((!(tab3P0[0] < 3) || (int32(i) < cutdint32P0(tab3P0[(int64(at0[(^uint(wholeP0(tab3P0[count0>>1])))%136])*int64(data1[(uint(in1[i])-uint(data0[55]))%136]))&1]))) && (int32(data0[count0*2+1]) > data2[uint(n)%136].a))))
	_ = v1
	v2 := uint8(254)
	_ = v2
	v3 := int32(8)
	_ = v3
	for j4 := 0; j4 < 12; j4 += 3 {
		_ = j4
		v5 := in0[15-j4].b
		if v5 < v3 {
			v3 = v5
		}
	}
	_ = v2
	_ = v3
	cells0[tid] = (uint16(out0[(i)*8+int(min(max((int64(v2)/max(int64(out0[(i)*8+4].a), 1)), 0), 7))].b) / (uint16(p) | 1))
	t.Sync()
	v6 := cells0[(tid+36)%t.BlockDim.X]
	_ = v6
	t.Sync()
	cells0[tid] = uint16(v1)
	t.Sync()
	for s := t.BlockDim.X / 2; s > 0; s /= 2 {
		if tid < s {
			cells0[tid] *= cells0[tid+s]
		}
		t.Sync()
	}
	v7 := cells0[0]
	_ = v7
	t.Sync()
	acc = acc*31 + uint64(v1)
	acc = acc*31 + uint64(v2)
	acc = acc*31 + uint64(v3)
	acc = acc*31 + uint64(v6)
	acc = acc*31 + uint64(v7)
	var v8, v9 float32
	for j10 := t.ThreadIdx.X; j10 < 42; j10 += t.BlockDim.X {
		_ = j10
		v8 += data2[at0[j10+7]].c * float32(in1[uint(j10)%16])
		v9 += 8 * float32(kernel.Abs(data2[at0[j10+7]].c)*kernel.Abs(float32(in1[uint(j10)%16])))
	}
	fused[i], bound[i] = v8, v9
	sums[i] = acc
}

func truthP0(b bool) int {
	if b {
		return 1
	}
	return 0
}

func wholeP0(x float64) int {
	if x > -1e15 && x < 1e15 {
		return int(x)
	}
	return 7
}
