package gpu_test

import (
	"testing"

	"quern.dev/gpu"
)

func TestStatsCountOpenAndClosedStreams(t *testing.T) {
	dev, err := gpu.Open(gpu.Config{Require: gpu.CPU})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	s, err := dev.NewStream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before := dev.Stats()
	x, err := gpu.Upload(s, make([]float32, 100))
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if err := gpu.Download(t.Context(), s, make([]float32, 100), x); err != nil {
		t.Fatal(err)
	}
	want := before
	want.Copies += 2
	want.CopiedBytes += 800
	if got := dev.Stats(); got != want {
		t.Errorf("stats = %+v, want %+v", got, want)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := dev.Stats(); got != want {
		t.Errorf("after closing the stream: %+v, want %+v", got, want)
	}
	if got := new(gpu.Device).Stats(); got != (gpu.DeviceStats{}) {
		t.Errorf("of no device: %+v", got)
	}
}
