package language

import (
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

func TestActorsKeepTheirState(t *testing.T) {
	messages := make([]samples, 5)
	for i := range messages {
		copy(messages[i].Values[:], small[float32](64-i))
	}
	var want, out summary
	for i := range messages {
		kernel.Each(kernel.Dim3{X: 1}, kernel.Dim3{X: 64}, func(th kernel.Thread) { summarise(th, &want, &messages[i], &out) })
	}
	if want != out || want.Count != 5*64 || want.Sum == 0 {
		t.Fatalf("plain Go gives %v, and replies %v", want, out)
	}
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		if got, err := summaryOf(t.Context(), d, messages); err != nil || got != want {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	})
}
