package npy_test

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"quern.dev/npy"
)

func Example() {
	dir, err := os.MkdirTemp("", "npy")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "a.npy")

	err = npy.WriteFile(name, npy.Array[float32]{Shape: []int{2, 3}, Data: []float32{1, 2, 3, 4, 5, 6}})
	if err != nil {
		log.Fatal(err)
	}
	a, err := npy.ReadFile[float32](name)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Shape, a.Data)

	_, err = npy.ReadFile[float64](name)
	fmt.Println(err == nil)
	// Output:
	// [2 3] [1 2 3 4 5 6]
	// false
}

func ExampleArchiveWriter() {
	var file bytes.Buffer
	w := npy.NewArchiveWriter(&file)
	w.Compress = true
	if err := npy.Add(w, "weights", npy.Array[float32]{Shape: []int{2, 2}, Data: []float32{1, 2, 3, 4}}); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	a, err := npy.NewArchive(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		log.Fatal(err)
	}
	weights, err := npy.ReadFrom[float32](a, "weights")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Names(), weights.Shape, weights.Data)
	// Output: [weights] [2 2] [1 2 3 4]
}
