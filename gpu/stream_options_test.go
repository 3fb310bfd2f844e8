package gpu

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"quern.dev/internal/driver/cuda/fakecuda"
)

func TestPrioritiesAreBroughtIntoTheRangeOfTheDevice(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		least, greatest := d.Priorities()
		if least > 0 || greatest < 0 || d.Backend() == CUDA && greatest == 0 {
			t.Errorf("priorities from %d to %d", least, greatest)
		}
		for asked, want := range map[int]int{0: 0, greatest: greatest, greatest + 1: greatest, 1 << 40: greatest, -1 << 40: least} {
			s := must[*Stream](t)(d.NewStream(context.Background(), nil, Priority(asked)))
			if got := s.Priority(); got != want {
				t.Errorf("priority %d became %d, want %d", asked, got, want)
			}
			x := upload(t, s, 1, float32(2))
			if got := download(t, s, x)[1]; got != 2 {
				t.Errorf("a stream of priority %d reads %v, want 2", asked, got)
			}
			closeAll(t, x, s)
		}
		if p := (*Stream)(nil).Priority() + d.DefaultStream().Priority(); p != 0 {
			t.Errorf("priority %d of nil and the default stream", p)
		}
	})
	if least, greatest := (*Device)(nil).Priorities(); least != 0 || greatest != 0 {
		t.Errorf("priorities from %d to %d of a nil device", least, greatest)
	}
}

func TestTheDriverHasTheOtherSign(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	s := must[*Stream](t)(d.NewStream(context.Background(), Priority(3)))
	if got := lib.StreamPriorities(); !slices.Equal(got, []int{-3}) {
		t.Errorf("the driver has priorities %v", got)
	}
	closeAll(t, s, d)
}

func TestADriverWithoutPrioritiesMakesPlainStreams(t *testing.T) {
	lib := fakecuda.New(1)
	lib.Missing = map[string]bool{"cuStreamCreateWithPriority": true}
	d := openFake(t, lib)
	s := must[*Stream](t)(d.NewStream(context.Background(), Priority(3)))
	if s.Priority() != 0 {
		t.Errorf("priority %d", s.Priority())
	}
	closeAll(t, s, d)
}

func TestAStreamGoesOnAfterAnother(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		ctx := context.Background()
		s, other := d.DefaultStream(), must[*Stream](t)(d.NewStream(ctx))
		x, y := upload(t, s, ramp(64)...), upload(t, s, ramp(64)...)
		do(t, s.Synchronize(ctx))
		for range 10 {
			do(t, launchSaxpy(k, other, Linear(64), 1, 64, x, y))
			do(t, s.After(other))
			do(t, launchSaxpy(k, s, Linear(64), 1, 64, x, y))
			do(t, other.After(s))
		}
		if got := download(t, other, y)[1]; got != 21 {
			t.Errorf("after 20 launches on two streams in turn: %v, want 21", got)
		}
		foreign := must[*Device](t)(Open(Config{Device: "cpu"}))
		closed := must[*Stream](t)(d.NewStream(ctx))
		closeAll(t, closed)
		for _, test := range []struct {
			name string
			err  error
			is   error
			want string
		}{
			{"after a stream of another device", s.After(foreign.DefaultStream()), ErrInvalid, "gpu: wait for stream: stream is of another "},
			{"after nothing", s.After(nil), ErrInvalid, "gpu: wait for stream: stream is nil"},
			{"after a closed stream", s.After(closed), ErrClosed, "gpu: wait for stream: stream is closed"},
			{"a closed stream after another", closed.After(s), ErrClosed, "gpu: wait for stream: stream is closed"},
		} {
			if !errors.Is(test.err, test.is) || !strings.Contains(test.err.Error(), test.want) {
				t.Errorf("%s: %v, want %q", test.name, test.err, test.want)
			}
		}
		closeAll(t, x, y, other, foreign)
	})
}
