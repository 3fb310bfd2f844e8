package cuda

import "slices"

// cuFuncLoad loads a kernel that drivers otherwise load when it is first launched.
var cuFuncLoad = optional("cuFuncLoad")

// waitsForAll are the functions that wait until no kernel runs in the context
// (measured with driver 580 on an H200).
var waitsForAll = map[symbol]bool{
	cuMemFree: true, cuMemFreeHost: true, cuMemHostUnregister: true,
	cuModuleLoadDataEx: true, cuModuleUnload: true,
	cuMemPoolDestroy: true, cuMemPoolTrimTo: true,
}

// apart calls a function while no kernel of a resident runs.
func (d *device) apart(s symbol, args []uintptr) error {
	list := slices.Clone(args) // so that those of other calls stay on the stack
	return d.Apart(func() error { return d.api.check(d.within(s, list...)) })
}
