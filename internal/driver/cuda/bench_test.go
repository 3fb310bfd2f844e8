package cuda

import (
	"runtime"
	"testing"
	"unsafe"

	"quern.dev/internal/driver"
	"quern.dev/kernel"
)

const emptyPTX = `.version 6.0
.target sm_50
.address_size 64
.visible .entry empty(.param .f32 a, .param .u64 n, .param .u64 x_ptr, .param .u64 x_len, .param .u64 y_ptr, .param .u64 y_len, .param .u64 quern_fault, .param .u32 quern_kernel)
{
	ret;
}
`

// queueDepth is the number of launches that a GPU accepts before submitting one more
// waits for another to end.
const queueDepth = 500

// gpu is a stream of the first GPU, with a kernel and the arguments of saxpy.
type gpu struct {
	dev      *device
	stream   *stream
	function *function
	frame    *driver.Frame
}

func newGPU(b testing.TB) *gpu {
	c := Candidates()[0]
	if c.Err != nil {
		b.Skipf("needs a GPU: %v; go tool quern doctor says what to do", c.Err)
	}
	dev, err := c.Open()
	if err != nil {
		b.Fatal(err)
	}
	s, err := dev.NewStream(0)
	if err != nil {
		b.Fatal(err)
	}
	f, err := dev.Load(&driver.Kernel{Name: "empty", PTX: emptyPTX})
	if err != nil {
		b.Fatal(err)
	}
	l := driver.NewFrame([]driver.Param{{Size: 4}, {Size: 8}, {Slice: true}, {Slice: true}})
	l.Grid, l.Block = kernel.Dim3{X: 1, Y: 1, Z: 1}, kernel.Dim3{X: 256, Y: 1, Z: 1}
	b.Cleanup(func() {
		for _, c := range []interface{ Close() error }{f, s, dev} {
			if err := c.Close(); err != nil {
				b.Error(err)
			}
		}
	})
	return &gpu{dev.(*device), s.(*stream), f.(*function), l}
}

// submit submits times launches, in batches that fit the GPU's queue.
func (x *gpu) submit(b *testing.B, launch func() uintptr) {
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		if r := launch(); r != success {
			b.Fatal(x.dev.api.check(cuLaunchKernel, r))
		}
		if n%queueDepth == 0 {
			b.StopTimer()
			if err := x.dev.handles(cuStreamSynchronize, x.stream.handle); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	}
}

// BenchmarkBareLaunch measures the driver call alone, on a locked thread with the
// context current.
func BenchmarkBareLaunch(b *testing.B) {
	x := newGPU(b)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if r := x.dev.api.raw(cuCtxSetCurrent, x.dev.context); r != success {
		b.Fatal(x.dev.api.check(cuCtxSetCurrent, r))
	}
	args := []uintptr{x.function.handle, 1, 1, 1, 256, 1, 1, 0, x.stream.handle, uintptr(unsafe.Pointer(&x.frame.Params[0])), 0}
	addr := x.dev.api.addr[cuLaunchKernel]
	x.submit(b, func() uintptr { return x.dev.api.lib.Call(addr, args) })
}

// BenchmarkLaunchWithoutContext launches on a thread without a current context, which
// the driver may or may not accept.
func BenchmarkLaunchWithoutContext(b *testing.B) {
	x := newGPU(b)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if r := x.dev.api.raw(cuCtxSetCurrent, 0); r != success {
		b.Fatal(x.dev.api.check(cuCtxSetCurrent, r))
	}
	args := []uintptr{x.function.handle, 1, 1, 1, 256, 1, 1, 0, x.stream.handle, uintptr(unsafe.Pointer(&x.frame.Params[0])), 0}
	addr := x.dev.api.addr[cuLaunchKernel]
	if r := x.dev.api.lib.Call(addr, args); r != success {
		b.Skipf("needs a driver that launches without a context: %v", x.dev.api.check(cuLaunchKernel, r))
	}
	x.submit(b, func() uintptr { return x.dev.api.lib.Call(addr, args) })
}

// BenchmarkStreamLaunch measures the driver package's launch.
func BenchmarkStreamLaunch(b *testing.B) {
	x := newGPU(b)
	x.submit(b, func() uintptr {
		if err := x.stream.Launch(x.function, x.frame); err != nil {
			b.Fatal(err)
		}
		return success
	})
}

// BenchmarkBareLaunchAndWait measures the driver's launch and wait alone.
func BenchmarkBareLaunchAndWait(b *testing.B) {
	x := newGPU(b)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	a := x.dev.api
	if r := a.raw(cuCtxSetCurrent, x.dev.context); r != success {
		b.Fatal(a.check(cuCtxSetCurrent, r))
	}
	args := []uintptr{x.function.handle, 1, 1, 1, 256, 1, 1, 0, x.stream.handle, uintptr(unsafe.Pointer(&x.frame.Params[0])), 0}
	wait := []uintptr{x.stream.handle}
	b.ReportAllocs()
	for b.Loop() {
		r := a.lib.Call(a.addr[cuLaunchKernel], args)
		if r |= a.lib.Call(a.addr[cuStreamSynchronize], wait); r != success {
			b.Fatal(a.check(cuStreamSynchronize, r))
		}
	}
}

// BenchmarkSetContext measures the cost of making the context current.
func BenchmarkSetContext(b *testing.B) {
	x := newGPU(b)
	b.ReportAllocs()
	for b.Loop() {
		runtime.LockOSThread()
		x.dev.api.raw(cuCtxSetCurrent, x.dev.context)
		runtime.UnlockOSThread()
	}
}
