package kernels

import "quern.dev/gpu"

// All returns the kernels.
func All() []*gpu.Kernel { return []*gpu.Kernel{quernSpin, quernFma32, quernFma64, quernClockRate} }
