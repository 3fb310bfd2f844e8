package actors

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"quern.dev/gpu"
	"quern.dev/ring"
)

func TestClosingTheDeviceClosesTheRuntimeFirst(t *testing.T) {
	for _, b := range backends {
		t.Run(fmt.Sprint(b), func(t *testing.T) {
			dev, err := gpu.Open(gpu.Config{Require: b})
			if err != nil {
				t.Skipf("no %s device: %v; go tool quern doctor says what to do", b, err)
			}
			rt, err := ring.New(dev, ring.Config{})
			if err != nil {
				t.Fatal(err)
			}
			ctx := context.Background()
			a, err := SpawnEcho(ctx, rt, ring.Options{})
			if err != nil {
				t.Fatal(err)
			}
			const n = 100
			for i := range uint32(n) {
				if err := a.Tell(ctx, Message{[16]uint32{i}}); err != nil {
					t.Fatal(err)
				}
			}
			if err := dev.Close(); err != nil {
				t.Error(err)
			}
			if _, err := a.Ask(ctx, Message{}); err == nil {
				t.Error("an actor of a device that is closed replies")
			}
			if _, err := SpawnEcho(ctx, rt, ring.Options{}); err == nil {
				t.Error("an actor begins on a device that is closed")
			}
			left := 0
			if err := rt.Close(); err != nil {
				e, ok := errors.AsType[*ring.LeftError](err)
				if !ok {
					t.Fatal(err)
				}
				left = e.Messages
			}
			if i := a.Info(); i.Handled+uint64(left) != n || i.Accepted != n {
				t.Errorf("%d messages are left, want all of %d accounted for: %+v", left, n, i)
			}
		})
	}
}
