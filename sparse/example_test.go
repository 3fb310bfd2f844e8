package sparse_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"quern.dev/gpu"
	"quern.dev/sparse"
)

const file = `%%MatrixMarket matrix coordinate real symmetric
% a chain of springs
4 4 7
1 1 2
2 1 -1
2 2 2
3 2 -1
3 3 2
4 3 -1
4 4 2
`

func Example() {
	ctx := context.Background()
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	s := dev.DefaultStream()

	e, header, err := sparse.ReadMarket[float64](strings.NewReader(file))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.Rows, "x", e.Cols, header.Symmetry, len(e.Value), "entries")
	a, err := sparse.UploadCSR(s, e)
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	b, err := gpu.Upload(s, []float64{1, 0, 0, 1})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	x, err := gpu.Upload(s, make([]float64, 4))
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()

	result, err := sparse.CG(ctx, s, a, b, x, nil)
	if err != nil {
		log.Fatal(err)
	}
	solution := make([]float64, 4)
	if err := gpu.Download(ctx, s, solution, x); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f after %d iterations\n", solution, result.Iterations)
	// Output:
	// 4 x 4 symmetric 10 entries
	// [1.000 1.000 1.000 1.000] after 2 iterations
}

func ExampleMulVec() {
	ctx := context.Background()
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	s := dev.DefaultStream()

	e := &sparse.Entries[float32]{Rows: 2, Cols: 3}
	e.Add(0, 0, 1)
	e.Add(0, 2, 2)
	e.Add(1, 1, 3)
	a, err := sparse.UploadCSR(s, e)
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	x, err := gpu.Upload(s, []float32{1, 10, 100})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	y, err := gpu.Alloc[float32](dev, 2)
	if err != nil {
		log.Fatal(err)
	}
	defer y.Close()
	if err := sparse.MulVec(s, false, 1, a, x, 0, y); err != nil {
		log.Fatal(err)
	}
	product := make([]float32, 2)
	if err := gpu.Download(ctx, s, product, y); err != nil {
		log.Fatal(err)
	}
	fmt.Println(product)
	// Output: [201 30]
}

func ExampleCSRToBSR() {
	ctx := context.Background()
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	s := dev.DefaultStream()

	e := &sparse.Entries[float32]{Rows: 4, Cols: 4}
	e.Add(0, 0, 1)
	e.Add(1, 1, 2)
	e.Add(3, 2, 3)
	a, err := sparse.UploadCSR(s, e)
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	n, err := sparse.CountBlocks(ctx, s, a, 2)
	if err != nil {
		log.Fatal(err)
	}
	b, err := sparse.AllocBSR[float32](dev, 4, 4, 2, n)
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	if err := sparse.CSRToBSR(s, b, a); err != nil {
		log.Fatal(err)
	}
	values := make([]float32, n*2*2)
	if err := gpu.Download(ctx, s, values, b.Value); err != nil {
		log.Fatal(err)
	}
	fmt.Println(n, "blocks", values)
	// Output: 2 blocks [1 0 0 2 0 0 3 0]
}

func ExampleMulMatCOO() {
	ctx := context.Background()
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	s := dev.DefaultStream()

	e := &sparse.Entries[float32]{Rows: 2, Cols: 2}
	e.Add(1, 0, 1)
	e.Add(0, 1, 2)
	e.Add(1, 0, 3) // is added to the first entry
	a, err := sparse.UploadCOO(s, e)
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	x, err := gpu.Upload(s, []float32{1, 10, 2, 20})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	y, err := gpu.Alloc[float32](dev, 4)
	if err != nil {
		log.Fatal(err)
	}
	defer y.Close()
	b := sparse.Dense[float32]{Rows: 2, Cols: 2, Stride: 2, Data: x}
	c := sparse.Dense[float32]{Rows: 2, Cols: 2, Stride: 2, Data: y}
	if err := sparse.MulMatCOO(s, false, 1, a, b, 0, c); err != nil {
		log.Fatal(err)
	}
	product := make([]float32, 4)
	if err := gpu.Download(ctx, s, product, y); err != nil {
		log.Fatal(err)
	}
	fmt.Println(product)
	// Output: [4 40 4 40]
}
