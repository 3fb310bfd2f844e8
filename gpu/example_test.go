package gpu_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"quern.dev/gpu"
	"quern.dev/gpu/compiled"
	"quern.dev/kernel/host"
)

// scale is what quern gen writes for
//
//	//quern:kernel
//	func scale(t kernel.Thread, factor float32, x []float32) {
//		x[t.Global()] *= factor
//	}
//
// without the code for GPUs.
var scale = gpu.NewKernel(compiled.Kernel{
	Name: "scale",
	Params: []compiled.Param{
		{Name: "factor", Kind: compiled.Scalar, Type: "float32", Size: 4},
		{Name: "x", Kind: compiled.Slice, Type: "float32", Size: 4},
	},
	Block: gpu.Dim3{X: 4},
	Host: func(r *host.Run) {
		factor, x := host.Value[float32](r, 0), host.Slice[float32](r, 1)
		for r.Next() {
			for r.ThreadIdx.X = 0; r.ThreadIdx.X < r.BlockDim.X; r.ThreadIdx.X++ {
//line scale.go:7
				x[r.BlockIdx.X*r.BlockDim.X+r.ThreadIdx.X] *= factor
			}
		}
	},
})

// LaunchScale runs scale on the grid g.
func LaunchScale(s *gpu.Stream, g gpu.Grid, factor float32, x *gpu.Buffer[float32]) error {
	l, err := scale.Begin(s, g)
	if err != nil {
		return err
	}
	gpu.Arg(l, factor)
	gpu.SliceArg(l, x)
	return l.End()
}

func Example() {
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
	result := make([]float32, 4)
	if err := gpu.Download(context.Background(), s, result, x); err != nil {
		log.Fatal(err)
	}
	fmt.Println(result)
	// Output: [10 20 30 40]
}

func ExampleKernelError() {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	s := dev.DefaultStream()
	x, err := gpu.Upload(s, []float32{1, 2, 3})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()

	// The launch is valid, but the kernel has an error.
	fmt.Println(LaunchScale(s, gpu.Linear(3), 10, x))
	err = s.Synchronize(context.Background())
	fmt.Println(err)
	if e, ok := errors.AsType[*gpu.KernelError](err); ok {
		fmt.Println(e.Index, e.Length, e.Thread)
	}
	fmt.Println(s.Synchronize(context.Background())) // reported once
	// Output:
	// <nil>
	// scale.go:7: kernel scale: index 3 out of range [0,3) in block (0,0,0) thread (3,0,0)
	// 3 3 3x0x0
	// <nil>
}

func ExampleOpen() {
	dev, err := gpu.Open(gpu.Config{Device: "cuda:99"})
	fmt.Println(dev, errors.Is(err, gpu.ErrNoDevice))

	dev, err = gpu.Open(gpu.Config{Require: gpu.CPU})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	fmt.Println(dev.ID(), dev.Backend())
	// Output:
	// <nil> true
	// cpu cpu
}

func ExampleDevices() {
	for _, d := range gpu.Devices() {
		if d.Backend == gpu.CPU || d.Backend == gpu.Sim {
			fmt.Println(d.ID, d.Err)
		}
	}
	// Output:
	// cpu <nil>
	// sim <nil>
}

func ExampleBuffer_Slice() {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	s := dev.DefaultStream()
	x, err := gpu.Alloc[int32](dev, 6)
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	if err := errors.Join(gpu.Zero(s, x), gpu.Fill(s, x.Slice(2, 4), 7)); err != nil {
		log.Fatal(err)
	}
	list := make([]int32, 6)
	if err := gpu.Download(context.Background(), s, list, x); err != nil {
		log.Fatal(err)
	}
	fmt.Println(list, gpu.Fill(s, x.Slice(4, 9), 1))
	// Output: [0 0 7 7 0 0] gpu: fill: sub-buffer [4:9] of a buffer of 6 elements
}

func ExampleElapsed() {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	s := dev.DefaultStream()
	start, err := dev.NewEvent()
	if err != nil {
		log.Fatal(err)
	}
	defer start.Close()
	end, err := dev.NewEvent()
	if err != nil {
		log.Fatal(err)
	}
	defer end.Close()
	if err := errors.Join(s.Record(start), s.Record(end), end.Synchronize(context.Background())); err != nil {
		log.Fatal(err)
	}
	took, err := gpu.Elapsed(start, end)
	fmt.Println(took >= 0, err)
	// Output: true <nil>
}

func ExampleTune() {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	s := dev.DefaultStream()
	x, err := gpu.Alloc[float32](dev, 1<<16)
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	dir, err := os.MkdirTemp("", "tune") // instead of the user's cache directory
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	tuning := gpu.Tuning{Name: "scale", Problem: fmt.Sprint(x.Len(), " elements"), Dir: dir}
	for _, parts := range []int{1, 16, 256} {
		tuning.Candidates = append(tuning.Candidates, gpu.Candidate{
			Name: fmt.Sprintf("%d launches", parts),
			Launch: func(s *gpu.Stream) error {
				for i := range parts {
					n := x.Len() / parts
					if err := LaunchScale(s, gpu.Linear(n), 1, x.Slice(i*n, (i+1)*n)); err != nil {
						return err
					}
				}
				return nil
			},
		})
	}
	for range 2 {
		best, err := gpu.Tune(context.Background(), s, tuning)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(len(best.Trials), "candidates, cached:", best.Cached)
		if err := best.Launch(s); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// 3 candidates, cached: false
	// 3 candidates, cached: true
}
