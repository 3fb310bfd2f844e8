package ringbench

import (
	"fmt"
	"testing"

	"quern.dev/gpu"
	"quern.dev/internal/driver/cuda"
	"quern.dev/internal/driver/cuda/fakecuda"
)

func TestPausesAreMeasuredPerCause(t *testing.T) {
	lib := fakecuda.New(1)
	lib.Blocks = 32
	t.Cleanup(cuda.Substitute(lib))
	c := &Checker{Device: open(t, gpu.CUDA)}
	for i, d := range disturbances(t.Context(), c.Device, 3, 3) {
		c.Figures = nil
		if err := c.disturb(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		want := []int{0, 0, 3, 3, 3}[i]
		last := c.Figures[len(c.Figures)-1]
		if last.Name != fmt.Sprintf("pauses for %d times %s", d.times, d.name) || last.Value != float64(want) {
			t.Errorf("%+v, want %d", last, want)
		}
		goals := 0
		for _, f := range c.Figures {
			if f.Goal != nil {
				goals++
			}
		}
		if lines := 2 * min(want, 1); goals != lines {
			t.Errorf("%s: %d lines have a goal, want %d", d.name, goals, lines)
		}
	}
}
