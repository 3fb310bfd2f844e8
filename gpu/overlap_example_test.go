package gpu_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"

	"quern.dev/gpu"
)

func ExampleOverlap() {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	// Each lane has its own buffers; those on the host are page-locked.
	type lane struct {
		host *gpu.HostBuffer[float32]
		x    *gpu.Buffer[float32]
	}
	lanes := make([]lane, 3)
	for i := range lanes {
		if lanes[i].host, err = gpu.AllocHost[float32](dev, 4); err != nil {
			log.Fatal(err)
		}
		defer lanes[i].host.Close()
		if lanes[i].x, err = gpu.Alloc[float32](dev, 4); err != nil {
			log.Fatal(err)
		}
		defer lanes[i].x.Close()
	}

	items := slices.Values([]float32{1, 2, 3, 4, 5})
	work := func(s *gpu.Stream, i int, item float32) (func() (float32, error), error) {
		l := lanes[i]
		for j := range l.host.Data() {
			l.host.Data()[j] = item
		}
		err := errors.Join(
			gpu.CopyInAsync(s, l.x, l.host),
			LaunchScale(s, gpu.Linear(4), 10, l.x),
			gpu.CopyOutAsync(s, l.host, l.x))
		return func() (float32, error) { return l.host.Data()[3], nil }, err
	}
	for result, err := range gpu.Overlap(context.Background(), dev, len(lanes), items, work) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(result)
	}
	// Output:
	// 10
	// 20
	// 30
	// 40
	// 50
}

func ExampleOverlapSlices() {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	chunks := slices.Chunk([]float32{1, 2, 3, 4, 5, 6, 7, 8}, 4)
	scaled := func(s *gpu.Stream, _, in *gpu.Buffer[float32]) (*gpu.Buffer[float32], error) {
		return in, LaunchScale(s, gpu.Linear(in.Len()), 10, in)
	}
	for result, err := range gpu.OverlapSlices(context.Background(), dev, 0, 4, 4, chunks, scaled) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(result)
	}
	// Output:
	// [10 20 30 40]
	// [50 60 70 80]
}

func ExampleStream_Call() {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	s := dev.DefaultStream()
	x, err := gpu.Upload(s, []float32{1, 2, 3, 4})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	if err := LaunchScale(s, gpu.Linear(4), 10, x); err != nil {
		log.Fatal(err)
	}
	err = s.Call(func() error {
		fmt.Println("scaled")
		return errors.New("not stored")
	})
	fmt.Println(err)
	fmt.Println(s.Synchronize(context.Background()))
	// Output:
	// scaled
	// <nil>
	// gpu: call: not stored
}

func ExamplePriority() {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	_, greatest := dev.Priorities() // 0 on a CPU, whose streams have no priorities
	s, err := dev.NewStream(context.Background(), gpu.Priority(greatest))
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	fmt.Println(s.Priority())
	// Output: 0
}
