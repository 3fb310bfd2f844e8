package blas_test

import (
	"context"
	"fmt"
	"log"

	"quern.dev/blas"
	"quern.dev/gpu"
	"quern.dev/kernel"
)

// matrix uploads a matrix.
func matrix(s *gpu.Stream, rows, cols int, values ...float32) blas.General[float32] {
	b, err := gpu.Upload(s, values)
	if err != nil {
		log.Fatal(err)
	}
	return blas.General[float32]{Rows: rows, Cols: cols, Stride: cols, Data: b}
}

// show prints the elements of a buffer.
func show(s *gpu.Stream, b *gpu.Buffer[float32]) {
	values := make([]float32, b.Len())
	if err := gpu.Download(context.Background(), s, values, b); err != nil {
		log.Fatal(err)
	}
	fmt.Println(values)
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func open() *gpu.Device {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	must(err)
	return dev
}

func ExampleGemm() {
	dev := open()
	defer dev.Close()
	s := dev.DefaultStream()
	a := matrix(s, 2, 3, 1, 2, 3, 4, 5, 6)
	b := matrix(s, 3, 2, 1, 0, 0, 1, 1, 1)
	c := matrix(s, 2, 2, make([]float32, 4)...)
	must(blas.Gemm(s, blas.NoTrans, blas.NoTrans, 1, a, b, 0, c))
	show(s, c.Data)
	// Output: [4 5 10 11]
}

// A layer of a network: weights with a row per output, a bias per output, and ReLU.
func ExampleGemmEpilogue() {
	dev := open()
	defer dev.Close()
	s := dev.DefaultStream()
	x := matrix(s, 2, 2, 1, 2, 3, 4)
	weights := matrix(s, 3, 2, 1, 0, 0, 1, -1, -1)
	bias := matrix(s, 1, 3, 0.5, 0.5, 4)
	y := matrix(s, 2, 3, make([]float32, 6)...)
	must(blas.GemmEpilogue(s, blas.NoTrans, blas.Trans, 1, x, weights, 0, y, blas.Epilogue[float32]{
		Bias:       blas.Vector[float32]{N: 3, Inc: 1, Data: bias.Data},
		Activation: blas.ReLU,
	}))
	show(s, y.Data)
	// Output: [1.5 2.5 1 3.5 4.5 0]
}

// Pixels of three colors become three planes.
func ExampleTransposeAxes() {
	dev := open()
	defer dev.Close()
	s := dev.DefaultStream()
	pixels := matrix(s, 1, 12, 10, 20, 30, 11, 21, 31, 12, 22, 32, 13, 23, 33) // 2 rows of 2 pixels
	planes := matrix(s, 1, 12, make([]float32, 12)...)
	must(blas.TransposeAxes(s, planes.Data, pixels.Data, []int{2, 2, 3}, 2, 0, 1))
	show(s, planes.Data)
	// Output: [10 11 12 13 20 21 22 23 30 31 32 33]
}

// Activations and weights are stored in 8 bits, divided by a scale each. Alpha is the product of
// the scales.
func ExampleGemmFloat8() {
	dev := open()
	defer dev.Close()
	s := dev.DefaultStream()
	quantize := func(rows, cols int, scale float32, values ...float32) blas.Batch[kernel.Float8E4M3] {
		bytes := make([]kernel.Float8E4M3, len(values))
		for i, v := range values {
			bytes[i] = kernel.ToFloat8E4M3(v / scale)
		}
		b, err := gpu.Upload(s, bytes)
		must(err)
		return blas.General[kernel.Float8E4M3]{Rows: rows, Cols: cols, Stride: cols, Data: b}.Batch()
	}
	x := quantize(1, 2, 0.5, 100, 200)
	weights := quantize(2, 2, 0.125, 0.5, 0, 0.25, 1)
	y := matrix(s, 1, 2, make([]float32, 2)...)
	must(blas.GemmFloat8(s, blas.NoTrans, blas.Trans, 0.5*0.125, x, weights, 0, y.Batch(), blas.Epilogue[float32]{}))
	show(s, y.Data)
	// Output: [48 216]
}

func ExampleTrsm() {
	dev := open()
	defer dev.Close()
	s := dev.DefaultStream()
	a := matrix(s, 2, 2, 2, 0, 1, 4)
	b := matrix(s, 2, 1, 2, 9)
	must(blas.Trsm(s, blas.Left, blas.NoTrans, 1, blas.Triangular[float32]{N: 2, Stride: 2, Data: a.Data, Uplo: blas.Lower, Diag: blas.NonUnit}, b))
	show(s, b.Data)
	// Output: [1 2]
}

func ExampleNrm2() {
	dev := open()
	defer dev.Close()
	s := dev.DefaultStream()
	x := matrix(s, 1, 2, 3e30, 4e30)
	norm := matrix(s, 1, 1, 0)
	must(blas.Nrm2(s, blas.Vector[float32]{N: 2, Inc: 1, Data: x.Data}, norm.Data))
	show(s, norm.Data)
	// Output: [5e+30]
}

func ExampleLange() {
	dev := open()
	defer dev.Close()
	s := dev.DefaultStream()
	a := matrix(s, 2, 2, 1, -2, 3, 4)
	norm := matrix(s, 1, 1, 0)
	must(blas.Lange(s, blas.MaxRowSum, a, norm.Data))
	show(s, norm.Data)
	// Output: [7]
}
