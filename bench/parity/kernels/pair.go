package kernels

import "quern.dev/bench/kernels"

// The kernels of the package, with bounds checks and without.
var (
	Transpose  = kernels.Pair{Checked: quernTranspose, Unchecked: quernTransposeUnchecked}
	Reduce     = kernels.Pair{Checked: quernReduce, Unchecked: quernReduceUnchecked}
	Histogram  = kernels.Pair{Checked: quernHistogram, Unchecked: quernHistogramUnchecked}
	NBody      = kernels.Pair{Checked: quernNbody, Unchecked: quernNbodyUnchecked}
	Mandelbrot = kernels.Pair{Checked: quernMandelbrot, Unchecked: quernMandelbrotUnchecked}
)
