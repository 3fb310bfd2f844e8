package main

import (
	"runtime"
	"unsafe"

	"quern.dev/bench/bare"
)

// saxpyPTX computes y = a*x + y.
const saxpyPTX = `.version 6.0
.target sm_50
.address_size 64
.visible .entry saxpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n)
{
	.reg .pred %p<2>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
	.reg .f32 %f<4>;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %r4, %r1, %r2, %r3;
	ld.param.u32 %r5, [n];
	setp.ge.u32 %p1, %r4, %r5;
	@%p1 ret;
	mul.wide.u32 %rd1, %r4, 4;
	ld.param.u64 %rd2, [x];
	cvta.to.global.u64 %rd2, %rd2;
	ld.param.u64 %rd3, [y];
	cvta.to.global.u64 %rd3, %rd3;
	add.u64 %rd4, %rd2, %rd1;
	add.u64 %rd5, %rd3, %rd1;
	ld.global.f32 %f1, [%rd4];
	ld.global.f32 %f2, [%rd5];
	ld.param.f32 %f3, [a];
	fma.rn.f32 %f2, %f3, %f1, %f2;
	st.global.f32 [%rd5], %f2;
	ret;
}
`

// startBare is the small program in bare driver calls: the minimum that a program must do.
func startBare(p *phases, x, y []float32) error {
	d, err := bare.Open()
	if err != nil {
		return err
	}
	release, err := d.Context()
	if err != nil {
		return err
	}
	p.end("open")

	var pins runtime.Pinner
	defer pins.Unpin()
	type arguments struct {
		a    float32
		n    uint32
		x, y uintptr
	}
	args := &arguments{a: 2, n: uint32(len(x))}
	params := &[4]unsafe.Pointer{unsafe.Pointer(&args.a), unsafe.Pointer(&args.x), unsafe.Pointer(&args.y), unsafe.Pointer(&args.n)}
	for _, pointer := range []any{args, params, &x[0], &y[0]} {
		pins.Pin(pointer)
	}
	address := func(v []float32) uintptr { return uintptr(unsafe.Pointer(&v[0])) }
	bytes := uintptr(4 * len(x))

	steps := func(calls ...func() error) error {
		for _, c := range calls {
			if err := c(); err != nil {
				return err
			}
		}
		return nil
	}
	do := func(name string, args ...uintptr) func() error {
		return func() error { return d.Call(name, args...) }
	}
	err = steps(
		do("cuMemAlloc_v2", uintptr(unsafe.Pointer(&args.x)), bytes),
		do("cuMemAlloc_v2", uintptr(unsafe.Pointer(&args.y)), bytes),
		func() error { return d.Call("cuMemcpyHtoD_v2", args.x, address(x), bytes) },
		func() error { return d.Call("cuMemcpyHtoD_v2", args.y, address(y), bytes) },
	)
	if err != nil {
		return err
	}
	p.end("first uploads")

	module, function, err := d.Load(saxpyPTX, "saxpy")
	if err != nil {
		return err
	}
	blocks := (uintptr(len(x)) + 255) / 256
	err = steps(
		do("cuLaunchKernel", function, blocks, 1, 1, 256, 1, 1, 0, 0, uintptr(unsafe.Pointer(params)), 0),
		do("cuStreamSynchronize", 0),
	)
	if err != nil {
		return err
	}
	p.end("first launch")

	if err := d.Call("cuMemcpyDtoH_v2", address(y), args.y, bytes); err != nil {
		return err
	}
	p.end("download")

	err = steps(do("cuMemFree_v2", args.y), do("cuMemFree_v2", args.x), do("cuModuleUnload", module))
	release()
	p.end("close")
	return err
}
