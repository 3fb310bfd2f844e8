package output

import (
	"context"
	"errors"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

func TestFailedAssertionIsKernelError(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		x := gputest.Upload(t, d, []int32{1, 2, -3, 4})
		out := gputest.Upload(t, d, make([]int32, 4))
		if err := LaunchAsserted(d.DefaultStream(), gpu.Linear(4), x, out); err != nil {
			t.Fatal(err)
		}
		err := d.Synchronize(context.Background())
		e, ok := errors.AsType[*gpu.KernelError](err)
		if !ok {
			t.Fatalf("the launch ended with %v, want a KernelError", err)
		}
		if e.Kind != gpu.Panic || e.Reason != "panic: assertion failed: the input is not negative" || e.Thread.X != 2 || e.Line != 10 {
			t.Errorf("got %v", e)
		}
	})
}
