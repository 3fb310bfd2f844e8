package blas

import (
	"fmt"
	"unsafe"

	"quern.dev/blas/internal/kernels"
	"quern.dev/gpu"
	"quern.dev/internal/engine"
	"quern.dev/kernel"
)

// tryVendor computes the product with the library of the device's vendor if that is what the
// engine of the stream chooses. Otherwise done is false.
func (x gemmArguments[T]) tryVendor(u engine.Chooser, op string, s *gpu.Stream, work []*gpu.Workspace) (done bool, err error) {
	if x.m == 0 || x.n == 0 || x.k == 0 || x.batch == 0 || x.alpha == 0 {
		return false, nil
	}
	p := engine.Product{
		Op: operationOf(op), M: x.m, N: x.n, K: x.k, Batch: x.batch,
		TransA: x.flags&kernels.TransA != 0, TransB: x.flags&kernels.TransB != 0,
		StrideA: x.lda, StrideB: x.ldb, StrideC: x.ldc, StepA: x.stepA, StepB: x.stepB, StepC: x.stepC,
		Beta: x.beta != 0,
	}
	if sizeOf[T]() == 8 {
		p.Element = engine.Float64
	}
	setEpilogue(&p, x.post, x.ldr, x.stepR)
	class := classOf(&p, sizeOf[T]())
	e, known, err := u.Choose(s, class)
	if !known {
		e, err = x.measure(u, s, class, p)
	}
	if err != nil || e != engine.Vendor {
		return err != nil, err
	}
	err = u.Provider().Multiply(s, p, x.operands(), engine.First(work))
	return !u.FallsBack(class, err), err
}

func (x *gemmArguments[T]) operands() engine.Operands {
	return engine.Operands{
		Alpha: bitsAs64(x.alpha), Beta: bitsAs64(x.beta), A: engine.Bytes(x.a), B: engine.Bytes(x.b), C: engine.Bytes(x.c),
		Bias: engine.Bytes(x.bias), Residual: engine.Bytes(x.residual),
	}
}

// measure lets the engine measure both implementations. The results go to temporary memory.
func (x gemmArguments[T]) measure(u engine.Chooser, s *gpu.Stream, class engine.Class, p engine.Product) (engine.Engine, error) {
	return u.Measure(s, class, problemOf(&p), trialOf(u, s, &p, sizeOf[T](), x.operands(), func(s *gpu.Stream, c *gpu.Buffer[byte]) error {
		y := x
		y.c = engine.Elements[T](c)
		return y.run(s, plan[T], nil)
	}))
}

// tryVendor is the same for products on tensor cores.
func (x tensorArguments[A, B, C]) tryVendor(u engine.Chooser, op string, s *gpu.Stream, work []*gpu.Workspace) (done bool, err error) {
	if x.m == 0 || x.n == 0 || x.k == 0 || x.batch == 0 || x.alpha == 0 {
		return false, nil
	}
	p := engine.Product{
		Op: operationOf(op), Element: numberOf[A](), M: x.m, N: x.n, K: x.k, Batch: x.batch,
		TransA: x.tA != NoTrans, TransB: x.tB != NoTrans,
		StrideA: x.a.Stride, StrideB: x.b.Stride, StrideC: x.c.Stride, StepA: x.a.Step, StepB: x.b.Step, StepC: x.c.Step,
		Beta: x.beta != 0,
	}
	setEpilogue(&p, x.post, x.ldr, x.stepR)
	class := classOf(&p, sizeOf[A]())
	e, known, err := u.Choose(s, class)
	if !known {
		e, err = x.measure(u, s, class, p)
	}
	if err != nil || e != engine.Vendor {
		return err != nil, err
	}
	err = u.Provider().Multiply(s, p, x.operands(), engine.First(work))
	return !u.FallsBack(class, err), err
}

func (x *tensorArguments[A, B, C]) operands() engine.Operands {
	return engine.Operands{
		Alpha: bitsAs64(x.alpha), Beta: bitsAs64(x.beta), A: engine.Bytes(x.a.Data), B: engine.Bytes(x.b.Data), C: engine.Bytes(x.c.Data),
		Bias: engine.Bytes(x.bias), Residual: engine.Bytes(x.residual),
	}
}

func (x tensorArguments[A, B, C]) measure(u engine.Chooser, s *gpu.Stream, class engine.Class, p engine.Product) (engine.Engine, error) {
	return u.Measure(s, class, problemOf(&p), trialOf(u, s, &p, sizeOf[C](), x.operands(), func(s *gpu.Stream, c *gpu.Buffer[byte]) error {
		y := x
		y.c.Data = engine.Elements[C](c)
		return y.run(s, tensorPlan, nil)
	}))
}

// operationOf returns the name of a function with that of the package, without allocating.
func operationOf(op string) string {
	switch op {
	case "Gemm":
		return "blas.Gemm"
	case "GemmEpilogue":
		return "blas.GemmEpilogue"
	case "GemmBatched":
		return "blas.GemmBatched"
	case "GemmTensor":
		return "blas.GemmTensor"
	case "GemmFloat8":
		return "blas.GemmFloat8"
	default:
		return "blas.GemmInteger"
	}
}

// setEpilogue sets what the flags say.
func setEpilogue(p *engine.Product, post, ldr, stepR int) {
	p.BiasRows = post&kernels.BiasRow != 0
	p.Bias = p.BiasRows || post&kernels.BiasColumn != 0
	switch {
	case post&kernels.ReLU != 0:
		p.Activation = uint8(ReLU)
	case post&kernels.GELU != 0:
		p.Activation = uint8(GELU)
	}
	if post&kernels.Residual != 0 {
		p.Residual, p.StrideR, p.StepR = true, ldr, stepR
	}
}

// classOf returns the class of a product for measurements.
func classOf(p *engine.Product, size int) engine.Class {
	flags := 0
	for i, set := range [...]bool{
		p.TransA, p.TransB, p.Bias, p.BiasRows, p.Residual, p.Beta,
		p.StrideA*size%16 == 0, p.StrideB*size%16 == 0, p.StrideC%4 == 0,
	} {
		if set {
			flags |= 1 << i
		}
	}
	return engine.Class{Operation: p.Op, Library: engine.BLAS, Numbers: [...]int{
		int(p.Element), flags, int(p.Activation), engine.Size(p.M), engine.Size(p.N), engine.Size(p.K), engine.Size(p.Batch), 13: 0,
	}}
}

// problemOf describes a product in files of measurements.
func problemOf(p *engine.Product) string {
	return fmt.Sprintf("%d products of %dx%d by %dx%d", p.Batch, p.M, p.K, p.K, p.N)
}

// trialOf describes a measurement. C has elements of the given size.
func trialOf(u engine.Chooser, s *gpu.Stream, p *engine.Product, size int, o engine.Operands, own func(s *gpu.Stream, c *gpu.Buffer[byte]) error) engine.Trial {
	return engine.Trial{
		Bytes: ((p.Batch-1)*p.StepC + (p.M-1)*p.StrideC + p.N) * size,
		Check: func() error { return u.Provider().CanMultiply(s.Device(), *p) },
		Own:   own,
		Vendor: func(s *gpu.Stream, c *gpu.Buffer[byte]) error {
			o.C = c
			return u.Provider().Multiply(s, *p, o, nil)
		},
	}
}

// numberOf returns the type of the elements of a product on tensor cores.
func numberOf[T any]() engine.Number {
	var zero T
	switch any(zero).(type) {
	case kernel.Float16:
		return engine.Float16
	case kernel.BFloat16:
		return engine.BFloat16
	case int8:
		return engine.Int8
	case uint8:
		return engine.Uint8
	case kernel.Float8E4M3, kernel.Float8E5M2:
		return engine.Float8
	default:
		return engine.TF32
	}
}

// bitsAs64 returns the bits of a number of 4 or 8 bytes.
func bitsAs64[T float32 | float64 | int32](v T) uint64 {
	if unsafe.Sizeof(v) == 8 {
		return *(*uint64)(unsafe.Pointer(&v))
	}
	return uint64(*(*uint32)(unsafe.Pointer(&v)))
}
