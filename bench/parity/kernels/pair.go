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

	Hotspot      = kernels.Pair{Checked: quernHotspot, Unchecked: quernHotspotUnchecked}
	SRAD1        = kernels.Pair{Checked: quernSrad1, Unchecked: quernSrad1Unchecked}
	SRAD2        = kernels.Pair{Checked: quernSrad2, Unchecked: quernSrad2Unchecked}
	FDTD         = kernels.Pair{Checked: quernFdtd, Unchecked: quernFdtdUnchecked}
	Stencil27    = kernels.Pair{Checked: quernStencil27, Unchecked: quernStencil27Unchecked}
	Jacobi       = kernels.Pair{Checked: quernJacobi, Unchecked: quernJacobiUnchecked}
	Pathfinder   = kernels.Pair{Checked: quernPathfinder, Unchecked: quernPathfinderUnchecked}
	Needle       = kernels.Pair{Checked: quernNeedle, Unchecked: quernNeedleUnchecked}
	ATAX1        = kernels.Pair{Checked: quernAtax1, Unchecked: quernAtax1Unchecked}
	ATAX2        = kernels.Pair{Checked: quernAtax2, Unchecked: quernAtax2Unchecked}
	GEMM64       = kernels.Pair{Checked: quernGemm64, Unchecked: quernGemm64Unchecked}
	DGEMM        = kernels.Pair{Checked: quernDgemm, Unchecked: quernDgemmUnchecked}
	LUD          = kernels.Pair{Checked: quernLud, Unchecked: quernLudUnchecked}
	Inv8         = kernels.Pair{Checked: quernInv8, Unchecked: quernInv8Unchecked}
	LU4          = kernels.Pair{Checked: quernLu4, Unchecked: quernLu4Unchecked}
	SpMVWarp     = kernels.Pair{Checked: quernSpmvWarp, Unchecked: quernSpmvWarpUnchecked}
	ParticlesAOS = kernels.Pair{Checked: quernParticlesAOS, Unchecked: quernParticlesAOSUnchecked}
	ParticlesSOA = kernels.Pair{Checked: quernParticlesSOA, Unchecked: quernParticlesSOAUnchecked}
	LavaMD       = kernels.Pair{Checked: quernLavaMD, Unchecked: quernLavaMDUnchecked}
	Lorenz       = kernels.Pair{Checked: quernLorenz, Unchecked: quernLorenzUnchecked}
	BFS          = kernels.Pair{Checked: quernBfs, Unchecked: quernBfsUnchecked}
	KMeans       = kernels.Pair{Checked: quernKmeans, Unchecked: quernKmeansUnchecked}
	Backprop     = kernels.Pair{Checked: quernBackprop, Unchecked: quernBackpropUnchecked}
	FFT256       = kernels.Pair{Checked: quernFft256, Unchecked: quernFft256Unchecked}
)

// Kernels of further fields: graphs, dynamic programming, text, finance, physics, images,
// cryptography, sparse matrices and neural networks.
var (
	Pagerank     = kernels.Pair{Checked: quernPagerank, Unchecked: quernPagerankUnchecked}
	Triangles    = kernels.Pair{Checked: quernTriangles, Unchecked: quernTrianglesUnchecked}
	Relax        = kernels.Pair{Checked: quernRelax, Unchecked: quernRelaxUnchecked}
	Knapsack     = kernels.Pair{Checked: quernKnapsack, Unchecked: quernKnapsackUnchecked}
	Fold         = kernels.Pair{Checked: quernFold, Unchecked: quernFoldUnchecked}
	ShiftAnd     = kernels.Pair{Checked: quernShiftAnd, Unchecked: quernShiftAndUnchecked}
	Kmers        = kernels.Pair{Checked: quernKmers, Unchecked: quernKmersUnchecked}
	Binomial     = kernels.Pair{Checked: quernBinomial, Unchecked: quernBinomialUnchecked}
	Asian        = kernels.Pair{Checked: quernAsian, Unchecked: quernAsianUnchecked}
	LennardJones = kernels.Pair{Checked: quernLennardJones, Unchecked: quernLennardJonesUnchecked}
	Ising        = kernels.Pair{Checked: quernIsing, Unchecked: quernIsingUnchecked}
	Wave         = kernels.Pair{Checked: quernWave, Unchecked: quernWaveUnchecked}
	Bilateral    = kernels.Pair{Checked: quernBilateral, Unchecked: quernBilateralUnchecked}
	Median       = kernels.Pair{Checked: quernMedian, Unchecked: quernMedianUnchecked}
	YUV          = kernels.Pair{Checked: quernYuv, Unchecked: quernYuvUnchecked}
	Integral     = kernels.Pair{Checked: quernIntegral, Unchecked: quernIntegralUnchecked}
	AES          = kernels.Pair{Checked: quernAes, Unchecked: quernAesUnchecked}
	SHA3         = kernels.Pair{Checked: quernSha3, Unchecked: quernSha3Unchecked}
	ELL          = kernels.Pair{Checked: quernEll, Unchecked: quernEllUnchecked}
	BSR          = kernels.Pair{Checked: quernBsr, Unchecked: quernBsrUnchecked}
	Softmax      = kernels.Pair{Checked: quernSoftmax, Unchecked: quernSoftmaxUnchecked}
	LayerNorm    = kernels.Pair{Checked: quernLayerNorm, Unchecked: quernLayerNormUnchecked}
	Attention    = kernels.Pair{Checked: quernAttention, Unchecked: quernAttentionUnchecked}
	DotInt8      = kernels.Pair{Checked: quernDotInt8, Unchecked: quernDotInt8Unchecked}
	GELU         = kernels.Pair{Checked: quernGelu, Unchecked: quernGeluUnchecked}
	Embedding    = kernels.Pair{Checked: quernEmbedding, Unchecked: quernEmbeddingUnchecked}
)
