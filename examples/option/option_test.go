package main

import (
	"bytes"
	"context"
	"io"
	"math"
	"strings"
	"testing"

	"quern.dev/examples/internal/exampletest"
	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/random"
)

var plain = market{Stock: 100, Rate: 0.03, Volatility: 0.25, Years: 1, Dates: 12}

func small(dev *gpu.Device) options {
	o := options{market: plain, paths: 30_000, seed: 1, verify: true}
	if dev.Backend() == gpu.Sim {
		o.paths, o.Dates = 500, 3
	}
	return o
}

func TestRunOnEveryDevice(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		var text bytes.Buffer
		if err := run(t.Context(), &text, []*gpu.Device{dev}, small(dev)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text.String(), "verified") || strings.Count(text.String(), "±") != 2*len(strikes)+1 {
			t.Errorf("the output is\n%s", &text)
		}
	})
}

func TestPricesDoNotDependOnTheNumberOfDevices(t *testing.T) {
	var devs []*gpu.Device
	for range 3 {
		devs = append(devs, gputest.Open(t, gpu.Config{Device: "cpu"}))
	}
	want, err := price(t.Context(), devs[:1], plain, 7, 5000, 512)
	if err != nil {
		t.Fatal(err)
	}
	for n := 2; n <= 3; n++ {
		if got, err := price(t.Context(), devs[:n], plain, 7, 5000, 512); err != nil || got != want {
			t.Errorf("%d devices: %v, %v, want %v", n, got, err, want)
		}
	}
}

// TestPathsAreThoseOfPlainGo recomputes the price of the Asian option from the numbers that
// the indices of path and date give.
func TestPathsAreThoseOfPlainGo(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		const paths = 100
		q, err := price(t.Context(), []*gpu.Device{dev}, plain, 7, paths, 33)
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		for path := range uint64(paths) {
			price, sum := plain.Stock, 0.0
			for date := range plain.Dates {
				z := random.Source{Seed: 7, Stream: uint64(date)}.Normal64(path)
				price *= math.Exp((plain.Rate-plain.Volatility*plain.Volatility/2)/12 + plain.Volatility*math.Sqrt(1./12)*z)
				sum += price / 12
			}
			want += math.Exp(-plain.Rate) * max(0, sum-strikes[2]) / paths
		}
		if got := q.asian[2]; got.Count != paths || math.Abs(got.Mean-want) > 1e-10 {
			t.Errorf("the price is %+v, want %v", got, want)
		}
	})
}

func TestBlackScholes(t *testing.T) {
	// Hull, Options, Futures and Other Derivatives: the example of the formula.
	m := market{Stock: 42, Rate: 0.1, Volatility: 0.2, Years: 0.5}
	if got := m.blackScholes(40); math.Abs(got-4.76) > 0.005 {
		t.Errorf("the price is %.4f, want 4.76", got)
	}
}

func TestVerifyFindsWrongPrices(t *testing.T) {
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	q, err := price(t.Context(), []*gpu.Device{dev}, plain, 1, 20_000, 1<<12)
	if err != nil {
		t.Fatal(err)
	}
	if err := q.verify(plain); err != nil {
		t.Error(err)
	}
	wrong := q
	wrong.european[3].Mean += 10 * standardError(q.european[3])
	if wrong.verify(plain) == nil {
		t.Error("verify accepts a European option that costs too much")
	}
	wrong = q
	wrong.asian[0].Mean = q.european[0].Mean
	if wrong.verify(plain) == nil {
		t.Error("verify accepts an Asian option that costs too much")
	}
}

func TestInterruptEndsTheRun(t *testing.T) {
	exampletest.EndsWhenInterrupted(t, func(ctx context.Context, w io.Writer, dev *gpu.Device) error {
		return run(ctx, w, []*gpu.Device{dev}, small(dev))
	})
}

func TestOptionsOutOfRangeAreErrors(t *testing.T) {
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	for want, change := range map[string]func(o *options){
		"-paths":      func(o *options) { o.paths = 1 },
		"-rate":       func(o *options) { o.Rate = math.NaN() },
		"-volatility": func(o *options) { o.Volatility = 0 },
		"-years":      func(o *options) { o.Years = math.Inf(1) },
	} {
		o := small(dev)
		change(&o)
		exampletest.Refuses(t, want, func(ctx context.Context, w io.Writer) error { return run(ctx, w, []*gpu.Device{dev}, o) })
	}
}
