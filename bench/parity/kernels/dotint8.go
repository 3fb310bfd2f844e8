package kernels

import "quern.dev/kernel"

// Int8x16 is 16 signed bytes, four per word.
type Int8x16 [4]uint32

// DotRows is the number of rows per block of dotInt8, one per warp.
const DotRows = 8

// dotInt8 multiplies a matrix of signed bytes with the vector x. A row has as many
// elements as x.
//
//quern:kernel block=32*DotRows also=unchecked
func dotInt8(t kernel.Thread, matrix, x []Int8x16, y []int32) {
	row := t.BlockIdx.X*DotRows + t.Warp()
	if row >= len(y) {
		return
	}
	var sum int32
	for i := t.Lane(); i < len(x); i += 32 {
		a, b := matrix[row*len(x)+i], x[i]
		for k := range a {
			sum = dotBytes(a[k], b[k], sum)
		}
	}
	sum = kernel.WarpReduceAdd(t, sum)
	if t.Lane() == 0 {
		y[row] = sum
	}
}

// dotBytes adds the products of the signed bytes of a and b to c.
//
//quern:ptx .target sm_61
//quern:ptx dp4a.s32.s32 $sum, $a, $b, $c;
func dotBytes(a, b uint32, c int32) (sum int32) {
	for shift := 0; shift < 32; shift += 8 {
		c += int32(int8(a>>shift)) * int32(int8(b>>shift))
	}
	return c
}
