package kernels

import "quern.dev/kernel"

// A block of GemmCPU computes CPUTile x CPUTile elements of C, and packs cpuDepth elements of
// k at a time. The packed parts of A and B are in a core's second cache, the panels that are
// being multiplied in the first one.
const (
	CPUTile  = 96
	cpuDepth = 96

	// The number of lines of a panel.
	panelA, panelB = 4, 16

	cpuUnroll = 4 // elements of k that pairProduct multiplies in one step
)

// gemmCPU is gemmTile for the CPU device, with one thread per block.
//
//quern:kernel block=1 instantiate=float32,float64 only=cpu
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
				addProduct(sums[i*CPUTile+j:], CPUTile, panel, packedB[j*cpuDepth:j*cpuDepth+steps*panelB], steps)
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

// addProductPlain adds the product of the lines of panels a and b, with steps elements of k
// each, to panelA rows of panelB sums.
func addProductPlain[T Float](sums []T, stride int, a, b []T, steps int) {
	for j := 0; j < panelB; j += 2 {
		s00, s01, s10, s11, s20, s21, s30, s31 := pairProduct(a, b[j:], steps)
		sums[j] += s00
		sums[j+1] += s01
		sums[stride+j] += s10
		sums[stride+j+1] += s11
		sums[2*stride+j] += s20
		sums[2*stride+j+1] += s21
		sums[3*stride+j] += s30
		sums[3*stride+j+1] += s31
	}
}

// pairProduct returns the products of the four lines of panel a and the first two lines of b.
func pairProduct[T Float](a, b []T, steps int) (s00, s01, s10, s11, s20, s21, s30, s31 T) {
	for p := range min(steps/cpuUnroll, cpuDepth/cpuUnroll) {
		x, y := (*[cpuUnroll * panelA]T)(a[p*cpuUnroll*panelA:]), (*[(cpuUnroll-1)*panelB + 2]T)(b[p*cpuUnroll*panelB:])
		s00 += x[0] * y[0]
		s01 += x[0] * y[1]
		s10 += x[1] * y[0]
		s11 += x[1] * y[1]
		s20 += x[2] * y[0]
		s21 += x[2] * y[1]
		s30 += x[3] * y[0]
		s31 += x[3] * y[1]
		s00 += x[4] * y[panelB]
		s01 += x[4] * y[panelB+1]
		s10 += x[5] * y[panelB]
		s11 += x[5] * y[panelB+1]
		s20 += x[6] * y[panelB]
		s21 += x[6] * y[panelB+1]
		s30 += x[7] * y[panelB]
		s31 += x[7] * y[panelB+1]
		s00 += x[8] * y[2*panelB]
		s01 += x[8] * y[2*panelB+1]
		s10 += x[9] * y[2*panelB]
		s11 += x[9] * y[2*panelB+1]
		s20 += x[10] * y[2*panelB]
		s21 += x[10] * y[2*panelB+1]
		s30 += x[11] * y[2*panelB]
		s31 += x[11] * y[2*panelB+1]
		s00 += x[12] * y[3*panelB]
		s01 += x[12] * y[3*panelB+1]
		s10 += x[13] * y[3*panelB]
		s11 += x[13] * y[3*panelB+1]
		s20 += x[14] * y[3*panelB]
		s21 += x[14] * y[3*panelB+1]
		s30 += x[15] * y[3*panelB]
		s31 += x[15] * y[3*panelB+1]
	}
	return
}
