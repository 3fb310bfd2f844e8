package kernels

import "quern.dev/kernel"

// asian simulates paths of a price, one per thread, and computes the payoff of an Asian
// call option: the amount by which the average price exceeds the strike. A path has
// 4*rounds steps, in each of which the logarithm of the price changes by drift plus a
// normally distributed number with the given standard deviation.
//
//quern:kernel block=256 also=unchecked
func asian(t kernel.Thread, seed uint64, rounds int, spot, strike, drift, deviation float32, payoffs []float32) {
	path := t.Global()
	if path >= len(payoffs) {
		return
	}
	random := kernel.NewRandom(seed, uint64(path))
	price := spot
	var sum float32
	for range rounds {
		for range 2 {
			a, b := random.Normal()
			price *= kernel.Exp(drift + deviation*a)
			sum += price
			price *= kernel.Exp(drift + deviation*b)
			sum += price
		}
	}
	payoffs[path] = max(sum/float32(4*rounds)-strike, 0)
}
