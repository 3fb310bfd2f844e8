package gpu

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestWorkOutsideABodyIsNotRecordedWithinIt(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		ctx := context.Background()
		s, side := d.DefaultStream(), must[*Stream](t)(d.NewStream(ctx))
		event := must[*Event](t)(d.NewEvent())
		x, flag := upload(t, s, ramp(8)...), upload(t, s, uint32(0))
		_, inner := captured(t, d, func(s *Stream) error { return Zero(s, x) })
		tests := []struct {
			name string
			use  func(s, in *Stream) error
		}{
			{"a fill on the stream", func(s, _ *Stream) error { return Fill(s, x, 77) }},
			{"a graph on the stream", func(s, _ *Stream) error { return inner.Launch(s) }},
			{"an event of the stream", func(s, _ *Stream) error { return s.Record(event) }},
			{"a condition on the stream", func(s, _ *Stream) error {
				return While(s, flag, func(in *Stream) error { return Zero(in, x) })
			}},
			{"a fill on the stream by another goroutine", func(s, _ *Stream) error {
				filled := make(chan error)
				go func() { filled <- Fill(s, x, 77) }()
				return <-filled
			}},
			{"a fill on a stream that joined before", func(*Stream, *Stream) error { return Fill(side, x, 77) }},
			{"a fill on the stream in a body within the body", func(s, in *Stream) error {
				return If(in, flag, func(*Stream) error { return Fill(s, x, 77) })
			}},
			{"a fill on the outer body's stream in a body within", func(_, in *Stream) error {
				return If(in, flag, func(*Stream) error { return Fill(in, x, 77) })
			}},
		}
		for _, test := range tests {
			var refused error
			g := must[*Graph](t)(d.Capture(func(s *Stream) error {
				return errors.Join(
					side.After(s),
					If(s, flag, func(in *Stream) error {
						refused = test.use(s, in)
						return Fill(in, x, 5)
					}),
					Fill(s, x, 3), // the stream continues
					Fill(side, x, 4))
			}))
			if !errors.Is(refused, ErrInvalid) || !strings.Contains(refused.Error(), "the body of a condition is being recorded; use its stream") {
				t.Errorf("%s: %v", test.name, refused)
			}
			if got := len(g.Nodes()); got != 4 { // and an empty node that joins both
				t.Errorf("%s: nodes %v", test.name, g.Nodes())
			}
		}
		closeAll(t, inner, side, event, x, flag)
	})
}

func TestAStreamRecordsAgainAfterABodyThatPanics(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		x, flag := upload(t, s, ramp(8)...), upload(t, s, uint32(0))
		_, e := captured(t, d, func(s *Stream) error {
			func() {
				defer func() { recover() }()
				If(s, flag, func(*Stream) error { panic("stop") })
			}()
			return Fill(s, x, 6)
		})
		do(t, e.Launch(s))
		if got := download(t, s, x)[0]; got != 6 {
			t.Errorf("got %v, want 6", got)
		}
		closeAll(t, e, x, flag)
	})
}

func TestOtherStreamsJoinABody(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s, side := d.DefaultStream(), must[*Stream](t)(d.NewStream(context.Background()))
		x, y, flag := upload(t, s, ramp(8)...), upload(t, s, ramp(8)...), upload(t, s, uint32(0))
		_, e := captured(t, d, func(s *Stream) error {
			return If(s, flag, func(in *Stream) error {
				return errors.Join(side.After(in), Fill(side, x, 5), Fill(in, y, 6), in.After(side))
			})
		})
		for _, holds := range []uint32{0, 1} {
			do(t, Zero(s, x))
			do(t, Zero(s, y))
			do(t, Fill(s, flag, holds))
			do(t, e.Launch(s))
			if a, b := download(t, s, x)[7], download(t, s, y)[7]; a != 5*float32(holds) || b != 6*float32(holds) {
				t.Errorf("with the condition %d: %v and %v", holds, a, b)
			}
		}
		closeAll(t, e, side, x, y, flag)
	})
}

// TestAnotherGoroutineRecordsWhileABodyIs records on a stream that joined before,
// from a goroutine that does not record the body.
func TestAnotherGoroutineRecordsWhileABodyIs(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s, side := d.DefaultStream(), must[*Stream](t)(d.NewStream(context.Background()))
		x, flag := upload(t, s, ramp(8)...), upload(t, s, uint32(0))
		_, e := captured(t, d, func(s *Stream) error {
			return errors.Join(
				side.After(s),
				If(s, flag, func(in *Stream) error {
					recorded := make(chan error)
					go func() { recorded <- Fill(side, x, 8) }()
					return errors.Join(<-recorded, Zero(in, flag))
				}),
				s.After(side))
		})
		do(t, e.Launch(s))
		if got := download(t, s, x)[0]; got != 8 {
			t.Errorf("got %v, want 8", got)
		}
		closeAll(t, e, side, x, flag)
	})
}
