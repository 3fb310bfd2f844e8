// Package engine lets a library function have two implementations: Quern's kernels, and a
// library of the device's vendor.
//
// The engine is a setting of a stream ([Set]). blas, fft and sparse ask for it ([Of]); without
// one, which is the default, they run their own kernels. [Setting.Choose] decides, and with Auto
// it measures both implementations once for each [Class] of problems: on the stream of the call,
// and into temporary memory, because the operands may be read again. Results of measurements are
// kept per device, and on disk by gpu.Tune.
//
// A [Provider] calls the vendor's libraries. This package and those that import it open no
// library: package cudalib passes its provider to Set, so a program that does not import cudalib
// does not link it.
package engine
