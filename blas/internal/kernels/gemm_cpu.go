package kernels

import "quern.dev/kernel"

// A block of GemmCPU computes CPUTile x CPUTile elements of C, and packs cpuDepth elements of
// k at a time. The packed parts of A and B are in a core's second cache, the panels that are
// being multiplied in the first one.
const (
	CPUTile  = 96
	cpuDepth = 96

	// The number of lines of a panel. The sums of a panel of A and one of B stay in registers.
	panelA, panelB = 4, 2

	cpuUnroll = 4 // elements of k that panelProduct multiplies in one step
)

// gemmCPU is gemmTile for the CPU device, with one thread per block.
//
//quern:kernel block=1 instantiate=float32,float64
func gemmCPU[T Float](t kernel.Thread, m, n, k, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta T, a, b, c []T, post, ldr, stepR int, bias, residual []T) {
	packedA := kernel.Shared[[CPUTile * cpuDepth]T](t)
	packedB := kernel.Shared[[CPUTile * cpuDepth]T](t)
	sums := kernel.Shared[[CPUTile * CPUTile]T](t)
	tilesM, tilesN := (m+CPUTile-1)/CPUTile, (n+CPUTile-1)/CPUTile
	tile, batch := t.BlockIdx.X%(tilesM*tilesN), t.BlockIdx.X/(tilesM*tilesN)
	row, column := tile/tilesN*CPUTile, tile%tilesN*CPUTile
	rows, columns := min(m-row, CPUTile), min(n-column, CPUTile)
	if flags&Lower != 0 && column >= row+CPUTile || flags&Upper != 0 && row >= column+CPUTile {
		return
	}
	clear(sums[:])
	for first := 0; first < k; first += cpuDepth {
		depth := min(k-first, cpuDepth)
		if flags&TransA == 0 {
			packAlong(packedA[:], panelA, a[offA+batch*stepA+row*lda+first:], lda, rows, depth)
		} else {
			packAcross(packedA[:], panelA, a[offA+batch*stepA+first*lda+row:], lda, rows, depth)
		}
		if flags&TransB != 0 {
			packAlong(packedB[:], panelB, b[offB+batch*stepB+column*ldb+first:], ldb, columns, depth)
		} else {
			packAcross(packedB[:], panelB, b[offB+batch*stepB+first*ldb+column:], ldb, columns, depth)
		}
		steps := (depth + cpuUnroll - 1) / cpuUnroll * cpuUnroll
		for i := 0; i < rows; i += panelA {
			panel := packedA[i*cpuDepth : i*cpuDepth+steps*panelA]
			for j := 0; j < columns; j += panelB {
				s00, s01, s10, s11, s20, s21, s30, s31 := panelProduct(panel, packedB[j*cpuDepth:j*cpuDepth+steps*panelB])
				to := (*[3*CPUTile + 2]T)(sums[i*CPUTile+j:])
				to[0] += s00
				to[1] += s01
				to[CPUTile] += s10
				to[CPUTile+1] += s11
				to[2*CPUTile] += s20
				to[2*CPUTile+1] += s21
				to[3*CPUTile] += s30
				to[3*CPUTile+1] += s31
			}
		}
	}
	for i := range rows {
		at := offC + batch*stepC + (row+i)*ldc + column
		to := c[at : at+columns]
		for j := range to {
			if !inTriangle(flags, row+i, column+j) {
				continue
			}
			v := alpha * sums[i*CPUTile+j]
			if beta != 0 {
				v += beta * to[j]
			}
			to[j] = finish(v, row+i, column+j, post, batch*stepR+(row+i)*ldr+column+j, bias, residual)
		}
	}
}

// packAlong copies lines whose elements are adjacent to panels of width lines, in which the
// elements of the same k are adjacent.
func packAlong[T Float](to []T, width int, from []T, stride, lines, depth int) {
	for l := range lines {
		panel := to[l/width*width*cpuDepth+l%width:]
		for p, v := range from[l*stride : l*stride+depth] {
			panel[p*width] = v
		}
	}
	padPanels(to, width, lines, depth)
}

// packAcross is packAlong for lines of which the elements of the same k are adjacent.
func packAcross[T Float](to []T, width int, from []T, stride, lines, depth int) {
	for p := range depth {
		line := from[p*stride : p*stride+lines]
		for l := 0; l < lines; l += width {
			panel := to[l*cpuDepth+p*width:]
			for i := range min(width, lines-l) {
				panel[i] = line[l+i]
			}
		}
	}
	padPanels(to, width, lines, depth)
}

// padPanels sets the missing lines of the last panel, and the elements of k up to a multiple
// of cpuUnroll, to zero.
func padPanels[T Float](to []T, width, lines, depth int) {
	steps := (depth + cpuUnroll - 1) / cpuUnroll * cpuUnroll
	for l := 0; l < lines; l += width {
		panel := to[l*cpuDepth:]
		for i := depth * width; i < steps*width; i++ {
			panel[i] = 0
		}
		for i := lines - l; i < width; i++ {
			for p := range steps {
				panel[p*width+i] = 0
			}
		}
	}
}

// panelProduct returns the products of the four lines of panel a and the two lines of b.
func panelProduct[T Float](a, b []T) (s00, s01, s10, s11, s20, s21, s30, s31 T) {
	for p := 0; p < len(a)/(cpuUnroll*panelA); p++ {
		x, y := (*[cpuUnroll * panelA]T)(a[p*cpuUnroll*panelA:]), (*[cpuUnroll * panelB]T)(b[p*cpuUnroll*panelB:])
		s00 += x[0] * y[0]
		s01 += x[0] * y[1]
		s10 += x[1] * y[0]
		s11 += x[1] * y[1]
		s20 += x[2] * y[0]
		s21 += x[2] * y[1]
		s30 += x[3] * y[0]
		s31 += x[3] * y[1]
		s00 += x[4] * y[2]
		s01 += x[4] * y[3]
		s10 += x[5] * y[2]
		s11 += x[5] * y[3]
		s20 += x[6] * y[2]
		s21 += x[6] * y[3]
		s30 += x[7] * y[2]
		s31 += x[7] * y[3]
		s00 += x[8] * y[4]
		s01 += x[8] * y[5]
		s10 += x[9] * y[4]
		s11 += x[9] * y[5]
		s20 += x[10] * y[4]
		s21 += x[10] * y[5]
		s30 += x[11] * y[4]
		s31 += x[11] * y[5]
		s00 += x[12] * y[6]
		s01 += x[12] * y[7]
		s10 += x[13] * y[6]
		s11 += x[13] * y[7]
		s20 += x[14] * y[6]
		s21 += x[14] * y[7]
		s30 += x[15] * y[6]
		s31 += x[15] * y[7]
	}
	return
}
