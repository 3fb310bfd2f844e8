package language

import "quern.dev/kernel"

// increment is launched in blocks of 256 threads. A multiprocessor should hold
// four of them at once, which limits the registers per thread.
//
//quern:kernel block=256 minblocks=4
func increment(t kernel.Thread, x []int32) {
	if i := t.Global(); i < len(x) {
		x[i]++
	}
}

// magnitudes trades checks and the last bits of precision for speed.
//
//quern:kernel unchecked fastmath maxregs=64
func magnitudes(t kernel.Thread, x, y, out []float32) {
	if i := t.Global(); i < len(out) {
		out[i] = kernel.Sqrt(x[i]*x[i] + y[i]*y[i])
	}
}

// columnSums adds the rows of a matrix. The loop gets four copies of its body; a
// second loop adds the remaining rows.
//
//quern:kernel
func columnSums(t kernel.Thread, width int, matrix, sums []float32) {
	if col := t.Global(); col < width {
		sum := float32(0)
		//quern:unroll 4
		for i := col; i < len(matrix); i += width {
			sum += matrix[i]
		}
		sums[col] = sum
	}
}

// polynomials evaluates the polynomial with eight coefficients at each x. The
// inner loop becomes eight statements; the outer one stays a loop.
//
//quern:kernel
func polynomials(t kernel.Thread, coefficients [8]float32, x []float32) {
	//quern:nounroll
	for i := t.Global(); i < len(x); i += t.Stride() {
		y := float32(0)
		//quern:unroll
		for _, c := range coefficients {
			y = y*x[i] + c
		}
		x[i] = y
	}
}
