package gpu

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"quern.dev/internal/driver/cuda/fakecuda"
)

const specialSource = `package p

import "quern.dev/kernel"

//quern:kernel specialise=n:1,2
func special(t kernel.Thread, n int32, x []int32) {
	for range n {
		x[0]++
	}
}
`

func TestAClosedKernelIsRefused(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		k := NewKernel(saxpyInfo)
		s := d.DefaultStream()
		x := upload(t, s, ramp(8)...)
		do(t, launchSaxpy(k, s, Linear(8), 1, 8, x, x))
		closeAll(t, k, k)
		unused := NewKernel(saxpyInfo)
		do(t, unused.Close())
		for doing, err := range map[string]error{
			"launch":       launchSaxpy(k, s, Linear(8), 1, 8, x, x),
			"prepare":      k.Prepare(d),
			"resources of": second(k.Resources(d)),
			"occupancy of": second(k.Occupancy(d, Dim3{X: 32}, 0)),
			"layout of":    func() error { _, _, err := k.Layout(d, Linear(8)); return err }(),
			"prepare ":     unused.Prepare(d),
		} {
			if want := "gpu: " + strings.TrimSpace(doing) + " saxpy: kernel is closed"; !errors.Is(err, ErrClosed) || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		}
		again := NewKernel(saxpyInfo)
		do(t, launchSaxpy(again, s, Linear(8), 1, 8, x, x))
		if got := download(t, s, x); got[7] != 28 {
			t.Errorf("computed %v", got)
		}
		closeAll(t, x, (*Kernel)(nil), new(Kernel))
	})
}

func TestClosingAKernelUnloadsItFromAllDevices(t *testing.T) {
	lib := fakecuda.New(2)
	withCUDA(t, lib)
	a, b := must[*Device](t)(Open(Config{Device: "cuda:0"})), must[*Device](t)(Open(Config{Device: "cuda:1"}))
	c := must[*Device](t)(Open(Config{Device: "cpu"}))
	all := []*Device{a, b, c}
	before := lib.Left()
	for range 3 {
		plain := NewKernel(saxpyInfo)
		special := must[*Kernel](t)(a.Compile(t.Context(), specialSource, ""))
		for _, d := range all {
			do(t, errors.Join(plain.Prepare(d), special.Prepare(d)))
		}
		if lib.Left() == before {
			t.Fatal("nothing was loaded")
		}
		closeAll(t, plain, special)
		if left := lib.Left(); left != before {
			t.Errorf("in the driver: %s, before %s", left, before)
		}
	}
	for _, d := range all {
		if len(d.loaded) > 0 {
			t.Errorf("%s remembers %d kernels", d.ID(), len(d.loaded))
		}
		d.kernels.Range(func(any, any) bool { t.Error(d.ID() + " keeps a kernel"); return false })
	}
	kept := NewKernel(saxpyInfo) // like a package-level variable, which outlives its devices
	do(t, errors.Join(kept.Prepare(a), kept.Prepare(c)))
	closeAll(t, a, b, c)
	if left := lib.Left(); left != "" {
		t.Errorf("left in the driver: %s", left)
	}
	if len(kept.places) > 0 {
		t.Error("the kernel keeps devices that are closed")
	}
	do(t, kept.Close())
}

func TestLaunchesWhileTheKernelIsClosed(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		x := upload(t, s, ramp(8)...)
		for range 20 {
			k := NewKernel(saxpyInfo)
			var group sync.WaitGroup
			launched := make(chan struct{}, 1)
			for range 3 {
				group.Go(func() {
					for {
						err := launchSaxpy(k, s, Linear(8), 0, 8, x, x)
						if errors.Is(err, ErrClosed) {
							return
						}
						if err != nil {
							t.Error(err)
							return
						}
						select {
						case launched <- struct{}{}:
						default:
						}
					}
				})
			}
			<-launched
			do(t, k.Close())
			group.Wait()
		}
		if len(d.loaded) > 0 {
			t.Errorf("%d kernels are remembered", len(d.loaded))
		}
		closeAll(t, x)
	})
}

func TestGraphsAndCallsKeepTheirKernel(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		k := NewKernel(saxpyInfo)
		s := d.DefaultStream()
		x, y := upload(t, s, ramp(8)...), upload(t, s, ramp(8)...)
		g, e := captured(t, d, func(s *Stream) error { return launchSaxpy(k, s, Linear(8), 1, 8, x, y) })
		do(t, k.Close())
		do(t, e.Launch(s))
		if got := download(t, s, y); got[7] != 14 {
			t.Errorf("computed %v", got)
		}
		if _, err := g.Instantiate(); !errors.Is(err, ErrClosed) || err.Error() != "gpu: instantiate graph: kernel saxpy: kernel is closed" {
			t.Errorf("instantiating it again: %v", err)
		}
		if len(d.loaded) == 0 {
			t.Error("the kernel of a graph was unloaded")
		}
		do(t, e.Close())
		if len(d.loaded) > 0 {
			t.Error("the kernel stays")
		}
		closeAll(t, x, y)
	})
	d := must[*Device](t)(Open(Config{Device: "cpu"}))
	k := NewKernel(saxpyInfo)
	x := upload(t, d.DefaultStream(), ramp(8)...)
	l := must[*Launch](t)(k.Begin(d.DefaultStream(), Blocks(Dim3{X: 1}, Dim3{X: 8})))
	Arg(l, float32(1))
	Arg(l, 8)
	SliceArg(l, x)
	SliceArg(l, x)
	c := must[*InlineLaunch](t)(l.Inline())
	do(t, errors.Join(k.Close(), c.Run()))
	c.Close()
	if len(d.loaded) > 0 {
		t.Error("the kernel stays after the call")
	}
	closeAll(t, x, d)
}

func TestFaultsAndMessagesOfAClosedKernelAreReported(t *testing.T) {
	withCUDA(t, fakecuda.New(1))
	for _, id := range []string{"cpu", "sim", "cuda:0"} {
		t.Run(id, func(t *testing.T) {
			var printed bytes.Buffer
			d := must[*Device](t)(Open(Config{Device: id, Output: &printed}))
			s, other := d.DefaultStream(), NewKernel(saxpyInfo)
			k := must[*Kernel](t)(d.Compile(t.Context(), helloSource, ""))
			x := upload(t, s, int32(1))
			do(t, k.Launch(s, Blocks(Dim3{X: 1}, Dim3{X: 1}), 2, x))
			do(t, k.Close())
			do(t, other.Prepare(d))
			fault, ok := errors.AsType[*KernelError](s.Synchronize(t.Context()))
			if !ok || fault.Kernel != "hello" || fault.Kind != OutOfRange || fault.Line != 8 || fault.Index != 1 {
				t.Errorf("got %v", fault)
			}
			if got := printed.String(); got != "0 true x\n" {
				t.Errorf("printed %q", got)
			}
			closeAll(t, x, d)
		})
	}
}

func TestClosingAKernelDuringOtherWork(t *testing.T) {
	lib := fakecuda.New(1)
	d, w := withResident(t, lib)
	k := NewKernel(saxpyInfo)
	do(t, k.Prepare(d))
	*w = watcher{}
	do(t, k.Close())
	if w.quiesced == 0 || w.quiesced != w.resumed {
		t.Errorf("a resident was quiesced %d times, resumed %d times", w.quiesced, w.resumed)
	}
	k = NewKernel(saxpyInfo)
	do(t, k.Prepare(d))
	*w = watcher{refuses: errors.New("does not return")}
	if err := k.Close(); !errors.Is(err, w.refuses) || !strings.HasPrefix(err.Error(), "gpu: close kernel saxpy: does not return") {
		t.Errorf("while a persistent kernel does not end: %v", err)
	}
	*w = watcher{}
	d.RemovePersistent(w)
	nothingLeft(t, lib, d)
}

func TestAFunctionOfAStreamCannotCloseAKernelOfItsDevice(t *testing.T) {
	d := must[*Device](t)(Open(Config{Device: "cpu"}))
	k, s := NewKernel(saxpyInfo), d.DefaultStream()
	do(t, k.Prepare(d))
	var err error
	do(t, s.Call(func() error { err = k.Close(); return nil }))
	if !errors.Is(err, ErrInvalid) || !strings.HasPrefix(fmt.Sprint(err), "gpu: close kernel saxpy: the stream is waiting for the function") {
		t.Errorf("got %v", err)
	}
	closeAll(t, k, d)
}
