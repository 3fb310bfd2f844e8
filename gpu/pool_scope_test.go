package gpu

import (
	"errors"
	"testing"
)

func TestScopesCloseWhatTheyAcquired(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s, p := d.DefaultStream(), d.Pool()
		failed := errors.New("failed")
		var kept *Buffer[int]
		var scope *Scope
		err := p.Scope(s, func(in *Scope) error {
			scope = in
			for range 3 {
				b := must[*Buffer[int]](t)(AcquireIn[int](in, 10))
				do(t, Fill(s, b, 7))
				if got := download(t, s, b); got[9] != 7 {
					t.Errorf("read %v", got)
				}
				kept = b
			}
			do(t, kept.Close()) // closing early is allowed
			if n := p.Stats().Buffers; n != 2 {
				t.Errorf("%d buffers in use", n)
			}
			return failed
		})
		if err != failed && !errors.Is(err, failed) {
			t.Errorf("got %v", err)
		}
		if err := Zero(s, kept); !errors.Is(err, ErrClosed) {
			t.Errorf("a buffer of a scope that has ended: %v", err)
		}
		if _, err := AcquireIn[int](scope, 1); !errors.Is(err, ErrClosed) {
			t.Errorf("a scope that has ended: %v", err)
		}
		if st := p.Stats(); st.Buffers != 0 {
			t.Errorf("left %+v", st)
		}
	})
}

func TestScopesCloseWhenTheFunctionPanics(t *testing.T) {
	d := must[*Device](t)(Open(Config{Device: "cpu"}))
	defer func() {
		if recover() == nil {
			t.Error("the panic is gone")
		}
		do(t, d.Close()) // no leak
	}()
	d.Pool().Scope(d.DefaultStream(), func(in *Scope) error {
		must[*Buffer[int]](t)(AcquireIn[int](in, 10))
		panic("out")
	})
}

func TestBadScopeCallsNameTheMistake(t *testing.T) {
	d := must[*Device](t)(Open(Config{Device: "cpu"}))
	p, s := d.Pool(), d.DefaultStream()
	inScope := func(s *Stream, n int) error {
		return p.Scope(s, func(in *Scope) error { return second(AcquireIn[int](in, n)) })
	}
	for _, test := range []struct {
		name, want string
		err        error
	}{
		{"no pool", "gpu: scope: pool is nil", (*Pool)(nil).Scope(s, func(*Scope) error { return nil })},
		{"no function", "gpu: scope: no function to call", p.Scope(s, nil)},
		{"no stream", "gpu: acquire in scope: stream is nil", inScope(nil, 1)},
		{"a negative length", "gpu: acquire in scope: negative length -1", inScope(s, -1)},
		{"no scope", "gpu: acquire in scope: scope was not made by Pool.Scope", second(AcquireIn[int](nil, 1))},
	} {
		if test.err == nil || test.err.Error() != test.want || !errors.Is(test.err, ErrInvalid) {
			t.Errorf("%s: %v, want %q", test.name, test.err, test.want)
		}
	}
	do(t, d.Close())
}
