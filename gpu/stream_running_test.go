package gpu

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"quern.dev/gpu/compiled"
	"quern.dev/internal/driver/cuda/fakecuda"
)

// named is a kernel of the fake driver that does nothing.
func named(name, pos string) *Kernel {
	return NewKernel(compiled.Kernel{
		Name: name, Pos: pos,
		Code: onlyCode(".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry " + name + "(.param .u64 fault, .param .u32 id)\n{\n\tret;\n}\n"),
	})
}

func TestAWaitThatEndsSaysWhatIsRunning(t *testing.T) {
	spin, scale := named("spin", "spin.go:12"), named("scale", "scale.go:7")
	launch := func(s *Stream, list ...*Kernel) {
		for _, k := range list {
			do(t, k.Launch(s, Linear(1)))
		}
	}
	for _, c := range []struct {
		name     string
		work     func(d *Device, s *Stream)
		kernels  []string
		launches int
		want     string
	}{
		{"one launch", func(d *Device, s *Stream) { launch(s, spin) }, []string{"kernel spin (spin.go:12)"}, 1,
			"gpu: synchronize: context deadline exceeded; kernel spin (spin.go:12) is still running"},
		{"several launches of one kernel", func(d *Device, s *Stream) { launch(s, spin, spin) }, []string{"kernel spin (spin.go:12)"}, 2,
			"gpu: synchronize: context deadline exceeded; kernel spin (spin.go:12) is still running (the last 2 launches)"},
		{"two kernels", func(d *Device, s *Stream) { launch(s, spin, scale, spin) }, []string{"kernel spin (spin.go:12)", "kernel scale (scale.go:7)"}, 3,
			"gpu: synchronize: context deadline exceeded; kernel spin (spin.go:12) is still running, or a kernel that was launched after it: kernel scale (scale.go:7)"},
		{"more launches than are remembered", func(d *Device, s *Stream) { launch(s, slices.Repeat([]*Kernel{spin}, 2*historySize)...) }, nil, 2 * historySize,
			"gpu: synchronize: context deadline exceeded; one of the last 32 launches is still running"},
		{"a graph", func(d *Device, s *Stream) {
			g := must[*Graph](t)(d.Capture(func(s *Stream) error { return errors.Join(spin.Launch(s, Linear(1)), scale.Launch(s, Linear(1))) }))
			e := must[*GraphExec](t)(g.Instantiate())
			do(t, e.Launch(s))
		}, []string{"graph with spin, scale"}, 1, "gpu: synchronize: context deadline exceeded; graph with spin, scale is still running"},
	} {
		t.Run(c.name, func(t *testing.T) {
			lib := fakecuda.New(1)
			d := openFake(t, lib)
			s := d.DefaultStream()
			launch(s, scale)
			do(t, s.Synchronize(t.Context())) // finished kernels are not named
			c.work(d, s)
			lib.Busy = make(chan struct{})
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			err := s.Synchronize(ctx)
			e, ok := errors.AsType[*RunningError](err)
			if !ok || !errors.Is(err, context.DeadlineExceeded) || err.Error() != c.want || !slices.Equal(e.Kernels, c.kernels) || e.Launches != c.launches {
				t.Errorf("got %v (%+v)", err, e)
			}
			close(lib.Busy)
			closeAll(t, d)
		})
	}
}

// An event covers the launches before it.
func TestAWaitForAnEventSaysWhatIsRunning(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	s := d.DefaultStream()
	first, second := must[*Event](t)(d.NewEvent()), must[*Event](t)(d.NewEvent())
	do(t, s.Record(first))
	do(t, named("spin", "spin.go:12").Launch(s, Linear(1)))
	do(t, s.Record(second))
	do(t, named("scale", "scale.go:7").Launch(s, Linear(1)))
	lib.Busy = make(chan struct{})
	for e, want := range map[*Event]string{
		first:  "gpu: synchronize event: context deadline exceeded",
		second: "gpu: synchronize event: context deadline exceeded; kernel spin (spin.go:12) is still running",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		if err := e.Synchronize(ctx); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		cancel()
	}
	close(lib.Busy)
	do(t, second.Synchronize(t.Context()))
	closeAll(t, first, second, d)
}
