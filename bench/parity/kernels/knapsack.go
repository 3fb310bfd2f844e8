package kernels

import "quern.dev/kernel"

// knapsack adds an item to a knapsack problem: best[c] is the highest value that fits into
// capacity c without the item, next[c] with it.
//
//quern:kernel block=256 also=unchecked
func knapsack(t kernel.Thread, weight int, value int32, best, next []int32) {
	c := t.Global()
	if c >= len(best) {
		return
	}
	v := best[c]
	if c >= weight {
		v = max(v, best[c-weight]+value)
	}
	next[c] = v
}
