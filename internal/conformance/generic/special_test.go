package generic

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

func TestSpecializedFormsMatchPlainGo(t *testing.T) {
	in := numbers[float32](200)
	for _, radius := range []int{0, 1, 2, 3, widest, widest + 1, 250} {
		t.Run(fmt.Sprintf("blur of radius %d", radius), func(t *testing.T) {
			out := make([]float32, 200)
			agree(t, dim(4), dim(64), out,
				func(th kernel.Thread, out []float32) { blur(th, radius, in, out) },
				func(s *gpu.Stream, g gpu.Grid, out *gpu.Buffer[float32]) error {
					b, err := gpu.Upload(s, in)
					if err != nil {
						return err
					}
					defer b.Close()
					return LaunchBlur(s, g, radius, b, out)
				})
		})
	}
	for _, step := range []int8{-3, -2, -1, 0, 3, 64, 127} {
		for _, flip := range []bool{false, true} {
			t.Run(fmt.Sprintf("step %d, flip %t", step, flip), func(t *testing.T) {
				agree(t, dim(2), dim(64), numbers[int32](120),
					func(th kernel.Thread, x []int32) { mixed(th, step, flip, x) },
					func(s *gpu.Stream, g gpu.Grid, x *gpu.Buffer[int32]) error { return LaunchMixed(s, g, step, flip, x) })
			})
		}
	}
	for _, at := range []int{0, 1, 2, 3} {
		agree(t, dim(2), dim(64), numbers[int32](120),
			func(th kernel.Thread, x []int32) { picked(th, at, x) },
			func(s *gpu.Stream, g gpu.Grid, x *gpu.Buffer[int32]) error { return LaunchPicked(s, g, at, x) })
	}
	for _, rounds := range []uint16{0, 1, 2, 5} {
		agree(t, dim(2), dim(32), numbers[int16](64),
			func(th kernel.Thread, x []int16) { sized(th, rounds, x) },
			func(s *gpu.Stream, g gpu.Grid, x *gpu.Buffer[int16]) error { return LaunchSized(s, g, rounds, x) })
		agree(t, dim(2), dim(32), numbers[float32](64),
			func(th kernel.Thread, x []float32) { sized(th, rounds, x) },
			func(s *gpu.Stream, g gpu.Grid, x *gpu.Buffer[float32]) error { return LaunchSized(s, g, rounds, x) })
	}
}

func TestFaultsOfSpecializedForms(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		x := gputest.Upload(t, d, make([]int32, 4))
		for _, at := range []int{7, 8} { // specialized, and not
			if err := LaunchPicked(s, gpu.Linear(4), at, x); err != nil {
				t.Fatal(err)
			}
			err := s.Synchronize(context.Background())
			var fault *gpu.KernelError
			if !errors.As(err, &fault) || fault.Kind != gpu.OutOfRange || fault.Kernel != "picked" || fault.Index != int64(at) || fault.Length != 4 || !strings.Contains(err.Error(), "special.go:57") {
				t.Errorf("at %d: %v", at, err)
			}
		}
	})
}

func TestSpecializedFormsCompileAtRunTime(t *testing.T) {
	const src = `package p
import "quern.dev/kernel"
//quern:kernel specialise=n:4
func power(t kernel.Thread, n int, x []float32) {
	i := t.Global()
	v := float32(1)
	for range n { v *= x[i] }
	x[i] = v
}
`
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		k, err := d.Compile(t.Context(), src, "")
		if err != nil {
			t.Fatal(err)
		}
		resources, err := k.Resources(d)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(resources[0].Variant, "n=4 ") {
			t.Errorf("the first form is %q", resources[0].Variant)
		}
		x := gputest.Upload(t, d, []float32{2, 3})
		for _, n := range []int{4, 2} {
			if err := k.Launch(s, gpu.Blocks(dim(1), dim(2)), n, x); err != nil {
				t.Fatal(err)
			}
		}
		if got := gputest.Download(t, d, x); got[0] != 256 || got[1] != 6561 {
			t.Errorf("got %v, want [256 6561]", got)
		}
	})
}

func BenchmarkFilter(b *testing.B) {
	const n = 1 << 20
	d, err := gpu.Open(gpu.Config{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { d.Close() })
	s := d.DefaultStream()
	in, out := gputest.Upload(b, d, numbers[float32](n+16)), gputest.Upload(b, d, make([]float32, n))
	weights := gputest.Upload(b, d, numbers[float32](16))
	for _, taps := range []int{4, 5, 8, 9} {
		b.Run(fmt.Sprintf("%d taps", taps), func(b *testing.B) {
			for b.Loop() {
				if err := LaunchFiltered(s, gpu.Linear(n), taps, weights, in, out); err != nil {
					b.Fatal(err)
				}
				if err := s.Synchronize(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n)*float64(taps)*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gtaps/s")
		})
	}
}
