package gpu

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"quern.dev/internal/driver/cuda/fakecuda"
)

// lagging opens a device whose streams do their work as late as allowed, so that
// missing ordering is detected.
func lagging(t *testing.T, seed uint64, test func(d *Device)) {
	t.Helper()
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	lib.Lag = rand.New(rand.NewPCG(seed, 3))
	test(d)
	do(t, d.Close())
	if left := lib.Left(); left != "" {
		t.Errorf("left in the driver: %s", left)
	}
}

func TestFunctionsSeeEarlierWorkAndLaterWorkSeesThem(t *testing.T) {
	k := NewKernel(saxpyInfo)
	for seed := range uint64(20) {
		lagging(t, seed, func(d *Device) {
			s := must[*Stream](t)(d.NewStream(context.Background()))
			host := must[*HostBuffer[float32]](t)(AllocHost[float32](d, 1))
			x := upload(t, s, float32(1))
			want := float32(1)
			for i := range 10 {
				err := errors.Join(
					launchSaxpy(k, s, Linear(1), 1, 1, x, x), // doubles
					CopyOutAsync(s, host, x),
					s.Call(func() error {
						if got := host.Data()[0]; got != 2*want {
							t.Errorf("seed %d: function %d reads %v, want %v", seed, i, got, 2*want)
						}
						host.Data()[0]++
						want = 2*want + 1
						return nil
					}),
					CopyInAsync(s, x, host))
				do(t, err)
			}
			do(t, s.Synchronize(context.Background()))
			if got := download(t, s, x)[0]; got != 2047 || want != 2047 {
				t.Errorf("seed %d: in the end %v, %v, want 2047", seed, got, want)
			}
			closeAll(t, x, host, s)
		})
	}
}

func TestStreamsThatGoOnAfterOthersSeeTheirWork(t *testing.T) {
	k := NewKernel(saxpyInfo)
	for seed := range uint64(20) {
		lagging(t, seed, func(d *Device) {
			ctx := context.Background()
			streams := []*Stream{must[*Stream](t)(d.NewStream(ctx)), must[*Stream](t)(d.NewStream(ctx)), d.DefaultStream()}
			x := upload(t, d.DefaultStream(), float32(1))
			do(t, d.Synchronize(ctx))
			for i := range 10 {
				s, next := streams[i%3], streams[(i+1)%3]
				do(t, launchSaxpy(k, s, Linear(1), 1, 1, x, x))
				do(t, next.After(s))
			}
			if got := download(t, streams[10%3], x)[0]; got != 1024 {
				t.Errorf("seed %d: %v after 10 launches, want 1024", seed, got)
			}
			closeAll(t, x, streams[0], streams[1])
		})
	}
}

func TestOverlapOnStreamsThatLag(t *testing.T) {
	for seed := range uint64(10) {
		lagging(t, seed, func(d *Device) {
			a := newAdder(t, d, 4)
			i := 0
			for v, err := range Overlap(context.Background(), d, 0, upTo(50), a.work(whole)) {
				do(t, err)
				if v != float32(i+100) {
					t.Errorf("seed %d: result %d is %v", seed, i, v)
				}
				i++
			}
			a.close(t)
			k := NewKernel(saxpyInfo)
			i = 0
			for out, err := range OverlapSlices(context.Background(), d, 3, adderSize, adderSize, chunks(30), func(s *Stream, out, in *Buffer[float32]) (*Buffer[float32], error) {
				out = out.Slice(0, in.Len())
				return out, errors.Join(Zero(s, out), launchSaxpy(k, s, Linear(in.Len()), 2, in.Len(), in, out))
			}) {
				do(t, err)
				if out[0] != float32(20*i) {
					t.Errorf("seed %d: slice %d is %v", seed, i, out)
				}
				i++
			}
		})
	}
}
