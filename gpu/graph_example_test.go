package gpu_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"quern.dev/gpu"
)

func ExampleDevice_Capture() {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	ctx, s := context.Background(), dev.DefaultStream()
	x, err := gpu.Upload(s, []float32{1, 2, 3, 4})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()

	// This only records the work.
	g, err := dev.Capture(func(s *gpu.Stream) error {
		for range 3 {
			if err := LaunchScale(s, gpu.Linear(4), 2, x); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	exec, err := g.Instantiate()
	if err != nil {
		log.Fatal(err)
	}
	defer exec.Close()

	host := make([]float32, 4)
	for range 2 {
		if err := exec.Launch(s); err != nil {
			log.Fatal(err)
		}
		if err := gpu.Download(ctx, s, host, x); err != nil {
			log.Fatal(err)
		}
		fmt.Println(host)
	}

	// Later runs use a different factor in the last launch.
	last := g.Nodes()[2]
	err = exec.Update(last, func(s *gpu.Stream) error { return LaunchScale(s, gpu.Linear(4), 0.25, x) })
	if err != nil {
		log.Fatal(err)
	}
	if err := errors.Join(exec.Launch(s), gpu.Download(ctx, s, host, x)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(last, host)
	// Output:
	// [8 16 24 32]
	// [64 128 192 256]
	// kernel scale [64 128 192 256]
}

func ExampleGraph_Add() {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	s := dev.DefaultStream()
	x, err := gpu.Alloc[float32](dev, 4)
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	y, err := gpu.Alloc[float32](dev, 4)
	if err != nil {
		log.Fatal(err)
	}
	defer y.Close()

	g, err := dev.NewGraph()
	if err != nil {
		log.Fatal(err)
	}
	ones, err := g.Add(func(s *gpu.Stream) error { return gpu.Fill(s, x, 1) })
	if err != nil {
		log.Fatal(err)
	}
	scaled, err := g.Add(func(s *gpu.Stream) error { return LaunchScale(s, gpu.Linear(4), 5, x) }, ones)
	if err != nil {
		log.Fatal(err)
	}
	_, err = g.Add(func(s *gpu.Stream) error { return gpu.Copy(s, y, x) }, scaled)
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range g.Nodes() {
		fmt.Println(n, "after", n.After())
	}
	exec, err := g.Instantiate()
	if err != nil {
		log.Fatal(err)
	}
	defer exec.Close()
	host := make([]float32, 4)
	if err := errors.Join(exec.Launch(s), gpu.Download(context.Background(), s, host, y)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(host)
	// Output:
	// fill of 16 bytes after []
	// kernel scale after [fill of 16 bytes]
	// copy of 16 bytes after [kernel scale]
	// [5 5 5 5]
}

func ExampleWhile() {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	s := dev.DefaultStream()
	halve, err := dev.Compile(context.Background(), `package p

import "quern.dev/kernel"

// halve ends the loop when the value is small enough.
//
//quern:kernel
func halve(t kernel.Thread, x []float32, more []uint32) {
	x[0] /= 2
	if x[0] < 1 {
		more[0] = 0
	}
}
`, "halve")
	if err != nil {
		log.Fatal(err)
	}
	x, err := gpu.Upload(s, []float32{100})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	more, err := gpu.Upload(s, []uint32{1})
	if err != nil {
		log.Fatal(err)
	}
	defer more.Close()

	one := gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 1})
	g, err := dev.Capture(func(s *gpu.Stream) error {
		return gpu.While(s, more, func(s *gpu.Stream) error { return halve.Launch(s, one, x, more) })
	})
	if err != nil {
		log.Fatal(err)
	}
	exec, err := g.Instantiate()
	if err != nil {
		log.Fatal(err)
	}
	defer exec.Close()
	host := make([]float32, 1)
	if err := errors.Join(exec.Launch(s), gpu.Download(context.Background(), s, host, x)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(host[0])
	// Output: 0.78125
}
