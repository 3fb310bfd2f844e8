// Package simd measures what Go's experimental package simd/archsimd would win in the loops of
// generated Go that run the threads of a row. It needs amd64 and the experiment:
//
//	GOEXPERIMENT=simd go test -bench . ./bench/simd
package simd
