//go:build !race

package actors // the race detector allocates

import (
	"context"
	"testing"

	"quern.dev/ring"
)

// Replies that are asked for
// one at a time cost no allocation.
func TestAskAllocatesNothing(t *testing.T) {
	for _, b := range backends {
		if b == "sim" {
			continue // the interpreter allocates
		}
		t.Run(string(b), func(t *testing.T) {
			rt := open(t, b)
			ctx := context.Background()
			a, err := SpawnEcho(ctx, rt, ring.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if n := testing.AllocsPerRun(200, func() {
				if _, err := a.Ask(ctx, Message{}); err != nil {
					t.Fatal(err)
				}
			}); n != 0 {
				t.Errorf("%v allocations a message", n)
			}
		})
	}
}
