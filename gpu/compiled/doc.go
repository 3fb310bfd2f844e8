// Package compiled holds the descriptions of kernels that quern gen generates. Only
// generated files use it: each has one [Code], the content of the package's archive, and
// one [Declaration] per kernel, whose [Kernel] is in the archive.
//
// Programs import package gpu. They may meet two types of this package: [CodeError], if
// generated files do not belong together, and [Param], which gpu.Kernel.Params returns.
package compiled
