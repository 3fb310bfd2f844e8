package routing

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"quern.dev/ring"
)

// A device that runs one block at a time has the next Ask ready before the block gets
// its turn. The block must still alternate between the program and other actors.
func TestAsksDoNotStarveMessagesFromActors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(16)) // number of blocks that wait for their turn at a time
	for name, config := range map[string]ring.Config{"default": {}, "bounded": {Bounded: true, Messages: 1}} {
		t.Run(name, func(t *testing.T) { askedAllTheTime(t, config) })
	}
}

func askedAllTheTime(t *testing.T, config ring.Config) {
	everyDevice(t, config, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		actors := tallies(t, ctx, rt, 6)
		g := group(t, rt, "all", actors...)
		sender := must[*ring.Actor[Order, Sent]](t)(SpawnSend(ctx, rt, ring.Options{}))
		const rounds, asks = 10, 100
		for round := range int64(rounds) {
			if r := must[Sent](t)(sender.Ask(ctx, Order{To: g.Ref(), How: Publish, Value: round})); r.Taken != 6 {
				t.Fatalf("%+v", r)
			}
			var wg sync.WaitGroup
			for _, a := range actors {
				wg.Go(func() {
					for range asks {
						got, err := a.Ask(ctx, Item{Ask: 1})
						if err != nil {
							t.Error(err)
							return
						}
						if got.Count == round+1 {
							return
						}
					}
					t.Errorf("%s answered %d Asks and has not handled an older message from another actor", a.Name(), asks)
				})
			}
			wg.Wait()
			if t.Failed() {
				return
			}
		}
	})
}
