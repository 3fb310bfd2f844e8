// Package fakecuda stands in for NVIDIA's driver library in tests, so that the
// whole path to a GPU is run on machines without one.
//
// A [Library] has devices of the process's own memory, compiles PTX with package
// ptxvm, and does all work at once, or, with Lag, as late and in any order as
// streams may. It can be an old driver, lack functions,
// have no devices, and fail calls; see its fields. Handles, pitfalls and result
// codes are the real library's as far as package cuda depends on them: using a
// handle that was destroyed, calling without a current context, and leaving
// objects behind are found.
package fakecuda
