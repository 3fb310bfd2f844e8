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

// Rows outside of the picture are replaced by the nearest one.
//
// ptx:-"mul.lo.s64" proven:-"setp.ge.u"
//
//quern:kernel
func smooth(t kernel.Thread, w, h int, in, out []float32) {
	x, y := t.Global2()
	if x >= w || y >= h {
		return
	}
	above, below := in[max(y-1, 0)*w+x], in[min(y+1, h-1)*w+x]
	left, right := in[y*w+max(x-1, 0)], in[y*w+min(x+1, w-1)]
	out[y*w+x] = (above + below + left + right) / 4
}

// The neighbors are at distances from one index.
//
// ptx:-"mul.lo.s64" proven:-"setp.ge.u"
//
//quern:kernel
func laplace(t kernel.Thread, w, h int, in, out []float32) {
	x, y := t.Global2()
	if x < 2 || y < 1 || x >= w-2 || y >= h-1 {
		return
	}
	i := y*w + x
	out[i] = in[i-2] + in[i+2] + in[i-w] + in[i+w] + in[i-w-1] + in[i+w+1] - 6*in[i]
}

// ptx:-"mul.lo.s64" proven:-"setp.ge.u"
//
//quern:kernel
func volume(t kernel.Thread, nx, ny, nz int, in, out []float32) {
	x, y, z := t.Global3()
	if x < 1 || y < 1 || z < 1 || x >= nx-1 || y >= ny-1 || z >= nz-1 {
		return
	}
	sum := float32(0)
	for dz := -1; dz <= 1; dz++ {
		for dy := -1; dy <= 1; dy++ {
			sum += in[((z+dz)*ny+y+dy)*nx+x-1] + in[((z+dz)*ny+y+dy)*nx+x+1]
		}
	}
	out[(z*ny+y)*nx+x] = sum
}

// A flag that is set in a loop says that the thread's element exists, after the loop too.
//
// proven:-"setp.ge.u"
//
//quern:kernel block=256
func erode(t kernel.Thread, n, steps int, in, out []int32) {
	line := kernel.Shared[[256]int32](t)
	tx := t.ThreadIdx.X
	i := t.BlockIdx.X*(256-2*steps) + tx - steps
	exists := i >= 0 && i < n
	line[tx] = 0
	if exists {
		line[tx] = in[i]
	}
	inner := false
	for k := range steps {
		t.Sync()
		inner = exists && tx > k && tx < 255-k
		v := int32(0)
		if inner {
			v = min(line[tx-1], line[tx], line[tx+1])
		}
		t.Sync()
		if inner {
			line[tx] = v
		}
	}
	if inner {
		out[i] = line[tx]
	}
}

// A flag that depends on a variable that changes says nothing afterwards.
//
// narrow:"setp.ge.u"
//
//quern:kernel
func fickle(t kernel.Thread, n int, out []int32) {
	i, end, on := t.Global(), n, false
	for range 3 {
		on = i < end
		end *= 2
	}
	if on {
		out[i] = 1
	}
}

// Digits are exchanged: all indices are below the length of a row.
//
// proven:-"setp.ge.u"
//
//quern:kernel block=64
func digits(t kernel.Thread, in, out []float32) {
	row := kernel.Shared[[256]float32](t)
	j, first := t.ThreadIdx.X, t.BlockIdx.X*256
	low := j % 16
	for r := range 4 {
		row[(j-low)*4+low+16*r] = in[first+j+64*r]
	}
	t.Sync()
	for r := range 4 {
		out[first+(j-j%64)*4+j%64+64*r] = row[(j%4)*64+j/4+16*r]
	}
}

// Columns are data; the rest is proven.
//
//quern:kernel
func product(t kernel.Thread, rows int, first, columns []int32, values, x, y []float32) {
	if row := t.Global(); row < rows {
		sum := float32(0)
		for e := first[row]; e < first[row+1]; e++ {
			sum += values[e] * x[columns[e]] // proven:"setp.ge.u"
		}
		y[row] = sum
	}
}

// Rows and columns are clamped, each element of a window for itself.
//
// proven:-"setp.ge.u"
//
//quern:kernel block=32x8
func window(t kernel.Thread, w, h int, in, out []float32) {
	x, y := t.Global2()
	if x >= w || y >= h {
		return
	}
	var sum float32
	for j := range 3 {
		row := kernel.Clamp(y+j-1, 0, h-1) * w
		for i := range 3 {
			sum += kernel.Exp(in[row+kernel.Clamp(x+i-1, 0, w-1)])
		}
	}
	out[y*w+x] = sum
}
