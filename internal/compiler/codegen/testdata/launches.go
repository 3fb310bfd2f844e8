package codegen

import "quern.dev/kernel"

// The kernels of this file are launched as TestLaunchesRunTheVariant says.

// ptx:-"setp.ge.u"
//
//quern:kernel
func add(t kernel.Thread, x, y, z []float32) {
	for i := t.Global(); i < len(z); i += t.Stride() {
		z[i] = x[i] + y[i]
	}
}

// ptx:-"setp.ge.u"
//
//quern:kernel
func picture(t kernel.Thread, w, h int, in, out []float32) {
	x, y := t.Global2()
	if x < w && y < h {
		out[y*w+x] = in[y*w+x]
	}
}

// A row and a column are found by division.
//
// narrow:-"div.[su]64" narrow:-"rem.[su]64"
//
//quern:kernel
func rows(t kernel.Thread, w, h int, in, out []float32) {
	i := t.Global()
	if i >= w*h {
		return
	}
	y, x := i/w, i%w
	out[x*h+y] = in[y*w+x]
}

// ptx:-"mul.lo.s64"
//
//quern:kernel
func stencil(t kernel.Thread, w, h int, in, out []float32) {
	x, y := t.Global2()
	if x < 1 || x >= w-1 || y < 1 || y >= h-1 {
		return
	}
	out[y*w+x] = in[(y-1)*w+x] + in[(y+1)*w+x] + in[y*w+x-1] + in[y*w+x+1]
}

// ptx:-"mul.lo.s64"
//
//quern:kernel block=32x8
func transpose(t kernel.Thread, w, h int, in, out []float32) {
	tile := kernel.Shared[[32][33]float32](t)
	x, y := t.BlockIdx.X*32+t.ThreadIdx.X, t.BlockIdx.Y*32+t.ThreadIdx.Y
	for j := 0; j < 32; j += 8 {
		if x < w && y+j < h {
			tile[t.ThreadIdx.Y+j][t.ThreadIdx.X] = in[(y+j)*w+x]
		}
	}
	t.Sync()
	x, y = t.BlockIdx.Y*32+t.ThreadIdx.X, t.BlockIdx.X*32+t.ThreadIdx.Y
	for j := 0; j < 32; j += 8 {
		if x < h && y+j < w {
			out[(y+j)*h+x] = tile[t.ThreadIdx.X][t.ThreadIdx.Y+j]
		}
	}
}

// ptx:-"mul.lo.s64"
//
//quern:kernel block=16x16
func matmul(t kernel.Thread, m, n, k int, a, b, c []float32) {
	as := kernel.Shared[[16][16]float32](t)
	bs := kernel.Shared[[16][16]float32](t)
	tx, ty := t.ThreadIdx.X, t.ThreadIdx.Y
	row, col := t.BlockIdx.Y*16+ty, t.BlockIdx.X*16+tx
	sum := float32(0)
	for p := 0; p < k; p += 16 {
		as[ty][tx], bs[ty][tx] = 0, 0
		if row < m && p+tx < k {
			as[ty][tx] = a[row*k+p+tx]
		}
		if col < n && p+ty < k {
			bs[ty][tx] = b[(p+ty)*n+col]
		}
		t.Sync()
		for j := range 16 {
			sum += as[ty][j] * bs[j][tx]
		}
		t.Sync()
	}
	if row < m && col < n {
		c[row*n+col] = sum
	}
}

// narrow:-"setp.*64" narrow:-"mul.lo.s64"
//
//quern:kernel
func reduce(t kernel.Thread, in, out []float32) {
	part := kernel.Shared[[256]float32](t)
	i := t.ThreadIdx.X
	sum := float32(0)
	for k := t.Global(); k < len(in); k += t.Stride() {
		sum += in[k]
	}
	part[i] = sum
	t.Sync()
	for s := t.BlockDim.X / 2; s > 0; s >>= 1 {
		if i < s {
			part[i] += part[i+s] // ptx:-"%rd"
		}
		t.Sync()
	}
	if i == 0 {
		out[t.BlockIdx.X] = part[0]
	}
}
