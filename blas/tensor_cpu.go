package blas

import (
	"quern.dev/blas/internal/kernels"
	"quern.dev/gpu"
	"quern.dev/kernel"
)

// runOnCPU computes a product of floats on the CPU device, which has no tensor cores, as a product
// of float32.
func (x tensorArguments[A, B, C]) runOnCPU(s *gpu.Stream, scratch *gpu.Scratch) error {
	a, b := gapless(x.a), gapless(x.b)
	a.Data = gpu.Take[float32](scratch, max(a.Count*a.Step, 1))
	b.Data = gpu.Take[float32](scratch, max(b.Count*b.Step, 1))
	if run, err := scratch.Ready(); !run {
		return err
	}
	if x.k > 0 {
		if err := toFloat32(s, a, x.a); err != nil {
			return err
		}
		if err := toFloat32(s, b, x.b); err != nil {
			return err
		}
	}
	c := any(x.c).(Batch[float32])
	return plan[float32](s.Device(), x.m, x.n, x.k, x.batch, 0, 1).launch(s, gemmArguments[float32]{
		m: x.m, n: x.n, k: x.k, batch: x.batch, flags: flagsOf(x.tA, x.tB, false, false, false),
		lda: a.Stride, ldb: b.Stride, ldc: c.Stride, stepA: a.Step, stepB: b.Step, stepC: c.Step,
		alpha: float32(x.alpha), beta: float32(x.beta), a: a.Data, b: b.Data, c: c.Data,
		post: x.post, ldr: x.ldr, stepR: x.stepR, bias: x.bias, residual: x.residual,
	}, nil)
}

// gapless returns matrices of the same shape without gaps and without memory.
func gapless[T any](m Batch[T]) Batch[float32] {
	return Batch[float32]{General[float32]{m.Rows, m.Cols, m.Cols, nil}, m.Rows * m.Cols, m.Count}
}

// toFloat32 copies matrices to gapless ones. It rounds float32 to the TF32 format.
func toFloat32[T any](s *gpu.Stream, to Batch[float32], from Batch[T]) error {
	switch from := any(from).(type) {
	case Batch[kernel.Float16]:
		return widen(s, to, from)
	case Batch[kernel.BFloat16]:
		return widen(s, to, from)
	case Batch[kernel.Float8E4M3]:
		return widen(s, to, from)
	case Batch[kernel.Float8E5M2]:
		return widen(s, to, from)
	case Batch[float32]:
		return roundRows(s, to, from)
	}
	panic("unreachable")
}

func widen[T kernels.SmallFloat](s *gpu.Stream, to Batch[float32], from Batch[T]) error {
	return kernels.LaunchWiden(s, gpu.Linear(from.Count*from.Rows), from.Rows, from.Cols, from.Stride, from.Step, from.Count, from.Data, to.Data)
}

// launchIntegerCPU is launch for integers on the CPU device. Strides and steps of the factors are in chunks.
func launchIntegerCPU[T int8 | uint8](s *gpu.Stream, x *tensorArguments[T, T, int32]) error {
	const chunk = 16
	return kernels.LaunchIntegerCPU(s, gpu.Linear(x.batch*x.m), x.m, x.n, x.k, x.batch, x.a.Stride*chunk, x.b.Stride*chunk, x.c.Stride, x.a.Step*chunk, x.b.Step*chunk, x.c.Step, x.alpha, x.beta, x.a.Data, x.b.Data, x.c.Data)
}
