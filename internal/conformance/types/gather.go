package types

import "quern.dev/kernel"

// weighted adds up elements that another slice names, of a thread's row: several at a time
// as long as all are in range.
//
//quern:kernel
func weighted(t kernel.Thread, ends, at []int32, w, x, sums []int32) {
	if i := t.Global(); i < len(sums) {
		sum := int32(0)
		for j := ends[i]; j < ends[i+1]; j++ {
			sum += w[j] * x[at[j]]
		}
		sums[i] = sum
	}
}

// nearest compares what a row's elements name, and what these name in turn.
//
//quern:kernel
func nearest(t kernel.Thread, n int32, at, next []int32, x, least, which []int32) {
	if i := t.Global(); i < len(least) && i < len(which) {
		best, who := int32(1<<31-1), int32(-1)
		for j := int32(0); j < n; j++ {
			k := at[int32(i)*n+j]
			if d := x[next[k]] - x[k]; d < best {
				best, who = d, j
			}
		}
		least[i], which[i] = best, who
	}
}

// walk has an index that depends on what the loop has computed so far: its iterations
// cannot go ahead of each other.
//
//quern:kernel
func walk(t kernel.Thread, n int32, next, seen []int32) {
	if i := t.Global(); i < len(seen) {
		at, sum := int32(i), int32(0)
		for range n {
			at = next[at]
			sum = 3*sum + at
		}
		seen[i] = sum
	}
}
