// Package byhand has the kernels of package parity as a Go programmer writes them without
// Quern: loops over parts of the data on all cores.
package byhand

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// parallel splits [0, n) into one part per core and calls f for each part concurrently.
func parallel(n int, f func(lo, hi int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { f(w*n/workers, (w+1)*n/workers) })
	}
	wg.Wait()
}

// parallelDynamic calls f for each part below n. A core that finishes takes the next part.
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
