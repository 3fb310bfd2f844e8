package gpu_test

import (
	"context"
	"fmt"
	"log"

	"quern.dev/gpu"
)

func ExampleDistribute() {
	var devs []*gpu.Device
	for range 2 { // gpu.OpenAll opens all GPUs
		d, err := gpu.Open(gpu.Config{Device: "cpu"})
		if err != nil {
			log.Fatal(err)
		}
		devs = append(devs, d)
	}
	defer gpu.CloseAll(devs)
	x, err := gpu.Distribute(devs, 3, 4, []float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()

	ctx := context.Background()
	err = x.OnEach(ctx, func(ctx context.Context, p gpu.Part[float32]) error {
		if p.Rows == 0 {
			return nil // there are fewer rows than devices
		}
		return LaunchScale(p.Device.DefaultStream(), gpu.Linear(p.Data.Len()), 10, p.Data)
	})
	if err != nil {
		log.Fatal(err)
	}
	result := make([]float32, 12)
	if err := x.Gather(ctx, result); err != nil {
		log.Fatal(err)
	}
	for _, p := range x.Parts() {
		fmt.Println("rows", p.First, "to", p.First+p.Rows-1)
	}
	fmt.Println(result)
	// Output:
	// rows 0 to 0
	// rows 1 to 2
	// [0 10 20 30 40 50 60 70 80 90 100 110]
}

func ExampleCopyPeer() {
	a, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	b, err := gpu.Open(gpu.Config{Device: "sim"})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	x, err := gpu.Upload(a.DefaultStream(), []int32{1, 2, 3})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	y, err := gpu.Alloc[int32](b, 3)
	if err != nil {
		log.Fatal(err)
	}
	defer y.Close()
	// On the stream that wrote x, so that the copy comes after that.
	if err := gpu.CopyPeer(a.DefaultStream(), y, x); err != nil {
		log.Fatal(err)
	}
	copied, err := a.NewEvent()
	if err != nil {
		log.Fatal(err)
	}
	defer copied.Close()
	if err := a.DefaultStream().Record(copied); err != nil {
		log.Fatal(err)
	}
	// Later work of b begins after the copy.
	if err := b.DefaultStream().Wait(copied); err != nil {
		log.Fatal(err)
	}
	result := make([]int32, 3)
	if err := gpu.Download(context.Background(), b.DefaultStream(), result, y); err != nil {
		log.Fatal(err)
	}
	fmt.Println(result, a.Linked(b))
	// Output: [1 2 3] false
}

func ExampleOnEach() {
	devs, err := gpu.OpenAll(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer gpu.CloseAll(devs)
	err = gpu.OnEach(context.Background(), devs, func(ctx context.Context, i int, d *gpu.Device) error {
		fmt.Println("device", i, d.ID())
		return d.Synchronize(ctx)
	})
	fmt.Println(err)
	// Output:
	// device 0 cpu
	// <nil>
}
