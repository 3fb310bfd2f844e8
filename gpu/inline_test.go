package gpu

import (
	"errors"
	"fmt"
	"testing"
)

func TestMisuseOfCalls(t *testing.T) {
	d := must[*Device](t)(Open(Config{Device: "cpu"}))
	x := upload(t, d.DefaultStream(), ramp(8)...)
	l := must[*Launch](t)(NewKernel(saxpyInfo).Begin(d.DefaultStream(), Blocks(Dim3{X: 1}, Dim3{X: 8})))
	Arg(l, float32(1))
	Arg(l, 8)
	SliceArg(l, x)
	SliceArg(l, x)
	c := must[*InlineLaunch](t)(l.Inline())
	for _, test := range []struct {
		err  error
		is   error
		want string
	}{
		{second(InlineArg[int32](c, 1)), ErrInvalid, "gpu: change argument of inline launch saxpy: have int32, want int"},
		{second(InlineArg[int](c, 4)), ErrInvalid, "gpu: change argument of inline launch saxpy: argument 4 of 4"},
		{second(InlineArg[int](c, -1)), ErrInvalid, "gpu: change argument of inline launch saxpy: argument -1 of 4"},
		{second(InlineArg[int](nil, 1)), ErrInvalid, "gpu: change argument of inline launch: inline launch is nil"},
		{(*InlineLaunch)(nil).Run(), ErrInvalid, "gpu: run inline launch: inline launch is nil"},
		{func() error { c.Close(); c.Close(); return c.Run() }(), ErrClosed, "gpu: run inline launch: inline launch is closed"},
		{second(InlineArg[int](c, 1)), ErrClosed, "gpu: change argument of inline launch: inline launch is closed"},
	} {
		if got := fmt.Sprint(test.err); got != test.want || !errors.Is(test.err, test.is) {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
	closeAll(t, x, d)
}
