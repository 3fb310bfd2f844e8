package language

import (
	"context"

	"quern.dev/gpu"
	"quern.dev/kernel"
	"quern.dev/ring"
)

// samples is a message with sensor readings.
type samples struct{ Values [64]float32 }

// summary is the state of summarise, and its reply.
type summary struct {
	Sum   float64
	Count int
}

// summarise adds up all samples it receives. Its threads handle each message
// together.
//
//quern:actor block=64
func summarise(t kernel.Thread, state *summary, in *samples, out *summary) kernel.Action {
	sums := kernel.Shared[[2]float32](t)
	sum := kernel.WarpReduceAdd(t, in.Values[t.ThreadIdx.X])
	if t.Lane() == 0 {
		sums[t.Warp()] = sum
	}
	t.Sync()
	if t.ThreadIdx.X == 0 {
		state.Sum += float64(sums[0]) + float64(sums[1])
		state.Count += len(in.Values)
		*out = *state
	}
	return kernel.Reply
}

// summaryOf sends messages to an actor, one after another, and returns the last
// reply.
func summaryOf(ctx context.Context, d *gpu.Device, messages []samples) (last summary, err error) {
	rt, err := ring.New(d, ring.Config{})
	if err != nil {
		return last, err
	}
	defer rt.Close()
	a, err := SpawnSummarise(ctx, rt, ring.Options{Name: "totals"})
	if err != nil {
		return last, err
	}
	for _, m := range messages {
		if last, err = a.Ask(ctx, m); err != nil {
			return last, err
		}
	}
	return last, nil
}
