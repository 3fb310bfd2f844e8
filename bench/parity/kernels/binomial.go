package kernels

import "quern.dev/kernel"

const (
	// BinomialThreads is the number of threads per block of binomial.
	BinomialThreads = 128

	// BinomialLeaves is the maximum number of leaves of a tree, one more than steps.
	BinomialLeaves = BinomialThreads * binomialEach

	binomialEach = 4 // leaves per thread
)

// binomial prices American put options with binomial trees (Cox, Ross and Rubinstein,
// 1979), one option per block.
//
//quern:kernel block=BinomialThreads also=unchecked
func binomial(t kernel.Thread, steps int, rate, volatility float32, spots, strikes, years, puts []float32) {
	// The first value of each thread, for even and odd steps. The last one stays 0.
	firsts := kernel.Shared[[2][BinomialThreads + 1]float32](t)
	option, tx := t.BlockIdx.X, t.ThreadIdx.X
	spot, strike := spots[option], strikes[option]
	step := years[option] / float32(steps)
	deviation := volatility * kernel.Sqrt(step)
	up := kernel.Exp(deviation)
	down := 1 / up
	discount := kernel.Exp(-rate * step)
	rise := (1/discount - down) / (up - down) * discount
	fall := discount - rise

	var price, value [binomialEach + 1]float32
	for k := range binomialEach {
		leaf := tx*binomialEach + k
		price[k] = spot * kernel.Exp(deviation*float32(2*leaf-steps))
		value[k] = max(strike-price[k], 0)
	}
	if tx == 0 {
		firsts[0][BinomialThreads], firsts[1][BinomialThreads] = 0, 0
	}
	for left := steps; left > 0; left-- {
		buffer := &firsts[left&1]
		buffer[tx] = value[0]
		t.Sync()
		value[binomialEach] = buffer[tx+1]
		for k := range binomialEach {
			price[k] *= up
			value[k] = max(rise*value[k+1]+fall*value[k], strike-price[k])
		}
	}
	if tx == 0 {
		puts[option] = value[0]
	}
}
