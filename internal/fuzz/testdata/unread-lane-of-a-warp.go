//fuzz:launch seed=423000282 grid=1x1x1 block=32x1x1 n=32 out0=128

package main

import (
	"quern.dev/kernel"
)

//quern:kernel
func kernelP0(t kernel.Thread, n int, out0 []float32) {

	i := t.Global()

	out0[i] = 0
	{

		{

			var v6 int32
			if t.Warp() > 0 {
				v6 = kernel.WarpReduceAnd(t, int32(0))
			}

			//quern:nounroll
			for range 3 {
				v6 = int32(t.Global())
			}
			_ = v6
		}

	}

}

// cpu build: declared and not used: lane
