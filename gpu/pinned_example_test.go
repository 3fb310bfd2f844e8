package gpu_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"quern.dev/gpu"
)

func ExampleAllocHost() {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	s := dev.DefaultStream()
	host, err := gpu.AllocHost[float32](dev, 4)
	if err != nil {
		log.Fatal(err)
	}
	defer host.Close()
	x, err := gpu.Alloc[float32](dev, 4)
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()

	copy(host.Data(), []float32{1, 2, 3, 4})
	if err := gpu.CopyInAsync(s, x, host); err != nil {
		log.Fatal(err)
	}
	if err := LaunchScale(s, gpu.Linear(4), 10, x); err != nil {
		log.Fatal(err)
	}
	if err := gpu.CopyOutAsync(s, host, x); err != nil {
		log.Fatal(err)
	}
	if err := s.Synchronize(context.Background()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(host.Data())
	// Output: [10 20 30 40]
}

func ExampleRegisterHost() {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	s := dev.DefaultStream()
	x, err := gpu.Upload(s, []int32{5, 6, 7})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()

	results := make([]int32, 3)
	host, err := gpu.RegisterHost(dev, results)
	if err != nil {
		log.Fatal(err)
	}
	if err := gpu.CopyOutAsync(s, host, x); err != nil {
		log.Fatal(err)
	}
	if err := host.Close(); err != nil { // waits for the copy
		log.Fatal(err)
	}
	fmt.Println(results)
	// Output: [5 6 7]
}

func ExampleOpenMapped() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "heights")
	var data []byte
	for _, v := range []uint16{300, 200, 100} {
		data = binary.NativeEndian.AppendUint16(data, v)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		log.Fatal(err)
	}

	heights, err := gpu.OpenMapped[uint16](path)
	if err != nil {
		log.Fatal(err)
	}
	defer heights.Close()
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	x, err := gpu.Upload(dev.DefaultStream(), heights.Data())
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	fmt.Println(heights.Len(), x.Len())
	// Output: 3 3
}
