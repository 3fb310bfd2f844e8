package main

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/kernel"
	"quern.dev/ring"
)

// handle calls the handler as an actor does.
func handle(d *detector, in reading) (finding, kernel.Action) {
	var out finding
	action := kernel.Done
	kernel.Each(kernel.Dim3{X: 1}, kernel.Dim3{X: 32}, func(t kernel.Thread) {
		if a := watch(t, d, &in, &out); t.ThreadIdx.X == 0 {
			action = a
		}
	})
	return out, action
}

func TestDetectorLearnsMeanAndVariance(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	// The offset is far larger than the deviations: sums of squares would lose them.
	const offset, deviation = 1e9, 0.5
	d := &detector{Period: 1, Threshold: 1e6}
	sum, values := 0.0, []float64(nil)
	for range d.learning() {
		v := offset + deviation*random.NormFloat64()
		sum, values = sum+(v-offset), append(values, v)
		handle(d, reading{Value: v})
	}
	mean, squares := offset+sum/float64(len(values)), 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	if got := d.Level + d.Season[0]; math.Abs(got-mean) > 1e-6 {
		t.Errorf("mean %.9f, want %.9f", got, mean)
	}
	if want := squares / float64(len(values)-1); math.Abs(d.Squares-want) > 1e-6*want {
		t.Errorf("variance %g, want %g", d.Squares, want)
	}
}

func TestDetectorReplies(t *testing.T) {
	season := func(n int64) float64 { return 10 * math.Sin(2*math.Pi*float64(n%32)/32) }
	for _, tt := range []struct {
		name  string
		value func(n int64) float64
		last  float64
		kind  uint32
		want  kernel.Action
	}{
		{"a reading as the season has it", season, 10 * math.Sin(2*math.Pi*8/32), measured, kernel.Done},
		{"a reading against the season", season, -10, measured, kernel.Reply},
		{"a value that is not a number", season, math.NaN(), measured, kernel.Reply},
		{"an infinite value", season, math.Inf(1), measured, kernel.Reply},
		{"the value of a sensor that does not vary", func(int64) float64 { return 7 }, 7, measured, kernel.Done},
		{"another value of a sensor that does not vary", func(int64) float64 { return 7 }, 7.001, measured, kernel.Reply},
		{"the end", season, 0, ended, kernel.Reply},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := &detector{Sensor: 3, Period: 32, Threshold: 5}
			random := rand.New(rand.NewPCG(1, 2))
			n := int64(0)
			for ; n < 32*20+8; n++ {
				v := tt.value(n)
				if v != 7 {
					v += 0.1 * random.NormFloat64()
				}
				if out, action := handle(d, reading{Number: n, Value: v}); action != kernel.Done {
					t.Fatalf("reading %d: %+v", n, out)
				}
			}
			out, action := handle(d, reading{Number: n, Value: tt.last, Kind: tt.kind})
			if action != tt.want || out.Sensor != 3 || out.Number != n {
				t.Errorf("action %d, %+v, want action %d", action, out, tt.want)
			}
			if forecast, _ := d.judge(0); math.IsNaN(forecast) || math.IsInf(forecast, 0) {
				t.Errorf("the forecast is %v after that", forecast)
			}
		})
	}
}

func TestDetectorAdaptsToANewLevel(t *testing.T) {
	d := &detector{Period: 1, Threshold: 5}
	random := rand.New(rand.NewPCG(1, 2))
	action := kernel.Done
	for n := range 2000 {
		v := random.NormFloat64()
		if n >= 500 {
			v += 20
		}
		if _, action = handle(d, reading{Value: v}); n == 500 && action != kernel.Reply {
			t.Error("the first reading at the new level is not strange")
		}
	}
	if action != kernel.Done || math.Abs(d.Level+d.Season[0]-20) > 1 {
		t.Errorf("after 1500 readings the level is %v", d.Level+d.Season[0])
	}
}

// backends lists the back ends to test, where devices are available.
var backends = []gpu.Backend{gpu.CPU, gpu.Sim, gpu.CUDA}

func TestActorsAgreeWithTheHandler(t *testing.T) {
	for _, b := range backends {
		t.Run(string(b), func(t *testing.T) {
			dev, err := gpu.Open(gpu.Config{Require: b})
			if err != nil {
				t.Skipf("no %s device: %v; go tool quern doctor says what to do", b, err)
			}
			defer dev.Close()
			rt, err := ring.New(dev, ring.Config{})
			if err != nil {
				t.Fatal(err)
			}
			defer rt.Close()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			want := detector{Sensor: 1, Period: 8, Threshold: 5}
			a, err := SpawnWatch(ctx, rt, ring.Options{State: want})
			if err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(3, 4))
			var told []finding
			for n := range int64(400) {
				in := reading{Number: n, Value: 100 + random.NormFloat64()}
				if n%50 == 49 {
					in.Value += 30
				}
				if out, action := handle(&want, in); action == kernel.Reply {
					told = append(told, out)
				}
				if err := a.Send(ctx, in); err != nil {
					t.Fatal(err)
				}
			}
			if len(told) < 6 {
				t.Errorf("the handler reported %d readings", len(told))
			}
			for _, want := range told {
				got, err := a.Receive(ctx)
				if err != nil {
					t.Fatal(err)
				}
				near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-9*math.Abs(y) }
				if got.Number != want.Number || got.Seen != want.Seen || got.Strange != want.Strange || !near(got.Want, want.Want) || !near(got.Score, want.Score) {
					t.Errorf("%+v, want %+v", got, want)
				}
			}
		})
	}
}
