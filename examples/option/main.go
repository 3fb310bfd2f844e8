package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"time"

	"quern.dev/examples/internal/example"
	"quern.dev/gpu"
)

// options are the command-line options.
type options struct {
	market
	paths  int
	seed   uint64
	verify bool
}

func main() {
	o := options{market: market{Stock: 100, Dates: 12}}
	flag.IntVar(&o.paths, "paths", 0, "the `number` of paths, by default 16 million per GPU, 4 million on the CPU, 2,000 in the simulator")
	flag.Float64Var(&o.Rate, "rate", 0.03, "interest per year")
	flag.Float64Var(&o.Volatility, "volatility", 0.25, "standard deviation of the logarithm of the price after one year")
	flag.Float64Var(&o.Years, "years", 1, "the time until the options can be exercised")
	flag.Uint64Var(&o.seed, "seed", 1, "the seed of the random numbers")
	flag.BoolVar(&o.verify, "verify", false, "check the prices, and that one device alone computes the same")
	example.MainAll("option", func(ctx context.Context, w io.Writer, devs []*gpu.Device) error { return run(ctx, w, devs, o) })
}

// check returns an error for the first option that is out of range. The comparisons are
// false for NaN.
func (o *options) check() error {
	switch {
	case o.paths < 2 || o.paths > 1<<40:
		return fmt.Errorf("-paths %d: want 2 to %d", o.paths, 1<<40)
	case !(math.Abs(o.Rate) <= 1):
		return fmt.Errorf("-rate %g: want -1 to 1", o.Rate)
	case !(o.Volatility > 0 && o.Volatility <= 3):
		return fmt.Errorf("-volatility %g: want more than 0, and at most 3", o.Volatility)
	case !(o.Years > 0 && o.Years <= 100):
		return fmt.Errorf("-years %g: want more than 0, and at most 100", o.Years)
	}
	return nil
}

func run(ctx context.Context, w io.Writer, devs []*gpu.Device, o options) error {
	if o.paths == 0 {
		o.paths = map[gpu.Backend]int{gpu.CUDA: len(devs) << 24, gpu.CPU: 1 << 22, gpu.Sim: 2000}[devs[0].Backend()]
	}
	if err := o.check(); err != nil {
		return err
	}
	// Pieces are large enough for a GPU, and small enough for several of them to have some.
	const piece = 1 << 18
	begin := time.Now()
	q, err := price(ctx, devs, o.market, o.seed, o.paths, piece)
	if err != nil {
		return err
	}
	took := time.Since(begin)
	for _, dev := range devs {
		fmt.Fprintf(w, "%s (%s)\n", dev.Name(), dev.ID())
	}
	fmt.Fprintf(w, "%d paths of %d dates in %v\n\n", o.paths, o.Dates, took.Round(time.Millisecond))
	fmt.Fprintf(w, "%8s %20s %14s %12s %20s\n", "strike", "European", "Black-Scholes", "difference", "Asian")
	for k, strike := range strikes {
		e, a, want := q.european[k], q.asian[k], o.blackScholes(strike)
		fmt.Fprintf(w, "%8g %10.4f ± %.4f  %13.4f %9.1f se %10.4f ± %.4f\n",
			strike, e.Mean, standardError(e), want, (e.Mean-want)/standardError(e), a.Mean, standardError(a))
	}
	fmt.Fprintf(w, "\n± and se: standard error\n")
	if !o.verify {
		return nil
	}
	if err := q.verify(o.market); err != nil {
		return err
	}
	fmt.Fprintln(w, "verified: the prices are those of Black and Scholes")
	if len(devs) == 1 {
		return nil
	}
	one, err := price(ctx, devs[:1], o.market, o.seed, o.paths, piece)
	switch {
	case err != nil:
		return err
	case one != q:
		return fmt.Errorf("verify: the prices of %d devices are not those of one", len(devs))
	}
	fmt.Fprintln(w, "verified: one device alone computes the same bits")
	return nil
}

// verify compares the prices with those of Black and Scholes, and those of the Asian
// options with the others, which are higher.
func (q *quotes) verify(m market) error {
	const most = 4.5 // standard errors; chance exceeds it once in 150,000 times
	for k, strike := range strikes {
		e, want := q.european[k], m.blackScholes(strike)
		if !(math.Abs(e.Mean-want) <= most*standardError(e)) {
			return fmt.Errorf("verify: the price for a strike of %g is %.5f ± %.5f, want %.5f", strike, e.Mean, standardError(e), want)
		}
		if a := q.asian[k]; !(a.Mean < e.Mean) {
			return fmt.Errorf("verify: for a strike of %g, the Asian option costs %.5f, the European one %.5f", strike, a.Mean, e.Mean)
		}
	}
	return nil
}
