package memory

import (
	"context"
	"errors"
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

func line(blocks, threads int) gpu.Grid {
	return gpu.Blocks(gpu.Dim3{X: blocks}, gpu.Dim3{X: threads})
}

func each(blocks, threads int, body func(kernel.Thread)) {
	kernel.Each(kernel.Dim3{X: blocks}, kernel.Dim3{X: threads}, body)
}

func TestAsyncCopies(t *testing.T) {
	longs, bytes := make([]int64, 128), make([]uint8, 16*32+8)
	for i := range longs {
		longs[i] = int64(i*i) << 20
	}
	for i := range bytes {
		bytes[i] = uint8(i * 13)
	}
	samples := make([]sample, 33)
	for i := range samples {
		samples[i] = sample{[3]int16{int16(i), int16(-i), int16(3 * i)}, uint16(i * i)}
	}
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		floats := numbers[float32](128)
		want := make([]float64, 128)
		each(2, 64, func(th kernel.Thread) { words(th, floats, longs, want) })
		out := gputest.Upload(t, d, make([]float64, 128))
		launched(t, LaunchWords(s, line(2, 64), gputest.Upload(t, d, floats), gputest.Upload(t, d, longs), out))
		gputest.Equal(t, gputest.Download(t, d, out), want)

		for _, tiles := range []int{0, 1, 2, 3, 7} {
			a := numbers[float32](max(2*tiles*256, 1))
			want := make([]float32, 128)
			each(2, 64, func(th kernel.Thread) { pipeline(th, tiles, a, want) })
			out := gputest.Upload(t, d, make([]float32, 128))
			launched(t, LaunchPipeline(s, line(2, 64), tiles, gputest.Upload(t, d, a), out))
			gputest.Equal(t, gputest.Download(t, d, out), want)
		}

		for _, offset := range []int{0, 8, 4, 1} {
			want := make([]int32, 32)
			kernel.EachDynamic(kernel.Dim3{X: 1}, kernel.Dim3{X: 32}, 512, func(th kernel.Thread) {
				anyAlignment(th, offset, samples, bytes, want)
			})
			out := gputest.Upload(t, d, make([]int32, 32))
			launched(t, LaunchAnyAlignment(s, line(1, 32).Shared(512), offset, gputest.Upload(t, d, samples), gputest.Upload(t, d, bytes), out))
			gputest.Equal(t, gputest.Download(t, d, out), want)
		}
	})
}

func TestSliceShorterThanArrayFaults(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		a, out := gputest.Upload(t, d, numbers[int32](6)), gputest.Upload(t, d, make([]int32, 6))
		launched(t, LaunchTooShort(d.DefaultStream(), line(1, 3), a, out))
		if err := d.DefaultStream().Synchronize(context.Background()); err != nil {
			t.Fatal(err)
		}
		launched(t, LaunchTooShort(d.DefaultStream(), line(1, 4), a, out))
		fault, ok := errors.AsType[*gpu.KernelError](d.DefaultStream().Synchronize(context.Background()))
		if !ok || fault.Kind != gpu.OutOfRange || fault.Index != 4 || fault.Length != 3 || fault.Thread.X != 3 {
			t.Errorf("got %v, want 4 of 3 elements in thread 3", fault)
		}
	})
}

func TestSimulatorDetectsMisusedCopies(t *testing.T) {
	d := gputest.Open(t, gpu.Config{Device: "sim"})
	type launcher = func(*gpu.Stream, gpu.Grid, *gpu.Buffer[int32], *gpu.Buffer[int32]) error
	for _, test := range []struct {
		name   string
		launch launcher
		kind   gpu.FaultKind
		want   string
	}{
		{"a missing wait", LaunchForgotWait, gpu.Uninitialized, "is the wait for it missing"},
		{"a missing commit", LaunchForgotCommit, gpu.Uninitialized, "or an AsyncCommit or a barrier before it?"},
		{"a missing barrier", LaunchForgotSync, gpu.Uninitialized, "is a t.Sync() missing?"},
		{"a destination in use", LaunchOverwrites, gpu.DataRace, "data race in shared memory"},
		{"a missing wait for a bulk copy", LaunchForgotBulkWait, gpu.Uninitialized, "an asynchronous copy is still to write"},
		{"a bulk copy to what is in use", LaunchOverwritesInUse, gpu.Uninitialized, "or a barrier before it?"},
	} {
		a, out := gputest.Upload(t, d, numbers[int32](32)), gputest.Upload(t, d, make([]int32, 32))
		launched(t, test.launch(d.DefaultStream(), line(1, 32), a, out))
		err := d.DefaultStream().Synchronize(context.Background())
		fault, ok := errors.AsType[*gpu.KernelError](err)
		if !ok || fault.Kind != test.kind || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %v: %s", test.name, err, test.kind, test.want)
		}
	}
}
