// Package fakecuda replaces NVIDIA's driver library in tests, so that the whole path to
// a GPU runs on machines without one.
//
// The devices of a [Library] use memory of the process. The library interprets PTX with
// package ptxvm and does all work at once; with Lag, it does work as late, and in any
// order, as streams allow. It can be an old driver, lack functions, have no devices,
// and fail calls; see its fields. Handles, pitfalls and result codes are those of the
// real library as far as package cuda depends on them. The library detects the use of a
// destroyed handle, a call without a current context, and leaked objects.
package fakecuda
