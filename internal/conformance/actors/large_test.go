package actors

import (
	"context"
	"testing"

	"quern.dev/ring"
)

func TestLargeMessagesAreTakenFewAtOnce(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		a, err := SpawnTurned(ctx, rt, ring.Options{Capacity: 32, Batch: 32})
		if err != nil {
			t.Fatal(err)
		}
		in := page{}
		for i := range in {
			in[i] = uint32(i)
		}
		for range 3 {
			out, err := a.Ask(ctx, in)
			if err != nil {
				t.Fatal(err)
			}
			if out[0] != uint32(len(in)-1) || out[len(in)-1] != 0 {
				t.Fatalf("%d ... %d", out[0], out[len(in)-1])
			}
		}
	})
}
