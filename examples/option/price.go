package main

import (
	"context"
	"math"
	"sync/atomic"

	"quern.dev/algo"
	"quern.dev/examples/internal/example"
	"quern.dev/gpu"
	"quern.dev/random"
)

// strikes are the prices at which the options allow to buy the stock.
var strikes = [...]float64{80, 90, 100, 110, 120}

// quotes are the moments of the simulated values of the options for each strike. Their
// mean is the price.
type quotes struct{ european, asian [len(strikes)]algo.Moments }

// merge adds the values of other paths.
func (q *quotes) merge(other quotes) {
	for k := range strikes {
		q.european[k] = q.european[k].Merge(other.european[k])
		q.asian[k] = q.asian[k].Merge(other.asian[k])
	}
}

// standardError returns the standard deviation of a mean.
func standardError(m algo.Moments) float64 { return math.Sqrt(m.SampleVariance() / float64(m.Count)) }

// price simulates paths in pieces, and every device takes each len(devs)-th piece. The
// pieces are merged in their order, so their distribution makes no difference.
func price(ctx context.Context, devs []*gpu.Device, m market, seed uint64, paths, piece int) (total quotes, err error) {
	pieces := make([]quotes, (paths+piece-1)/piece)
	progress := example.StartProgress("pieces", len(pieces))
	defer progress.End()
	var done atomic.Int64
	err = gpu.OnEach(ctx, devs, func(ctx context.Context, first int, dev *gpu.Device) error {
		return simulate(dev, m, piece, func(run simulation) (err error) {
			for i := first; i < len(pieces); i += len(devs) {
				if pieces[i], err = run(ctx, seed, i*piece, min(piece, paths-i*piece)); err != nil {
					return err
				}
				if n := done.Add(1); first == 0 {
					progress.At(int(n))
				}
			}
			return nil
		})
	})
	for _, q := range pieces {
		total.merge(q)
	}
	return total, err
}

// simulation prices options from n paths, the first of which has the given index.
type simulation func(ctx context.Context, seed uint64, first, n int) (quotes, error)

// simulate calls use with a simulation of up to most paths at a time on a device.
func simulate(dev *gpu.Device, m market, most int, use func(simulation) error) error {
	s := dev.DefaultStream()
	return dev.Pool().Scope(s, func(scope *gpu.Scope) error {
		numbers, err := gpu.AcquireIn[float64](scope, (m.Dates+3)*most)
		if err != nil {
			return err
		}
		moments, err := gpu.AcquireIn[algo.Moments](scope, 2*len(strikes))
		if err != nil {
			return err
		}
		return use(func(ctx context.Context, seed uint64, first, n int) (q quotes, err error) {
			part := func(i, length int) *gpu.Buffer[float64] { return numbers.Slice(i*n, (i+length)*n) }
			last, average, value, normal := part(0, 1), part(1, 1), part(2, 1), part(3, m.Dates)
			for date := range m.Dates {
				src := random.Source{Seed: seed, Stream: uint64(date), Offset: uint64(first)}
				if err := random.Normal(s, src, normal.Slice(date*n, (date+1)*n), 0, 1); err != nil {
					return q, err
				}
			}
			if err := LaunchFollow(s, gpu.Linear(n), m, normal, last, average); err != nil {
				return q, err
			}
			discount := math.Exp(-m.Rate * m.Years)
			for k := range moments.Len() {
				price := []*gpu.Buffer[float64]{last, average}[k/len(strikes)]
				if err := LaunchCallValues(s, gpu.Linear(n), discount, strikes[k%len(strikes)], price, value); err != nil {
					return q, err
				}
				if err := algo.MomentsOf(s, moments.Slice(k, k+1), value); err != nil {
					return q, err
				}
			}
			var all [2 * len(strikes)]algo.Moments
			err = gpu.Download(ctx, s, all[:], moments)
			copy(q.european[:], all[:])
			copy(q.asian[:], all[len(strikes):])
			return q, err
		})
	})
}

// blackScholes returns the price of a European call option.
func (m market) blackScholes(strike float64) float64 {
	normal := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	deviation := m.Volatility * math.Sqrt(m.Years)
	d := (math.Log(m.Stock/strike) + m.Rate*m.Years) / deviation
	return m.Stock*normal(d+deviation/2) - strike*math.Exp(-m.Rate*m.Years)*normal(d-deviation/2)
}
