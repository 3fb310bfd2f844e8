package profile_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"quern.dev/algo"
	"quern.dev/gpu"
	"quern.dev/profile"
)

func Example() {
	ctx := context.Background()
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	s := dev.DefaultStream()

	r, err := profile.Start(profile.Config{})
	if err != nil {
		log.Fatal(err)
	}
	section := profile.Section(ctx, s, "sum")
	x, err := gpu.Upload(s, []float32{1, 2, 3, 4})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	sum, err := gpu.Alloc[float32](dev, 1)
	if err != nil {
		log.Fatal(err)
	}
	defer sum.Close()
	if err := algo.Reduce(s, algo.Sum[float32](), sum, x); err != nil {
		log.Fatal(err)
	}
	result := make([]float32, 1)
	if err := gpu.Download(ctx, s, result, sum); err != nil {
		log.Fatal(err)
	}
	section.End()
	if err := r.Stop(); err != nil {
		log.Fatal(err)
	}

	copied := int64(0)
	for e := range r.Events() {
		if e.OnDevice && e.Section == "sum" {
			copied += e.Bytes
		}
	}
	fmt.Println("sum", result[0], "copied", copied, "bytes")
	// Output: sum 10 copied 20 bytes
}

// A profile of GPU time by call stack, as QUERN_PPROF writes for any program.
func ExampleRecording_WriteProfile() {
	r, err := profile.Start(profile.Config{})
	if err != nil {
		log.Fatal(err)
	}
	// Work of the program.
	if err := r.Stop(); err != nil {
		log.Fatal(err)
	}
	if err := r.WriteProfile(io.Discard); err != nil {
		log.Fatal(err)
	}
}

func ExampleHandler() {
	mux := http.NewServeMux()
	mux.Handle("/debug/gpu/", profile.Handler())
}

func ExampleSection() {
	blur := func(ctx context.Context, s *gpu.Stream) {
		defer profile.Section(ctx, s, "blur").End()
		// Launches on s.
	}
	blur(context.Background(), nil)
}

func ExampleBenchmark() {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	const n = 1 << 10
	x, err := gpu.Alloc[float32](dev, n)
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	c := profile.BenchmarkConfig{Name: "fill", Elements: n, Bytes: 4 * n, MinTime: time.Millisecond, MaxTime: 10 * time.Millisecond}
	r, err := profile.Benchmark(context.Background(), dev.DefaultStream(), c, func(s *gpu.Stream) error {
		return gpu.Fill(s, x, 1)
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Name, len(r.Samples) >= 10, r.BytesPerSecond() > 0)
	// Output: fill true true
}

func ExampleCompare() {
	before := profile.Results{{Name: "blur", Samples: []float64{100, 101, 102, 103, 104}}}
	after := profile.Results{{Name: "blur", Samples: []float64{90, 91, 92, 93, 94}}}
	if err := profile.Compare(before, after).WriteMarkdown(os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// | benchmark | old | new | change | p |
	// |---|---:|---:|---:|---:|
	// | blur | 102 ns | 92.0 ns | -9.80 % | 0.008 |
}

func ExampleOccupancyFor() {
	table, err := profile.OccupancyFor("sm_90", profile.KernelResources{Registers: 40, Shared: 20 << 10})
	if err != nil {
		log.Fatal(err)
	}
	table.Rows = []profile.OccupancyRow{table.Rows[3], table.Rows[7], table.Rows[15]}
	if err := table.WriteMarkdown(os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// | block | blocks | threads | occupancy | limit |
	// |---|---:|---:|---:|---:|
	// | 128 | 10 | 1280 | 62.5 % | shared memory |
	// | 256 | 6 | 1536 | 75.0 % | registers |
	// | 512 | 3 | 1536 | 75.0 % | registers |
}
