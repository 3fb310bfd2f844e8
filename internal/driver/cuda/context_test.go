package cuda

import (
	"context"
	"runtime"
	"testing"
	"unsafe"
)

// TestLaunchWhateverContextIsCurrent launches on threads with no current context and
// with another current context of the same GPU.
func TestLaunchWhateverContextIsCurrent(t *testing.T) {
	x := newGPU(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	a := x.dev.api
	launch := func(t *testing.T) {
		if err := x.stream.Launch(x.function, x.frame); err != nil {
			t.Fatal(err)
		}
		if err := x.stream.Synchronize(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("none", func(t *testing.T) {
		if err := a.check(cuCtxSetCurrent, a.raw(cuCtxSetCurrent, 0)); err != nil {
			t.Fatal(err)
		}
		launch(t)
	})
	t.Run("another", func(t *testing.T) {
		create, destroy := a.lib.Lookup("cuCtxCreate_v2"), a.lib.Lookup("cuCtxDestroy_v2")
		if create == 0 || destroy == 0 {
			t.Skip("needs a driver with cuCtxCreate_v2, which this one lacks")
		}
		other := new([1]uintptr)
		var pins runtime.Pinner
		defer pins.Unpin()
		pins.Pin(other)
		// The new context becomes current.
		args := []uintptr{uintptr(unsafe.Pointer(other)), 0, uintptr(x.dev.handle)}
		if r := a.lib.Call(create, args); r != success {
			t.Fatal(a.check(cuDevicePrimaryCtxRetain, r))
		}
		defer a.lib.Call(destroy, []uintptr{other[0]})
		launch(t)
	})
	t.Run("of another GPU", func(t *testing.T) {
		list := Candidates()
		if len(list) < 2 {
			t.Skip("needs a second GPU")
		}
		other, err := list[1].Open()
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		if err := a.check(cuCtxSetCurrent, a.raw(cuCtxSetCurrent, other.(*device).context)); err != nil {
			t.Fatal(err)
		}
		launch(t)
	})
}
