package gpu_test

import (
	"fmt"
	"log"

	"quern.dev/gpu"
)

func ExampleKernel_Layout() {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	blocks, block, err := scale.Layout(dev, gpu.Linear(10)) // which declares blocks of 4
	fmt.Println(blocks, block, err)
	_, _, err = scale.Layout(dev, gpu.Linear(10).Block(gpu.Dim3{X: 8}))
	fmt.Println(err)
	// Output:
	// 3x1x1 4x1x1 <nil>
	// gpu: layout of scale: block 8x1x1, but the kernel declares block 4x1x1
}

func ExampleKernel_Occupancy() {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	o, err := scale.Occupancy(dev, gpu.Dim3{X: 4}, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(o.Blocks, "blocks,", o.Threads, "of", o.Most, "threads, limited by", o.Limit)
	// Output: 32 blocks, 1024 of 2048 threads, limited by blocks
}
