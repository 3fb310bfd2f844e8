package byhand

import (
	"math"

	"quern.dev/bench/parity/kernels"
)

// Binomial prices American put options with binomial trees.
func Binomial(steps int, rate, volatility float32, spots, strikes, years, puts []float32) {
	parallel(len(puts), func(lo, hi int) {
		var prices, values [kernels.BinomialLeaves]float32
		for option := lo; option < hi; option++ {
			spot, strike := spots[option], strikes[option]
			step := years[option] / float32(steps)
			deviation := volatility * float32(math.Sqrt(float64(step)))
			up := float32(math.Exp(float64(deviation)))
			down := 1 / up
			discount := float32(math.Exp(float64(-rate * step)))
			rise := (1/discount - down) / (up - down) * discount
			fall := discount - rise
			for leaf := range steps + 1 {
				prices[leaf] = spot * float32(math.Exp(float64(deviation*float32(2*leaf-steps))))
				values[leaf] = max(strike-prices[leaf], 0)
			}
			for left := steps; left > 0; left-- {
				p, v := prices[:left], values[:left]
				v = v[:len(p)]
				next := values[1:][:len(p)]
				for i := range p {
					p[i] *= up
					v[i] = max(rise*next[i]+fall*v[i], strike-p[i])
				}
			}
			puts[option] = values[0]
		}
	})
}

// Asian simulates paths of a price and computes the payoffs of an Asian call option.
func Asian(seed uint64, rounds int, spot, strike, drift, deviation float32, payoffs []float32) {
	parallel(len(payoffs), func(lo, hi int) {
		for path := lo; path < hi; path++ {
			price := spot
			var sum float32
			step := func(normal float32) {
				price *= float32(math.Exp(float64(drift + deviation*normal)))
				sum += price
			}
			steps := func(a, b uint32) {
				radius := float32(math.Sqrt(-2 * math.Log(float64(1-float32(a>>8)*0x1p-24))))
				sin, cos := math.Sincos(2 * math.Pi * float64(float32(b>>8)*0x1p-24))
				step(radius * float32(cos))
				step(radius * float32(sin))
			}
			for round := range rounds {
				a, b, c, d := philox4(uint32(round), uint32(path), uint32(seed), uint32(seed>>32))
				steps(a, b)
				steps(c, d)
			}
			payoffs[path] = max(sum/float32(4*rounds)-strike, 0)
		}
	})
}

// philox4 returns Philox4x32-10 of counter (c0, 0, c2, 0) and key (k0, k1).
func philox4(c0, c2, k0, k1 uint32) (uint32, uint32, uint32, uint32) {
	var c1, c3 uint32
	for range 10 {
		p, q := uint64(c0)*0xD2511F53, uint64(c2)*0xCD9E8D57
		c0, c1, c2, c3 = uint32(q>>32)^c1^k0, uint32(q), uint32(p>>32)^c3^k1, uint32(p)
		k0 += 0x9E3779B9
		k1 += 0xBB67AE85
	}
	return c0, c1, c2, c3
}
