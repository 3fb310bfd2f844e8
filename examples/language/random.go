package language

import "quern.dev/kernel"

// piHits counts, for each thread, how many of n random points lie in a quarter
// circle.
//
//quern:kernel
func piHits(t kernel.Thread, seed uint64, n int, hits []int32) {
	i := t.Global()
	if i >= len(hits) {
		return
	}
	random := kernel.NewRandom(seed, uint64(i))
	count := int32(0)
	for range n {
		x, y := random.Float32(), random.Float32()
		if x*x+y*y < 1 {
			count++
		}
	}
	hits[i] = count
}

// noise adds normally distributed numbers to a signal. A value depends only on its
// index, not on the number of threads.
//
//quern:kernel
func noise(t kernel.Thread, seed uint64, sigma float32, signal []float32) {
	for i := t.Global(); i < len(signal); i += t.Stride() {
		random := kernel.NewRandom(seed, uint64(i))
		x, _ := random.Normal()
		signal[i] += sigma * x
	}
}

// shuffledKeys gives every element a random key, using the generator directly.
//
//quern:kernel
func shuffledKeys(t kernel.Thread, key [2]uint32, keys []uint32) {
	if i := t.Global(); i < len(keys) {
		keys[i] = kernel.Philox([4]uint32{uint32(i)}, key)[0]
	}
}
