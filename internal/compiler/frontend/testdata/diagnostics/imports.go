package p

import (
	"math"

	"quern.dev/gpu"
	"quern.dev/kernel"
)

//quern:kernel
func imports(t kernel.Thread, x []float64) {
	x[0] = math.Sqrt(float64(gpu.Linear(3)))
}
