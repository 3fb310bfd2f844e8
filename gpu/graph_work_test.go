package gpu

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestGraphsCopyFromAndToTheHost(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		const n = 16
		s := d.DefaultStream()
		in, out := must[*HostBuffer[float32]](t)(AllocHost[float32](d, n)), must[*HostBuffer[float32]](t)(AllocHost[float32](d, n))
		x, y := upload(t, s, ramp(n)...), upload(t, s, ramp(n)...)
		g, e := captured(t, d, func(s *Stream) error {
			return errors.Join(
				CopyInAsync(s, x, in),
				Zero(s, y),
				launchSaxpy(k, s, Linear(n), 2, n, x, y),
				CopyOutAsync(s, out, y),
			)
		})
		for run := range 3 {
			for i := range in.Data() {
				in.Data()[i] = float32(i + run) // the run reads it, not the recording
			}
			do(t, e.Launch(s))
			do(t, s.Synchronize(context.Background()))
			for i, v := range out.Data() {
				if want := float32(2 * (i + run)); v != want {
					t.Fatalf("run %d: element %d is %v, want %v", run, i, v, want)
				}
			}
		}
		if got := g.Nodes()[3].String(); got != "copy of 64 bytes to the host" {
			t.Errorf("the last node is a %s", got)
		}
		do(t, e.Update(g.Nodes()[0], func(s *Stream) error { return CopyInAsync(s, x, out) }))
		do(t, e.Launch(s))
		if got := download(t, s, y)[1]; got != 12 {
			t.Errorf("after the update: %v, want 12", got)
		}
		closeAll(t, in, out, e, x, y)
	})
}

func TestGraphsCopyBoxes(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		x, y := upload(t, s, ramp(24)...), upload(t, s, make([]float32, 24)...)
		from, to := Rect(1, 1, 2, 3, 6), Box{X: 1, Width: 2, Height: 3, Depth: 1, Pitch: 4}
		g, e := captured(t, d, func(s *Stream) error { return CopyBox(s, y, to, x, from) })
		do(t, e.Launch(s))
		if got, want := download(t, s, y)[:12], []float32{0, 7, 8, 0, 0, 13, 14, 0, 0, 19, 20, 0}; !slices.Equal(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
		cube := Box{Width: 2, Height: 2, Depth: 2, Pitch: 3, Rows: 4}
		do(t, e.Update(g.Nodes()[0], func(s *Stream) error { return CopyBox(s, y, Box{Width: 2, Height: 2, Depth: 2}, x, cube) }))
		do(t, e.Launch(s))
		if got, want := download(t, s, y)[:8], []float32{0, 1, 3, 4, 12, 13, 15, 16}; !slices.Equal(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
		if got := g.Nodes()[0].String(); got != "copy of a box of 24 bytes" {
			t.Errorf("the node is a %s", got)
		}
		closeAll(t, e, x, y)
	})
}

func TestBlocksThatWaitForEachOtherInAGraph(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		const n = 128
		s, side := d.DefaultStream(), must[*Stream](t)(d.NewStream(context.Background()))
		turn := must[*Kernel](t)(d.Compile(t.Context(), togetherSource, "turn"))
		fork := must[*Event](t)(d.NewEvent())
		ints := make([]int32, n)
		for i := range ints {
			ints[i] = int32(i)
		}
		x, y := upload(t, s, ints...), upload(t, s, ints...)
		four := Blocks(Dim3{X: 4}, Dim3{X: 32})
		_, e := captured(t, d, func(s *Stream) error {
			return errors.Join(
				turn.Launch(s, four, x),
				s.Record(fork), side.Wait(fork),
				turn.Launch(s, four, x), turn.Launch(side, four, y), // concurrently, if that were possible
				turn.Launch(s, four, x),
			)
		})
		for run := range 3 {
			do(t, e.Launch(s))
			want := int32(n - 1)
			if run%2 == 1 {
				want = 0
			}
			if a, b := download(t, s, x)[0], download(t, s, y)[0]; a != want || b != want {
				t.Fatalf("run %d: %d, %d, want %d", run, a, b, want)
			}
		}
		err := second(must[*Graph](t)(d.Capture(func(s *Stream) error {
			return turn.Launch(s, Blocks(Dim3{X: 1 << 20}, Dim3{X: 32}), x)
		})).Instantiate())
		if err == nil { // synchronous devices have detected it by then
			_, huge := captured(t, d, func(s *Stream) error { return turn.Launch(s, Blocks(Dim3{X: 1 << 20}, Dim3{X: 32}), x) })
			err = huge.Launch(s)
			do(t, huge.Close())
		}
		if _, ok := errors.AsType[*CooperativeLaunchError](err); !ok || !errors.Is(err, ErrInvalid) {
			t.Errorf("too many blocks for a barrier of the grid: %v", err)
		}
		closeAll(t, e, side, fork, x, y)
	})
}

func TestKernelsInAGraphPrint(t *testing.T) {
	everyDevice(t, func(t *testing.T, opened *Device) {
		var printed bytes.Buffer
		d := must[*Device](t)(Open(Config{Device: opened.ID(), Output: &printed}))
		s, other := d.DefaultStream(), must[*Stream](t)(d.NewStream(context.Background()))
		hello := must[*Kernel](t)(d.Compile(t.Context(), helloSource, "hello"))
		x := upload(t, s, int32(1), -1)
		one := Blocks(Dim3{X: 1}, Dim3{X: 1})
		_, e := captured(t, d, func(s *Stream) error { return hello.Launch(s, one, 2, x) })
		for _, stream := range []*Stream{s, other, s} {
			printed.Reset()
			do(t, e.Launch(stream))
			do(t, stream.Synchronize(context.Background()))
			if want := "0 true x\n1 false x\n"; printed.String() != want {
				t.Errorf("printed %q, want %q", printed.String(), want)
			}
		}
		printed.Reset()
		do(t, hello.Launch(s, one, 1, x))
		do(t, e.Launch(s))
		do(t, s.Synchronize(context.Background()))
		if want := "0 true x\n0 true x\n1 false x\n"; printed.String() != want {
			t.Errorf("a launch and a graph printed %q, want %q", printed.String(), want)
		}
		closeAll(t, e, other, x, d)
	})
}

func TestGraphsCallGoFunctions(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		const n = 8
		ctx := context.Background()
		s, other := d.DefaultStream(), must[*Stream](t)(d.NewStream(ctx))
		in, out := must[*HostBuffer[float32]](t)(AllocHost[float32](d, n)), must[*HostBuffer[float32]](t)(AllocHost[float32](d, n))
		x := upload(t, s, ramp(n)...)
		mistake := errors.New("mistake")
		var fail error
		g, e := captured(t, d, func(s *Stream) error {
			return errors.Join(
				CopyOutAsync(s, out, x),
				s.Call(func() error {
					for i, v := range out.Data() {
						in.Data()[i] = v + 1
					}
					return fail
				}),
				CopyInAsync(s, x, in),
				launchSaxpy(k, s, Linear(n), 1, n, x, x),
			)
		})
		for range 3 {
			do(t, e.Launch(s))
		}
		if got := download(t, s, x)[1]; got != 22 { // ((1+1)*2+1)*2+1)*2
			t.Errorf("got %v, want 22", got)
		}
		if kind := g.Nodes()[1].Kind(); kind != CallNode {
			t.Errorf("the second node is a %v", kind)
		}
		fail = mistake
		do(t, e.Launch(other))
		if err := other.Synchronize(ctx); !errors.Is(err, mistake) {
			t.Errorf("the error of the call: %v", err)
		}
		do(t, e.Update(g.Nodes()[1], func(s *Stream) error { return s.Call(func() error { panic("stop") }) }))
		do(t, e.Launch(s))
		if p, ok := errors.AsType[*PanicError](s.Synchronize(ctx)); !ok || p.Value != "stop" {
			t.Errorf("the panic of the call: %v", p)
		}
		flag := upload(t, s, uint32(1))
		err := second(d.Capture(func(s *Stream) error {
			return While(s, flag, func(s *Stream) error { return s.Call(func() error { return nil }) })
		}))
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "gpu: record while: the body contains a call of a Go function, which is not possible in conditional nodes") {
			t.Errorf("a call within a loop: %v", err)
		}
		closeAll(t, e, other, in, out, x, flag)
	})
}

func TestGraphsUseBuffersOfPools(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		x := must[*Buffer[int]](t)(Acquire[int](d.Pool(), s, 100))
		out := upload(t, s, make([]int, 100)...)
		_, e := captured(t, d, func(s *Stream) error { return errors.Join(Fill(s, x, 7), Copy(s, out, x)) })
		do(t, x.Close()) // the graph holds it
		y := must[*Buffer[int]](t)(Acquire[int](d.Pool(), s, 100))
		do(t, Fill(s, y, 9))
		do(t, e.Launch(s))
		if a, b := download(t, s, out)[99], download(t, s, y)[99]; a != 7 || b != 9 {
			t.Errorf("got %d and %d, want 7 and 9", a, b)
		}
		closeAll(t, e, y, out)
	})
}

func TestAnUploadWhileAStreamRecordsIsDoneByEachRun(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		values := []float32{1, 2, 3}
		var x *Buffer[float32]
		_, e := captured(t, d, func(s *Stream) (err error) {
			x, err = Upload(s, values)
			return err
		})
		values[0] = 9 // the earlier elements are recorded
		for range 2 {
			do(t, Zero(s, x))
			do(t, e.Launch(s))
			if got := download(t, s, x); !slices.Equal(got, []float32{1, 2, 3}) {
				t.Errorf("got %v", got)
			}
		}
		closeAll(t, e, x)
	})
}
