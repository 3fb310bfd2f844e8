package kernels

import "quern.dev/kernel"

// blackScholes prices European options with the Black-Scholes formula.
//
//quern:kernel block=256
func blackScholes(t kernel.Thread, rate, volatility float32, spots, strikes, years, calls, puts []float32) {
	blackScholesOption(t, rate, volatility, spots, strikes, years, calls, puts)
}

// blackScholesUnchecked is blackScholes without bounds checks.
//
//quern:kernel block=256 unchecked
func blackScholesUnchecked(t kernel.Thread, rate, volatility float32, spots, strikes, years, calls, puts []float32) {
	blackScholesOption(t, rate, volatility, spots, strikes, years, calls, puts)
}

func blackScholesOption(t kernel.Thread, rate, volatility float32, spots, strikes, years, calls, puts []float32) {
	i := t.Global()
	if i >= len(spots) {
		return
	}
	spot, strike, time := spots[i], strikes[i], years[i]
	deviation := volatility * kernel.Sqrt(time)
	d1 := (kernel.Log(spot/strike) + (rate+0.5*volatility*volatility)*time) / deviation
	n1, n2 := normal(d1), normal(d1-deviation)
	discounted := strike * kernel.Exp(-rate*time)
	calls[i] = spot*n1 - discounted*n2
	puts[i] = discounted*(1-n2) - spot*(1-n1)
}

// normal returns the cumulative normal distribution (Abramowitz and Stegun, 26.2.17).
func normal(d float32) float32 {
	k := 1 / (1 + 0.2316419*kernel.Abs(d))
	tail := 0.39894228 * kernel.Exp(-0.5*d*d) *
		(k * (0.31938153 + k*(-0.356563782+k*(1.781477937+k*(-1.821255978+k*1.330274429)))))
	if d > 0 {
		return 1 - tail
	}
	return tail
}
