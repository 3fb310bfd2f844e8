// Saxpy computes y = 2*x + y on the best device of this machine.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"quern.dev/gpu"
	"quern.dev/kernel"
)

//go:generate go tool quern gen

// saxpy computes y = a*x + y.
//
//quern:kernel
func saxpy(t kernel.Thread, a float32, x, y []float32) {
	if i := t.Global(); i < len(y) {
		y[i] += a * x[i]
	}
}

func main() {
	log.SetFlags(0)
	dev, err := gpu.Open(gpu.Config{})
	if err != nil {
		log.Fatal(err)
	}
	err = run(context.Background(), dev)
	if err := errors.Join(err, dev.Close()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, dev *gpu.Device) error {
	const n = 1 << 20
	hostX, hostY := make([]float32, n), make([]float32, n)
	for i := range n {
		hostX[i], hostY[i] = float32(i), 1
	}

	s := dev.DefaultStream()
	x, err := gpu.Upload(s, hostX)
	if err != nil {
		return err
	}
	defer x.Close()
	y, err := gpu.Upload(s, hostY)
	if err != nil {
		return err
	}
	defer y.Close()

	if err := LaunchSaxpy(s, gpu.Linear(n), 2, x, y); err != nil {
		return err
	}
	if err := gpu.Download(ctx, s, hostY, y); err != nil {
		return err
	}
	for i, got := range hostY {
		if want := 2*float32(i) + 1; got != want {
			return fmt.Errorf("y[%d] = %v, want %v", i, got, want)
		}
	}
	fmt.Printf("%s: %d elements, y[%d] = %v\n", dev.Name(), n, n-1, hostY[n-1])
	return nil
}
