//fuzz:launch seed=68303616 grid=2x1x1 block=33x1x1 n=1 x=66

package main

import "quern.dev/kernel"

//quern:kernel block=33
func kernelP0(t kernel.Thread, n int, x []int32) {
	i := t.Global()
	t.Sync()
	if x[i] > 0 {
		goto G4
	}
	if n == 1 {
		return
	}
	x[i] = 5
G4:
	x[i]++
}

// cpu compile: threads of a block leave a loop with a barrier individually: the block ran
// the return once, although some threads had jumped over it.
