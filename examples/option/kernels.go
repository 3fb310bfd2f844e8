package main

import "quern.dev/kernel"

//go:generate go tool quern gen

// market describes the stock and the time until the option can be exercised.
type market struct {
	Stock      float64 // its price today
	Rate       float64 // interest per year
	Volatility float64 // per year
	Years      float64
	Dates      int // at which an Asian option takes the price, the last at the end
}

// follow simulates the price of the stock, which is a geometric Brownian motion, on one
// path per thread. It writes the last price and the average over all dates. normal has the
// random numbers of all paths for the first date, then for the second, and so on.
//
//quern:kernel
func follow(t kernel.Thread, m market, normal, last, average []float64) {
	i, paths := t.Global(), len(last)
	if i >= paths || i >= len(average) {
		return
	}
	interval := m.Years / float64(m.Dates)
	drift := (m.Rate - m.Volatility*m.Volatility/2) * interval
	deviation := m.Volatility * kernel.Sqrt(interval)
	price, sum := m.Stock, 0.0
	for date := range m.Dates {
		price *= kernel.Exp(drift + deviation*normal[date*paths+i])
		sum += price
	}
	last[i], average[i] = price, sum/float64(m.Dates)
}

// callValues computes what the right to buy at the strike price is worth today, for each
// price at the end.
//
//quern:kernel
func callValues(t kernel.Thread, discount, strike float64, price, value []float64) {
	if i := t.Global(); i < len(value) && i < len(price) {
		value[i] = discount * max(0, price[i]-strike)
	}
}
