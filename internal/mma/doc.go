// Package mma defines what the tensor-core operations of package kernel compute,
// for all devices that have no tensor cores: kernel.Each, the cpu device, and the
// interpreter of PTX.
//
// A warp multiplies A, of 16 rows of 32 bytes, by B, of 32 bytes by 8 columns,
// and adds the 16x8 matrix C. The three are spread over the lanes as PTX's
// mma.sync has them (PTX ISA, "Matrix fragments for mma.m16n8k16" and the
// sections after it). Lane l is at row or column l/4 of its matrices, and at
// word l%4 of the four in 16 bytes:
//
//   - word w of its part of A is of row l/4 + 8(w%2), in half w/2 of the row;
//   - word w of its part of B is of column l/4, in half w of the column;
//   - element i of its part of C is of row l/4 + 8(i/2), column 2(l%4) + i%2.
//
// Element c of a float result is the sum, in increasing order of k, of c and the
// products A[row,k]·B[k,column], computed in float64 and rounded once, to
// float32. The products are exact. Tensor cores sum in an order of their own,
// and cut off bits below the largest term's: they differ from this by at most
// [Bound]. Integer sums wrap around and are the same everywhere.
package mma
