package gpu

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"quern.dev/internal/driver/cuda/fakecuda"
)

// adder is the work of the lanes in a test: it adds 100 to each element with saxpy,
// in chunks of 4.
type adder struct {
	k     *Kernel
	ones  *Buffer[float32]
	lanes []adderLane
}

type adderLane struct {
	in, out *HostBuffer[float32]
	x       *Buffer[float32]
}

const adderSize = 4

func newAdder(t *testing.T, d *Device, lanes int) *adder {
	t.Helper()
	a := &adder{k: NewKernel(saxpyInfo), ones: upload(t, d.DefaultStream(), 1, float32(1), 1, 1)}
	do(t, d.Synchronize(context.Background()))
	for range lanes {
		a.lanes = append(a.lanes, adderLane{
			must[*HostBuffer[float32]](t)(AllocHost[float32](d, adderSize)),
			must[*HostBuffer[float32]](t)(AllocHost[float32](d, adderSize)),
			must[*Buffer[float32]](t)(Alloc[float32](d, adderSize)),
		})
	}
	return a
}

// work launches with n = adderSize elements, or with more, which is a fault.
func (a *adder) work(n func(item int) int) func(*Stream, int, int) (func() (float32, error), error) {
	return func(s *Stream, lane, item int) (func() (float32, error), error) {
		l := a.lanes[lane]
		for i := range l.in.Data() {
			l.in.Data()[i] = float32(item)
		}
		err := errors.Join(
			CopyInAsync(s, l.x, l.in),
			launchSaxpy(a.k, s, Linear(8), 100, n(item), a.ones, l.x),
			CopyOutAsync(s, l.out, l.x))
		return func() (float32, error) { return l.out.Data()[adderSize-1], nil }, err
	}
}

func whole(int) int { return adderSize }

func (a *adder) close(t *testing.T) {
	t.Helper()
	closeAll(t, a.ones)
	for _, l := range a.lanes {
		closeAll(t, l.in, l.out, l.x)
	}
}

// upTo yields 0 to n-1.
func upTo(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// onlyDefault checks that the pipeline's streams are closed.
func onlyDefault(t *testing.T, d *Device) {
	t.Helper()
	if n := len(d.openStreams()); n != 1 {
		t.Errorf("%d streams are open, want the default one", n)
	}
}

func TestOverlapYieldsResultsInOrder(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		a := newAdder(t, d, 5)
		for _, test := range []struct{ lanes, items int }{{1, 7}, {2, 1}, {3, 3}, {0, 50}, {4, 0}, {5, 23}} {
			var got []float32
			for v, err := range Overlap(context.Background(), d, test.lanes, upTo(test.items), a.work(whole)) {
				do(t, err)
				got = append(got, v)
			}
			want := make([]float32, test.items)
			for i := range want {
				want[i] = float32(i + 100)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d items on %d lanes: %v", test.items, test.lanes, got)
			}
			onlyDefault(t, d)
		}
		a.close(t)
	})
}

func TestOverlapKeepsEveryLaneAtWork(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		var log []string
		work := func(s *Stream, lane, item int) (func() (int, error), error) {
			log = append(log, fmt.Sprintf("begin %d on %d", item, lane))
			return func() (int, error) { return item, nil }, nil
		}
		for item, err := range Overlap(context.Background(), d, 2, upTo(4), work) {
			do(t, err)
			log = append(log, fmt.Sprint("end ", item))
		}
		want := "begin 0 on 0, begin 1 on 1, end 0, begin 2 on 0, end 1, begin 3 on 1, end 2, end 3"
		if got := strings.Join(log, ", "); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

func TestOverlapEndsWithTheFirstErrorAfterTheResultsBefore(t *testing.T) {
	mistake := errors.New("no such file")
	tests := []struct {
		name string
		n    func(int) int // elements that the kernel adds to
		work error         // of item 5
		end  error         // of the result of item 5
		is   func(error) bool
	}{
		{"a kernel that fails", func(item int) int { return adderSize + item/5 }, nil, nil, func(err error) bool {
			_, ok := errors.AsType[*KernelError](err)
			return ok
		}},
		{"work that fails", whole, mistake, nil, func(err error) bool { return errors.Is(err, mistake) }},
		{"a result that fails", whole, nil, mistake, func(err error) bool { return errors.Is(err, mistake) }},
	}
	everyDevice(t, func(t *testing.T, d *Device) {
		a := newAdder(t, d, 4)
		for _, test := range tests {
			work := func(s *Stream, lane, item int) (func() (float32, error), error) {
				result, err := a.work(test.n)(s, lane, item)
				if item == 5 {
					err = errors.Join(err, test.work)
				}
				return func() (float32, error) {
					v, err := result()
					if item == 5 {
						err = errors.Join(err, test.end)
					}
					return v, err
				}, err
			}
			var got []float32
			var failed error
			for v, err := range Overlap(context.Background(), d, 3, upTo(20), work) {
				if failed != nil {
					t.Errorf("%s: the sequence goes on after an error", test.name)
				}
				if err == nil {
					got = append(got, v)
				}
				failed = err
			}
			if !test.is(failed) || len(got) != 5 {
				t.Errorf("%s: error %v after %v", test.name, failed, got)
			}
			onlyDefault(t, d)
			do(t, d.Synchronize(context.Background()))
		}
		a.close(t)
	})
}

func TestCancellingAnOverlapLeavesNothingBehind(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		goroutines := runtime.NumGoroutine()
		a := newAdder(t, d, 3)
		other := must[*Stream](t)(d.NewStream(context.Background()))
		x, y := upload(t, other, ramp(64)...), upload(t, other, ramp(64)...)
		for range 10 {
			ctx, cancel := context.WithCancel(context.Background())
			results := 0
			var failed error
			for _, err := range Overlap(ctx, d, 3, upTo(1000), a.work(whole)) {
				if failed = err; err == nil {
					results++
				}
				if results == 7 {
					cancel()
				}
			}
			cancel()
			if !errors.Is(failed, context.Canceled) || results != 7 {
				t.Errorf("error %v after %d results, want %v after 7", failed, results, context.Canceled)
			}
			do(t, launchSaxpy(a.k, other, Linear(64), 1, 64, x, y))
		}
		if got := download(t, other, y)[1]; got != 11 {
			t.Errorf("a stream next to the pipelines reads %v, want 11", got)
		}
		closeAll(t, other, x, y)
		onlyDefault(t, d)
		a.close(t)
		n := runtime.NumGoroutine()
		for until := time.Now().Add(5 * time.Second); n > goroutines && time.Now().Before(until); n = runtime.NumGoroutine() {
			time.Sleep(time.Millisecond) // they are about to end
		}
		if n > goroutines {
			t.Errorf("%d goroutines, %d before", n, goroutines)
		}
	})
}

func TestCancellingAnOverlapThatWaitsForTheDevice(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	a := newAdder(t, d, 4)
	busy := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	cancelAtThird := func(yield func(int) bool) {
		for i := range 10 {
			switch i {
			case 0:
				lib.Busy = busy
			case 3:
				cancel()
			}
			if !yield(i) {
				return
			}
		}
	}
	for v, err := range Overlap(ctx, d, 0, cancelAtThird, a.work(whole)) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, %v", v, err)
		}
		close(busy) // the streams can be closed
	}
	onlyDefault(t, d)
	a.close(t)
	closeAll(t, d)
	if left := lib.Left(); left != "" {
		t.Errorf("left in the driver: %s", left)
	}
}

func TestLeavingTheLoopOfAnOverlapWaitsForWhatWasBegun(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		a := newAdder(t, d, 4)
		for _, err := range Overlap(context.Background(), d, 0, upTo(100), a.work(whole)) {
			do(t, err)
			break
		}
		onlyDefault(t, d)
		func() {
			defer func() {
				if recover() != fs.ErrInvalid {
					t.Error("the panic of work was lost")
				}
			}()
			for range Overlap(context.Background(), d, 0, upTo(100), func(s *Stream, lane, item int) (func() (float32, error), error) {
				if item == 6 {
					panic(fs.ErrInvalid)
				}
				return a.work(whole)(s, lane, item)
			}) {
			}
		}()
		onlyDefault(t, d)
		a.close(t)
	})
}

func TestBadOverlapsNameTheMistake(t *testing.T) {
	nothing := func(*Stream, int, int) (func() (int, error), error) { return nil, nil }
	everyDevice(t, func(t *testing.T, d *Device) {
		closed := must[*Device](t)(Open(Config{Device: "cpu"}))
		do(t, closed.Close())
		cancelled, cancel := context.WithCancel(context.Background())
		cancel()
		for _, test := range []struct {
			name    string
			results iter.Seq2[int, error]
			is      error
			want    string
		}{
			{"a negative number of lanes", Overlap(context.Background(), d, -1, upTo(3), nothing), ErrInvalid, "gpu: overlap: -1 lanes"},
			{"no device", Overlap(context.Background(), nil, 1, upTo(3), nothing), ErrInvalid, "gpu: overlap: device is nil"},
			{"a closed device", Overlap(context.Background(), closed, 1, upTo(3), nothing), ErrClosed, "gpu: overlap: device cpu is closed"},
			{"no items", Overlap(context.Background(), d, 1, nil, nothing), ErrInvalid, "gpu: overlap: the items are nil"},
			{"no work", Overlap[int, int](context.Background(), d, 1, upTo(3), nil), ErrInvalid, "gpu: overlap: the function for items is nil"},
			{"a cancelled context", Overlap(cancelled, d, 1, upTo(3), nothing), context.Canceled, "gpu: overlap: new stream: context canceled"},
		} {
			n := 0
			for _, err := range test.results {
				n++
				if !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%s: %v, want %s", test.name, err, test.want)
				}
			}
			if n != 1 {
				t.Errorf("%s: %d results, want one error", test.name, n)
			}
			onlyDefault(t, d)
		}
		for v, err := range Overlap(context.Background(), d, 1, upTo(3), nothing) { // no results: zero values
			if v != 0 || err != nil {
				t.Errorf("no result: %v, %v", v, err)
			}
		}
	})
}

func TestOverlapOnADriverThatFails(t *testing.T) {
	for _, function := range []string{"cuStreamCreate", "cuStreamSynchronize", "cuMemcpyHtoDAsync_v2", "cuLaunchKernel", "cuMemcpyDtoHAsync_v2", "cuStreamDestroy_v2"} {
		t.Run(function, func(t *testing.T) {
			lib := fakecuda.New(1)
			d := openFake(t, lib)
			a := newAdder(t, d, 2)
			var failed error
			for v, err := range Overlap(context.Background(), d, 2, upTo(9), a.work(whole)) {
				failed = err
				if v == 103 {
					lib.Fail(function, fakecuda.OutOfMemory)
				}
			}
			if function == "cuStreamCreate" { // there are none left to fail
				do(t, failed)
				for _, failed = range Overlap(context.Background(), d, 2, upTo(9), a.work(whole)) {
				}
			}
			if e, ok := errors.AsType[*Error](failed); !ok || e.Code != fakecuda.OutOfMemory {
				t.Errorf("error %v", failed)
			}
			onlyDefault(t, d)
			a.close(t)
			closeAll(t, d)
			if left := lib.Left(); left != "" && function != "cuStreamDestroy_v2" {
				t.Errorf("left in the driver: %s", left)
			}
		})
	}
}

func TestADeviceIsLostInTheMiddleOfAnOverlap(t *testing.T) {
	lib := fakecuda.New(2)
	d := openFake(t, lib)
	other := must[*Device](t)(Open(Config{Device: "cuda:1"}))
	lost, kept := newAdder(t, d, 3), newAdder(t, other, 3)
	do(t, d.DefaultStream().Call(func() error { return nil }))
	do(t, d.Synchronize(context.Background()))
	results := 0
	var failed error
	for v, err := range Overlap(context.Background(), d, 3, upTo(100), lost.work(whole)) {
		if failed = err; err == nil {
			results++
		}
		if v == 105 {
			lib.Lose(0, fakecuda.LaunchFailed)
			if err := d.DefaultStream().Call(func() error { return nil }); !errors.Is(err, ErrDeviceLost) {
				t.Errorf("a call on a lost device: %v", err)
			}
		}
	}
	if !errors.Is(failed, ErrDeviceLost) || results != 6 {
		t.Errorf("error %v after %d results", failed, results)
	}
	onlyDefault(t, d)
	last := float32(0)
	for v, err := range Overlap(context.Background(), other, 3, upTo(20), kept.work(whole)) {
		do(t, err)
		last = v
	}
	if last != 119 {
		t.Errorf("the last result of the other device is %v, want 119", last)
	}
	kept.close(t)
	lost.close(t)
	if err := d.Close(); !errors.Is(err, ErrDeviceLost) {
		t.Errorf("close of the lost device: %v", err)
	}
	closeAll(t, other)
	if left := lib.Left(); left != "" {
		t.Errorf("left in the driver: %s", left)
	}
}

// chunks yields n slices of 1 to 4 elements, in memory that is reused.
func chunks(n int) iter.Seq[[]float32] {
	return func(yield func([]float32) bool) {
		chunk := make([]float32, adderSize)
		for i := range n {
			for j := range chunk {
				chunk[j] = float32(10*i + j)
			}
			if !yield(chunk[:1+i%adderSize]) {
				return
			}
		}
	}
}

func TestOverlapSlicesCopiesInAndOut(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		double := func(s *Stream, out, in *Buffer[float32]) (*Buffer[float32], error) {
			out = out.Slice(0, in.Len())
			return out, errors.Join(Zero(s, out), launchSaxpy(k, s, Linear(in.Len()), 2, in.Len(), in, out))
		}
		inPlace := func(s *Stream, _, in *Buffer[float32]) (*Buffer[float32], error) {
			return in, launchSaxpy(k, s, Linear(in.Len()), 1, in.Len(), in, in)
		}
		for _, kernel := range []func(*Stream, *Buffer[float32], *Buffer[float32]) (*Buffer[float32], error){double, inPlace} {
			i := 0
			for out, err := range OverlapSlices(context.Background(), d, 3, adderSize, adderSize, chunks(11), kernel) {
				do(t, err)
				if len(out) != 1+i%adderSize || out[0] != float32(20*i) || out[len(out)-1] != float32(20*i+2*(len(out)-1)) {
					t.Errorf("result %d is %v", i, out)
				}
				i++
			}
			if i != 11 {
				t.Errorf("%d results", i)
			}
			onlyDefault(t, d)
		}
		for _, test := range []struct {
			name   string
			n, m   int
			kernel func(*Stream, *Buffer[float32], *Buffer[float32]) (*Buffer[float32], error)
			want   string
		}{
			{"a slice that is too long", 2, 4, double, "gpu: overlap slices: slice of 3 elements, at most 2 are allowed"},
			{"a result that is too long", 4, 2, inPlace, "gpu: overlap slices: result of 3 elements, at most 2 are allowed"},
			{"no result", 4, 4, func(*Stream, *Buffer[float32], *Buffer[float32]) (*Buffer[float32], error) { return nil, nil }, "gpu: overlap slices: the result is nil"},
			{"no kernel", 4, 4, nil, "gpu: overlap slices: the function for items is nil"},
			{"a negative size", -1, 4, double, "gpu: overlap slices: slices of at most -1 elements; want 0 or more"},
		} {
			var failed error
			for _, failed = range OverlapSlices(context.Background(), d, 2, test.n, test.m, chunks(5), test.kernel) {
			}
			if failed == nil || failed.Error() != test.want {
				t.Errorf("%s: %v, want %s", test.name, failed, test.want)
			}
		}
		for range OverlapSlices(context.Background(), d, 2, adderSize, adderSize, chunks(5), double) {
			break
		}
		onlyDefault(t, d)
	})
}

func TestOverlapSlicesGoesOnWithoutPageLockedMemory(t *testing.T) {
	k := NewKernel(saxpyInfo)
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	n := 0
	unpinned := func(yield func([]float32) bool) {
		lib.Fail("cuMemHostAlloc", fakecuda.OutOfMemory)
		chunks(5)(yield)
	}
	for out, err := range OverlapSlices(context.Background(), d, 1, adderSize, adderSize, unpinned, func(s *Stream, _, in *Buffer[float32]) (*Buffer[float32], error) {
		return in, launchSaxpy(k, s, Linear(in.Len()), 1, in.Len(), in, in)
	}) {
		do(t, err)
		if out[0] != float32(20*n) {
			t.Errorf("result %d is %v", n, out)
		}
		n++
	}
	closeAll(t, must[*HostBuffer[float32]](t)(AllocHost[float32](d, 1)), d) // the failure has been consumed
	if left := lib.Left(); left != "" {
		t.Errorf("left in the driver: %s", left)
	}
}

// BenchmarkOverlap measures the overhead of a pipeline per item.
func BenchmarkOverlap(b *testing.B) {
	everyDeviceB(b, func(b *testing.B, d *Device) {
		nothing := func(*Stream, int, int) (func() (int, error), error) { return nil, nil }
		items := func(yield func(int) bool) {
			for b.Loop() && yield(0) {
			}
		}
		b.ReportAllocs()
		for _, err := range Overlap(context.Background(), d, 0, items, nothing) {
			do(b, err)
		}
	})
}

func TestOverlapSlicesRefusesWhatItCannotCopy(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		foreign := upload(t, d.DefaultStream(), ramp(4)...)
		type kernel = func(s *Stream, out, in *Buffer[float32]) (*Buffer[float32], error)
		in := func(_ *Stream, _, in *Buffer[float32]) (*Buffer[float32], error) { return in, nil }
		tests := []struct {
			name   string
			n, m   int
			kernel kernel
			want   string // "" for none
		}{
			{"in itself", 4, 4, in, ""},
			{"a part of in", 4, 4, func(_ *Stream, _, in *Buffer[float32]) (*Buffer[float32], error) { return in.Slice(1, 2), nil }, ""},
			{"a part of out", 4, 4, func(s *Stream, out, _ *Buffer[float32]) (*Buffer[float32], error) {
				return out.Slice(1, 3).Slice(0, 1), Zero(s, out)
			}, ""},
			{"another buffer", 4, 4, func(*Stream, *Buffer[float32], *Buffer[float32]) (*Buffer[float32], error) { return foreign, nil },
				"gpu: overlap slices: the result is not out, in, or a part of one of them"},
			{"a buffer that was not made", 4, 4, func(*Stream, *Buffer[float32], *Buffer[float32]) (*Buffer[float32], error) {
				return new(Buffer[float32]), nil
			}, "gpu: overlap slices: the result is not out"},
			{"results of less than nothing", 4, -1, in, "gpu: overlap slices: results of at most -1 elements; want 0 or more"},
		}
		for _, test := range tests {
			var got error
			for _, err := range OverlapSlices(context.Background(), d, 2, test.n, test.m, slices.Values([][]float32{ramp(4), ramp(3)}), test.kernel) {
				got = errors.Join(got, err)
			}
			switch {
			case test.want == "" && got != nil:
				t.Errorf("%s: %v", test.name, got)
			case test.want != "" && (!errors.Is(got, ErrInvalid) || !strings.Contains(got.Error(), test.want)):
				t.Errorf("%s: %v, want %s", test.name, got, test.want)
			}
			onlyDefault(t, d)
		}
		for _, err := range OverlapSlices(context.Background(), d, 0, 0, 0, slices.Values([][]float32{nil, {}}), in) {
			do(t, err)
		}
		closeAll(t, foreign)
	})
}
