package kernels

import "quern.dev/bench/kernels"

// The kernels of the package, with and without bounds checks.
var (
	Transpose    = kernels.Pair{Checked: quernTranspose, Unchecked: quernTransposeUnchecked}
	Reduce       = kernels.Pair{Checked: quernReduce, Unchecked: quernReduceUnchecked}
	Histogram    = kernels.Pair{Checked: quernHistogram, Unchecked: quernHistogramUnchecked}
	NBody        = kernels.Pair{Checked: quernNbody, Unchecked: quernNbodyUnchecked}
	Mandelbrot   = kernels.Pair{Checked: quernMandelbrot, Unchecked: quernMandelbrotUnchecked}
	Stencil      = kernels.Pair{Checked: quernStencil, Unchecked: quernStencilUnchecked}
	Convolve     = kernels.Pair{Checked: quernConvolve, Unchecked: quernConvolveUnchecked}
	Life         = kernels.Pair{Checked: quernLife, Unchecked: quernLifeUnchecked}
	LBM          = kernels.Pair{Checked: quernLbm, Unchecked: quernLbmUnchecked}
	Rotate       = kernels.Pair{Checked: quernRotate, Unchecked: quernRotateUnchecked}
	SpMV         = kernels.Pair{Checked: quernSpmv, Unchecked: quernSpmvUnchecked}
	BlockScan    = kernels.Pair{Checked: quernBlockScan, Unchecked: quernBlockScanUnchecked}
	BitonicSort  = kernels.Pair{Checked: quernBitonicSort, Unchecked: quernBitonicSortUnchecked}
	Align        = kernels.Pair{Checked: quernAlign, Unchecked: quernAlignUnchecked}
	FFT          = kernels.Pair{Checked: quernFft, Unchecked: quernFftUnchecked}
	Pi           = kernels.Pair{Checked: quernPi, Unchecked: quernPiUnchecked}
	BlackScholes = kernels.Pair{Checked: quernBlackScholes, Unchecked: quernBlackScholesUnchecked}
	SHA256       = kernels.Pair{Checked: quernSha256, Unchecked: quernSha256Unchecked}
	TensorMatmul = kernels.Pair{Checked: quernTensorMatmul, Unchecked: quernTensorMatmulUnchecked}
	ChaCha20     = kernels.Pair{Checked: quernChacha20, Unchecked: quernChacha20Unchecked}
)
