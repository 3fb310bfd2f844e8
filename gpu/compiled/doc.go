// Package compiled is what quern gen has to say about the kernels of a package. Only the
// files that it writes use it: each holds one [Code], the GPU code of all kernels of the
// package, and for each kernel a [Kernel], from which gpu.NewKernel makes what a launcher
// launches.
//
// Programs import package gpu. There a [CodeError] may reach them, if the files of quern
// gen do not belong together, and gpu.Kernel.Params returns [Param] values.
package compiled
