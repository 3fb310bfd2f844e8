// Package compiled holds the descriptions of kernels that quern gen generates. Only
// generated files use it: each has one [Code], the GPU code of all kernels of the
// package, and one [Kernel] per kernel, which gpu.NewKernel turns into a kernel that can
// be launched.
//
// Programs import package gpu. They may meet two types of this package: [CodeError], if
// generated files do not belong together, and [Param], which gpu.Kernel.Params returns.
package compiled
