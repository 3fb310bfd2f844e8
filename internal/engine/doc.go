// Package engine lets a library function have two implementations: Quern's kernels, and a
// library of the device's vendor.
//
// The engine is a setting of a stream ([Set]). blas, fft and sparse ask for it ([Of]); without
// one, which is the default, they run their own kernels. A [Chooser] decides, and with Auto it
// measures both implementations once for each [Class] of problems: on the stream of the call, and
// into temporary memory, because the operands may be read again. Package chooser implements it,
// and keeps the results per device, and on disk with gpu.Tune.
//
// A [Provider] calls the vendor's libraries. Package cudalib sets the chooser and the provider, so
// a program that does not import it links neither of them.
package engine
