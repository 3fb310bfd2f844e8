// Package byhand has the kernels of package parity as a Go programmer writes
// them without Quern: loops over the data, its parts on all cores.
package byhand

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// parallel calls f for the parts of 0 to n, one on each core.
func parallel(n int, f func(lo, hi int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { f(w*n/workers, (w+1)*n/workers) })
	}
	wg.Wait()
}

// parallelDynamic calls f for each part below n; a core that is done takes the
// next.
func parallelDynamic(n int, f func(part int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			for {
				part := int(next.Add(1)) - 1
				if part >= n {
					return
				}
				f(part)
			}
		})
	}
	wg.Wait()
}
