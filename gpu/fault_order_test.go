package gpu

import (
	"context"
	"errors"
	"testing"
)

// Kernels in which a thread fails a check, and other threads then do something that
// they would not have done otherwise.
const consequencesSource = `package p

import "quern.dev/kernel"

//quern:kernel block=64
func unwritten(t kernel.Thread, n int, x, out []int32) {
	tile := kernel.Shared[[64]int32](t)
	i := t.ThreadIdx.X
	tile[i] = x[i*n] // FAILS
	t.Sync()
	out[i] = tile[63-i]
}

//quern:kernel block=64
func awaited(t kernel.Thread, n int, x, out []int32) {
	if t.ThreadIdx.X == 0 {
		kernel.StoreRelease(&out[0], x[64*n-64]) // FAILS
	}
	for kernel.LoadAcquire(&out[0]) == 0 {
	}
}

//quern:unchecked
func read(tile *[64]int32, i int) int32 { return tile[i] }

//quern:kernel block=64
func astray(t kernel.Thread, n int, x, out []int32) {
	tile := kernel.Shared[[64]int32](t)
	i := t.ThreadIdx.X
	tile[i] = 1 << 20
	t.Sync()
	if i == 0 {
		tile[1] = x[64*n-64] // FAILS
	}
	t.Sync()
	out[i] = read(tile, int(tile[1]))
}
`

func TestAFailedCheckIsReportedRatherThanItsConsequences(t *testing.T) {
	for _, c := range []struct {
		kernel, device string
		line           int
		thread         Dim3
		index          int64
	}{
		{"unwritten", "sim", 9, Dim3{X: 32}, 64},
		{"unwritten", "cpu", 9, Dim3{X: 32}, 64},
		{"awaited", "sim", 17, Dim3{}, 64},
		{"astray", "sim", 33, Dim3{}, 64},
		{"astray", "cpu", 33, Dim3{}, 64},
	} {
		t.Run(c.kernel+" "+c.device, func(t *testing.T) {
			d := must[*Device](t)(Open(Config{Device: c.device, Sim: SimOptions{Steps: 1 << 20}}))
			defer d.Close()
			s := d.DefaultStream()
			k := must[*Kernel](t)(d.Compile(t.Context(), consequencesSource, c.kernel))
			host := make([]int32, 64)
			for i := range host {
				host[i] = 1
			}
			x, out := must[*Buffer[int32]](t)(Upload(s, host)), must[*Buffer[int32]](t)(Upload(s, make([]int32, 64)))
			defer x.Close()
			defer out.Close()
			grid := Blocks(Dim3{X: 1}, Dim3{X: 64})
			if err := k.Launch(s, grid, 2, x, out); err != nil {
				t.Fatal(err)
			}
			err := s.Synchronize(context.Background())
			ke, ok := errors.AsType[*KernelError](err)
			if !ok || ke.Kind != OutOfRange || ke.Line != c.line || ke.Thread != c.thread || ke.Index != c.index {
				t.Fatalf("got %v, want index %d out of range in line %d, thread %v", err, c.index, c.line, c.thread)
			}
			if err := k.Launch(s, grid, 1, x, out); err != nil {
				t.Fatal(err)
			}
			if err := s.Synchronize(context.Background()); err != nil {
				t.Errorf("a good launch behind it returned %v", err)
			}
		})
	}
}
