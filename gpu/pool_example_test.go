package gpu_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"quern.dev/gpu"
)

func ExampleAcquire() {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	s, pool := dev.DefaultStream(), dev.Pool()
	sum := 0
	for i := range 3 {
		b, err := gpu.Acquire[int](pool, s, 1000)
		if err != nil {
			log.Fatal(err)
		}
		if err := gpu.Fill(s, b, i); err != nil {
			log.Fatal(err)
		}
		values := make([]int, b.Len())
		if err := gpu.Download(context.Background(), s, values, b); err != nil {
			log.Fatal(err)
		}
		sum += values[999]
		b.Close() // gives the memory back
	}
	st := pool.Stats()
	fmt.Println(sum, st.Misses, "taken from the device,", st.Hits, "from the pool")
	// Output: 3 1 taken from the device, 2 from the pool
}

func ExamplePool_Scope() {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	s := dev.DefaultStream()
	result, err := gpu.Upload(s, []float32{1, 2, 3})
	if err != nil {
		log.Fatal(err)
	}
	defer result.Close()
	err = dev.Pool().Scope(s, func(scope *gpu.Scope) error {
		scratch, err := gpu.AcquireIn[float32](scope, 3)
		if err != nil {
			return err
		}
		return errors.Join(gpu.Fill(s, scratch, 7), gpu.Copy(s, result, scratch))
	})
	values := make([]float32, 3)
	err = errors.Join(err, gpu.Download(context.Background(), s, values, result))
	fmt.Println(values, err, dev.Pool().Stats().Buffers)
	// Output: [7 7 7] <nil> 0
}

func ExampleDevice_NewPool() {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	pool, err := dev.NewPool(gpu.PoolConfig{Limit: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	b, err := gpu.Acquire[byte](pool, dev.DefaultStream(), 1<<20)
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	_, err = gpu.Acquire[byte](pool, dev.DefaultStream(), 1)
	full, ok := errors.AsType[*gpu.OutOfMemoryError](err)
	if !ok {
		log.Fatal(err)
	}
	fmt.Println(errors.Is(err, gpu.ErrOutOfMemory), full.Bytes, full.Limit)
	fmt.Println(full.Holders[0].Function, full.Holders[0].Bytes)
	// Output:
	// true 512 1048576
	// gpu_test.ExampleDevice_NewPool 1048576
}

func ExampleAcquireHost() {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	s := dev.DefaultStream()
	b, err := gpu.Acquire[int](dev.Pool(), s, 3)
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	h, err := gpu.AcquireHost[int](dev.HostPool(), 3)
	if err != nil {
		log.Fatal(err)
	}
	copy(h.Data(), []int{1, 2, 3})
	err = errors.Join(gpu.CopyInAsync(s, b, h), h.Close()) // the memory comes back when the copy is done
	values := make([]int, 3)
	err = errors.Join(err, gpu.Download(context.Background(), s, values, b))
	fmt.Println(values, err)
	// Output: [1 2 3] <nil>
}

func ExampleLeakError() {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := gpu.Alloc[int](dev, 3); err != nil {
		log.Fatal(err)
	}
	leak, ok := errors.AsType[*gpu.LeakError](dev.Close())
	if !ok {
		log.Fatal("no leak")
	}
	fmt.Println(leak.Buffers, leak.Bytes, leak.Holders[0].Function)
	// Output: 1 24 gpu_test.ExampleLeakError
}
