package codegen

import "quern.dev/kernel"

// A tile of 16 by 16 in shared memory: addresses are 32 bits wide, the loop
// multiplies no 64-bit numbers, and what the block size proves is not checked.
//
// ptx:-"mul.lo.s64" ptx:-"mad.lo.s64" ptx:-"local"
//
//quern:kernel block=16x16
func matmulTile(t kernel.Thread, n int, a, b, c []float32) {
	as := kernel.Shared[[16][16]float32](t)
	bs := kernel.Shared[[16][16]float32](t)
	tx, ty := t.ThreadIdx.X, t.ThreadIdx.Y
	row, col := t.BlockIdx.Y*16+ty, t.BlockIdx.X*16+tx
	sum := float32(0)
	for k := 0; k < n; k += 16 {
		as[ty][tx] = a[row*n+k+tx]   // ptx:"st.shared.f32" narrow:-"64 %p" narrow:"mul.wide.[su]32[^$]*add.u64" ptx:-"mad.wide"
		bs[ty][tx] = b[(k+ty)*n+col] // ptx:"st.shared.f32" narrow:-"mul.lo.s64"
		t.Sync()
		for j := range 16 {
			sum += as[ty][j] * bs[j][tx] // ptx:"ld.shared.f32" ptx:"fma.rn.f32" ptx:-"setp.ge" ptx:-"%rd" ptx:-"ld.global"
		}
		t.Sync()
	}
	c[row*n+col] = sum
}

// Eight by eight results per thread stay in registers.
//
// ptx:-"local" ptx:-"mul.lo.s64" ptx:-"mad.lo.s64"
//
//quern:kernel unchecked block=256
func matmulRegisters(t kernel.Thread, m, n, k int, a, b, c []float32) {
	as := kernel.Shared[[16][128]float32](t)
	bs := kernel.Shared[[16][128]float32](t)
	tid := t.ThreadIdx.X
	row0, col0 := t.BlockIdx.Y*128, t.BlockIdx.X*128
	tx, ty := tid%16, tid/16
	var acc [8][8]float32
	for k0 := 0; k0 < k; k0 += 16 {
		for i := 0; i < 8; i++ {
			e := tid + i*256
			as[e%16][e/16] = a[(row0+e/16)*k+k0+e%16] // ptx:"ld.global.f32" ptx:"st.shared.f32"
			bs[e/128][e%128] = b[(k0+e/128)*n+col0+e%128]
		}
		t.Sync()
		for j := range 16 {
			var ra, rb [8]float32
			for i := range 8 {
				ra[i] = as[j][ty*8+i] // ptx:"ld.shared.v4.f32 .*, \[%r\d+\+\d+\]"
				rb[i] = bs[j][tx*8+i]
			}
			for y := range 8 {
				for x := range 8 {
					acc[y][x] += ra[y] * rb[x] // ptx:"fma.rn.f32" ptx:-"mul"
				}
			}
		}
		t.Sync()
	}
	for y := range 8 {
		for x := range 8 {
			c[(row0+ty*8+y)*n+col0+tx*8+x] = acc[y][x] // ptx:"st.global.f32"
		}
	}
}
