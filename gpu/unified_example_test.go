package gpu_test

import (
	"context"
	"fmt"
	"log"

	"quern.dev/gpu"
)

func ExampleUnified() {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	ctx, s := context.Background(), dev.DefaultStream()
	u, err := gpu.NewUnified[float32](dev, 8)
	if err != nil {
		log.Fatal(err)
	}
	defer u.Close()

	err = u.WriteHost(ctx, func(x []float32) {
		for i := range x {
			x[i] = float32(i)
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	x, err := u.WriteDevice(s) // copies the 8 elements
	if err != nil {
		log.Fatal(err)
	}
	if err := LaunchScale(s, gpu.Linear(8), 10, x); err != nil {
		log.Fatal(err)
	}
	err = u.Slice(2, 5).ReadHost(ctx, func(x []float32) { // waits, and copies 3 back
		fmt.Println(x)
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(u.State())
	fmt.Printf("%+v\n", u.Stats())

	// The host has taken a view of its part of x, so a launch that may write to it is
	// refused.
	fmt.Println(LaunchScale(s, gpu.Linear(8), 10, x))
	// Output:
	// [20 30 40]
	// device dirty
	// {Uploads:1 Downloads:1 UploadedBytes:32 DownloadedBytes:12}
	// gpu: launch scale: argument x: the view of the unified array has ended: a later view conflicts with it, or the array is closed
}
