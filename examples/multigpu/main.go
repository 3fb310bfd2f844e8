// Multigpu multiplies matrices and summarizes the product on all GPUs of the
// machine, each of which handles some of the rows, or on the CPU.
//
//	go run ./examples/multigpu
//	go run ./examples/multigpu -device cpu -n 512
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"quern.dev/examples/multigpu/rows"
	"quern.dev/gpu"
)

func main() {
	log.SetFlags(0)
	device := flag.String("device", "", "device to use, such as cuda:0; all GPUs if empty")
	n := flag.Int("n", 1024, "number of rows and columns")
	flag.Parse()
	devs, err := gpu.OpenAll(gpu.Config{Device: *device})
	if err != nil {
		log.Fatal(err)
	}
	err = run(context.Background(), devs, *n, os.Stdout)
	if err := errors.Join(err, gpu.CloseAll(devs)); err != nil {
		log.Fatal(err)
	}
}

// run multiplies two n x n matrices and checks the product.
func run(ctx context.Context, devs []*gpu.Device, n int, w io.Writer) error {
	hostA, hostB, hostC := make([]float32, n*n), make([]float32, n*n), make([]float32, n*n)
	for i := range hostA {
		hostA[i], hostB[i] = float32(i%7-3), float32(i%5-1)
	}
	a, err := gpu.Distribute(devs, n, n, hostA)
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := rows.Replicate(devs, hostB)
	if err != nil {
		return err
	}
	defer rows.CloseAll(b)
	c, err := gpu.AllocDistributed[float32](devs, n, n)
	if err != nil {
		return err
	}
	defer c.Close()

	begin := time.Now()
	if err := rows.Matmul(ctx, c, a, b); err != nil {
		return err
	}
	s, err := rows.Summarise(ctx, c)
	if err != nil {
		return err
	}
	took := time.Since(begin)
	if err := c.Gather(ctx, hostC); err != nil {
		return err
	}
	if err := check(hostA, hostB, hostC, n); err != nil {
		return err
	}
	for _, p := range c.Parts() {
		fmt.Fprintf(w, "%s: rows %d to %d\n", p.Device.Name(), p.First, p.First+p.Rows-1)
	}
	fmt.Fprintf(w, "sum %g, mean %.4g, min %g, max %g, in %v\n", s.Sum, s.Mean(), s.Min, s.Max, took.Round(time.Microsecond))
	return nil
}

// check recomputes some of the elements.
func check(a, b, c []float32, n int) error {
	for i := 0; i < len(c); i += max(1, len(c)/1000) {
		var want float32
		for k := range n {
			want += a[i/n*n+k] * b[k*n+i%n]
		}
		if c[i] != want {
			return fmt.Errorf("row %d, column %d: %v, want %v", i/n, i%n, c[i], want)
		}
	}
	return nil
}
