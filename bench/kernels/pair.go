package kernels

import "quern.dev/gpu"

// Pair is a kernel with bounds checks and the same kernel without.
type Pair struct{ Checked, Unchecked *gpu.Kernel }

// The kernels that bench/parity compares with CUDA C.
var (
	Saxpy          = Pair{quernSaxpy, quernSaxpyUnchecked}
	TileMatmul     = Pair{quernTileMatmul, quernTileMatmulUnchecked}
	RegisterMatmul = Pair{quernRegisterMatmul, quernRegisterMatmulUnchecked}
)
