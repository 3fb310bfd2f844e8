package generic

import (
	"context"
	"errors"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

func TestCheckedAndUncheckedKernelFromOneSource(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		x := make([]int32, 64)
		for i := range x {
			x[i] = int32(i * i)
		}
		in, out := gputest.Upload(t, d, x), gputest.Upload(t, d, make([]int32, 60))
		for name, launch := range map[string]func(*gpu.Stream, gpu.Grid, int, *gpu.Buffer[int32], *gpu.Buffer[int32]) error{
			"checked": LaunchShiftBy, "unchecked": LaunchShiftByUnchecked,
		} {
			if err := launch(s, gpu.Linear(60), 4, in, out); err != nil {
				t.Fatal(err)
			}
			gputest.Equal(t, gputest.Download(t, d, out), x[4:], gputest.Name(name))
		}
		if err := LaunchShiftBy(s, gpu.Linear(60), 5, in, out); err != nil {
			t.Fatal(err)
		}
		fault, ok := errors.AsType[*gpu.KernelError](s.Synchronize(context.Background()))
		if !ok || fault.Kernel != "shiftBy" || fault.Kind != gpu.OutOfRange || fault.Index != 64 || fault.Length != 64 {
			t.Errorf("checked: got %v", fault)
		}
		part := in.Slice(0, 32)
		if d.Backend() != gpu.CPU { // on the CPU, Go's own checks remain
			if err := LaunchShiftByUnchecked(s, gpu.Linear(60), 4, part, out); err != nil {
				t.Fatal(err)
			}
			gputest.Equal(t, gputest.Download(t, d, out), x[4:], gputest.Name("past the slice"))
		}

		longs := gputest.Upload(t, d, []int64{1, 2, 3, 4})
		if err := LaunchScaleByUnchecked(s, gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 4}), 3, longs); err != nil {
			t.Fatal(err)
		}
		if err := LaunchScaleBy(s, gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 4}), 2, longs); err != nil {
			t.Fatal(err)
		}
		gputest.Equal(t, gputest.Download(t, d, longs), []int64{6, 12, 18, 24})
	})
}
