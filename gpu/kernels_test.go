package gpu

import (
	"strings"

	"quern.dev/gpu/compiled"
	"quern.dev/internal/archive"
	"quern.dev/kernel/host"
)

// The kernels of the tests, written by hand as quern gen would write them, so that
// the package is tested without the compiler.

// saxpy checks x[i] and y[i] for i < n, so that n beyond a length is a fault.
//
//	func saxpy(t kernel.Thread, a float32, n int, x, y []float32) {
//		if i := t.Global(); i < n {
//			y[i] += a * x[i]
//		}
//	}
var saxpyInfo = compiled.Kernel{
	Name: "saxpy",
	Pos:  "saxpy.go:14",
	Params: []compiled.Param{
		{Name: "a", Kind: compiled.Scalar, Type: "float32", Size: 4},
		{Name: "n", Kind: compiled.Scalar, Type: "int", Size: 8},
		{Name: "x", Kind: compiled.Slice, Type: "float32", Size: 4},
		{Name: "y", Kind: compiled.Slice, Type: "float32", Size: 4},
	},
	Code: codeOf(module("other", "narrow", ""), module("saxpy", "narrow", saxpyPTX("")),
		module("saxpy", "wide", saxpyPTX("add.rn.f32 %f4, %f4, 0f42C80000;")), module("other", "wide", "")),
	// For n <= 1<<20. Above that the wide module is used, which adds 100 more.
	Variants: []compiled.Variant{
		{
			Name:   "narrow",
			Limits: []int64{1, 1, 9, 1 << 20},
			Sites:  []compiled.Site{{Kind: compiled.IndexSite, File: "saxpy.go", Line: 16, Col: 12}, {Kind: compiled.IndexSite, File: "saxpy.go", Line: 16, Col: 3}},
		},
		{
			Name:  "wide",
			Sites: []compiled.Site{{Kind: compiled.IndexSite, File: "saxpy.go", Line: 161, Col: 12}, {Kind: compiled.IndexSite, File: "saxpy.go", Line: 161, Col: 3}},
		},
	},
	Host: saxpyHost,
}

func module(kernel, variant, text string) archive.Module {
	return archive.Module{Kernel: kernel, Variant: variant, Text: text}
}

// codeOf returns the code of a package as quern gen writes it.
func codeOf(modules ...archive.Module) *compiled.Code {
	data, err := archive.Write(nil, modules)
	if err != nil {
		panic(err)
	}
	a, err := archive.Open(string(data))
	if err != nil {
		panic(err)
	}
	text := string(data)
	return &compiled.Code{Package: "example.com/vectors", Archive: &text, Sum: a.Sum()}
}

// onlyCode returns code with one module for all variants.
func onlyCode(ptx string) *compiled.Code {
	return &compiled.Code{Modules: []archive.Module{{Text: ptx}}}
}

func saxpyPTX(extra string) string {
	return ptxHeader + `
.visible .entry saxpy(.param .f32 a, .param .u64 n, .param .u64 x_ptr, .param .u64 x_len, .param .u64 y_ptr, .param .u64 y_len, .param .u64 quern_fault, .param .u32 quern_kernel)
{
` + ptxRegisters + `
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.s32 %r1, %r1, %r2, %r3;
	cvt.u64.u32 %rd1, %r1;
	ld.param.u64 %rd2, [n];
	setp.ge.s64 %p1, %rd1, %rd2;
	@%p1 exit;
	shl.b64 %rd5, %rd1, 2;
	ld.param.u64 %rd3, [x_len];
	mov.u32 %r9, 0;
	setp.ge.u64 %p1, %rd1, %rd3;
	@%p1 bra fault;
	ld.param.u64 %rd4, [x_ptr];
	add.u64 %rd4, %rd4, %rd5;
	ld.global.f32 %f1, [%rd4];
	ld.param.u64 %rd3, [y_len];
	mov.u32 %r9, 1;
	setp.ge.u64 %p1, %rd1, %rd3;
	@%p1 bra fault;
	ld.param.u64 %rd4, [y_ptr];
	add.u64 %rd4, %rd4, %rd5;
	ld.global.f32 %f2, [%rd4];
	ld.param.f32 %f3, [a];
	fma.rn.f32 %f4, %f3, %f1, %f2;
	` + extra + `
	st.global.f32 [%rd4], %f4;
	exit;
` + ptxFault + `}
`
}

func saxpyHost(r *host.Run) {
	a, n := host.Value[float32](r, 0), host.Value[int](r, 1)
	x, y := host.Slice[float32](r, 2), host.Slice[float32](r, 3)
	if n > 1<<20 {
		a = 1 // what the wide module computes for x = 100
	}
	for r.Next() {
		for r.ThreadIdx.X = 0; r.ThreadIdx.X < r.BlockDim.X; r.ThreadIdx.X++ {
			if i := r.BlockIdx.X*r.BlockDim.X + r.ThreadIdx.X; i < n {
//line /src/example/saxpy.go:16
				y[i] += a * x[i]
			}
		}
	}
}

// outcome ends in each of the ways in which a kernel's own checks can end it.
//
//	func outcome(t kernel.Thread, p params, out []int64)
var outcomeInfo = compiled.Kernel{
	Name: "outcome",
	Params: []compiled.Param{
		{Name: "p", Kind: compiled.Struct, Type: "params", Size: 24},
		{Name: "out", Kind: compiled.Slice, Type: "int64", Size: 8},
	},
	Code: onlyCode(ptxHeader + `
.visible .entry outcome(.param .align 8 .b8 p[24], .param .u64 out_ptr, .param .u64 out_len, .param .u64 quern_fault, .param .u32 quern_kernel)
{
` + ptxRegisters + `
	ld.param.u32 %r9, [p];
	ld.param.u64 %rd1, [p+8];
	ld.param.u64 %rd3, [p+16];
	setp.lt.u32 %p1, %r9, 100;
	@%p1 bra fault;
	ld.param.u64 %rd4, [out_ptr];
	add.u64 %rd1, %rd1, %rd3;
	st.global.u64 [%rd4], %rd1;
	exit;
` + ptxFault + `}
`),
	Variants: []compiled.Variant{{Name: "wide", Sites: []compiled.Site{
		compiled.IndexSite:  {Kind: compiled.IndexSite, File: "outcome.go", Line: 10},
		compiled.SliceSite:  {Kind: compiled.SliceSite, File: "outcome.go", Line: 11},
		compiled.DivideSite: {Kind: compiled.DivideSite, File: "outcome.go", Line: 12},
		compiled.ShiftSite:  {Kind: compiled.ShiftSite, File: "outcome.go", Line: 13},
		compiled.PanicSite:  {Kind: compiled.PanicSite, File: "outcome.go", Line: 14, Text: "no such thing"},
		compiled.NilSite:    {Kind: compiled.NilSite, File: "outcome.go", Line: 15},
	}}},
}

// params is the parameter of outcome: below 100, the site to fail at with index and
// length; from 100 on, outcome stores their sum.
type params struct {
	Site          uint32
	Index, Length int64
}

// block64 must be launched with blocks of 64. Each thread stores the size of the grid
// along X at its index.
var block64Info = compiled.Kernel{
	Name:   "block64",
	Params: []compiled.Param{{Name: "out", Kind: compiled.Slice, Type: "int32", Size: 4}},
	Code: onlyCode(ptxHeader + `
.visible .entry block64(.param .u64 out_ptr, .param .u64 out_len, .param .u64 quern_fault, .param .u32 quern_kernel)
.reqntid 64, 1, 1
{
` + ptxRegisters + `
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.s32 %r1, %r1, %r2, %r3;
	mul.wide.u32 %rd5, %r1, 4;
	ld.param.u64 %rd4, [out_ptr];
	add.u64 %rd4, %rd4, %rd5;
	mov.u32 %r4, %nctaid.x;
	st.global.u32 [%rd4], %r4;
	exit;
}
`),
	Block: Dim3{X: 64},
}

const ptxHeader = `.version 6.0
.target sm_50
.address_size 64
`

const ptxRegisters = `	.reg .pred %p<4>;
	.reg .b32 %r<20>;
	.reg .f32 %f<8>;
	.reg .b64 %rd<12>;
`

// ptxFault records a fault: %r9 site, %rd1 index, %rd3 length.
var ptxFault = strings.NewReplacer("\n\n", "\n").Replace(`
fault:
	ld.param.u64 %rd6, [quern_fault];
	atom.global.cas.b32 %r10, [%rd6], 0, 1;
	setp.ne.u32 %p2, %r10, 0;
	@%p2 exit;
	ld.global.u64 %rd7, [%rd6+8];
	st.volatile.global.u32 [%rd7+4], %r9;
	ld.param.u32 %r11, [quern_kernel];
	st.volatile.global.u32 [%rd7+8], %r11;
	st.volatile.global.u64 [%rd7+16], %rd1;
	st.volatile.global.u64 [%rd7+24], %rd3;
	mov.u32 %r12, %ctaid.x;
	st.volatile.global.u32 [%rd7+32], %r12;
	mov.u32 %r12, %ctaid.y;
	st.volatile.global.u32 [%rd7+36], %r12;
	mov.u32 %r12, %ctaid.z;
	st.volatile.global.u32 [%rd7+40], %r12;
	mov.u32 %r12, %tid.x;
	st.volatile.global.u32 [%rd7+44], %r12;
	mov.u32 %r12, %tid.y;
	st.volatile.global.u32 [%rd7+48], %r12;
	mov.u32 %r12, %tid.z;
	st.volatile.global.u32 [%rd7+52], %r12;
	membar.sys;
	st.volatile.global.u32 [%rd7], 1;
	exit;
`)
