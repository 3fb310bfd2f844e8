package gpu_test

import (
	"context"
	"fmt"
	"log"

	"quern.dev/gpu"
)

// Another library of the process would take the address that ExportDLPack returns;
// here this package does.
func ExampleExportDLPack() {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	s := dev.DefaultStream()
	x, err := gpu.Upload(s, []float32{1, 2, 3, 4, 5, 6})
	if err != nil {
		log.Fatal(err)
	}
	tensor, err := gpu.ExportDLPack(x, gpu.DLManagedTensorVersioned, 2, 3)
	if err != nil {
		log.Fatal(err)
	}
	x.Close() // the memory stays until the tensor is deleted

	y, shape, err := gpu.ImportDLPack[float32](dev, gpu.DLManagedTensorVersioned, tensor)
	if err != nil {
		log.Fatal(err)
	}
	defer y.Close() // deletes the tensor
	values := make([]float32, y.Len())
	if err := gpu.Download(context.Background(), s, values, y); err != nil {
		log.Fatal(err)
	}
	fmt.Println(shape, values)
	// Output: [2 3] [1 2 3 4 5 6]
}
