// Package mma defines the results of package kernel's tensor-core operations for all
// devices without tensor cores: kernel.Each, the cpu device, and the PTX interpreter.
//
// A warp multiplies A, which has 16 rows of 32 bytes, by B, which has 8 columns of 32
// bytes, and adds the 16x8 matrix C. The lanes hold parts of all three matrices, in the
// layout of PTX's mma.sync (PTX ISA, "Matrix fragments for mma.m16n8k16" and the sections
// after it). Lane l holds elements of row or column l/4 of its matrices, at word l%4 of
// the four words in 16 bytes:
//
//   - word w of its part of A is in row l/4 + 8(w%2), in half w/2 of the row;
//   - word w of its part of B is in column l/4, in half w of the column;
//   - element i of its part of C is in row l/4 + 8(i/2), column 2(l%4) + i%2.
//
// An element of 64 bits, element l%4 of its row or column, is in both halves: the lower word
// in half 0 and the upper one in half 1.
//
// A float32 result is the sum, in increasing order of k, of the element of C and the products
// A[row,k]·B[k,column]. The sum is computed in float64 and rounded once, to float32. The
// products are exact. Tensor cores add in a different order and drop bits below those of the
// largest term, so their results differ from these by at most [Bound]. A float64 result is the
// same sum, made of operations that multiply, add and round once; the same bound holds.
// Integer sums wrap around and are the same everywhere.
package mma
