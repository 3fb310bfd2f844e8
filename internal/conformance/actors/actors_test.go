package actors

import (
	"context"
	"fmt"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/ring"
)

func open(t testing.TB, b gpu.Backend) *ring.Runtime { return openWith(t, b, ring.Config{}) }

func openWith(t testing.TB, b gpu.Backend, config ring.Config) *ring.Runtime {
	dev, err := gpu.Open(gpu.Config{Require: b})
	if err != nil {
		t.Skipf("no %s device: %v; go tool quern doctor says what to do", b, err)
	}
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	rt, err := ring.New(dev, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return rt
}

// within is a context that ends a test which takes far longer than it should: d, and
// more under the race detector.
func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), slowness*d)
	t.Cleanup(cancel)
	return ctx
}

// fewer is a number for tests that do the same many times: n, or a part of it where
// the tests are to be short and the race detector makes them long.
func fewer(n, part int) int {
	if testing.Short() && slowness > 1 {
		return part
	}
	return n
}

func TestEcho(t *testing.T) {
	for _, b := range backends {
		t.Run(fmt.Sprint(b), func(t *testing.T) {
			rt := open(t, b)
			ctx := within(t, 20*time.Second)
			a, err := SpawnEcho(ctx, rt, ring.Options{Capacity: 16})
			if err != nil {
				t.Fatal(err)
			}
			for i := range uint32(100) {
				r, err := a.Ask(ctx, Message{[16]uint32{i, 1, 2, 15: i}})
				if err != nil {
					t.Fatal(err)
				}
				if r != (Message{[16]uint32{i + 1, 2, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, i + 1}}) {
					t.Fatalf("%d: %v", i, r)
				}
			}
		})
	}
}

// backends are those that tests run on, where there are devices.
var backends = []gpu.Backend{gpu.CPU, gpu.Sim, gpu.CUDA}
