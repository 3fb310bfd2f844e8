package npy_test

import (
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
