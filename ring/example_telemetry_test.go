package ring_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"quern.dev/gpu"
	"quern.dev/kernel"
	"quern.dev/ring"
)

// twice is the handler of a host actor.
func twice(_ context.Context, _ *ring.HostContext, in, out *int) kernel.Action {
	*out = 2 * *in
	return kernel.Reply
}

// doubling makes a runtime on the CPU with the actor "twice", which has answered three
// messages.
func doubling(ctx context.Context) (*ring.Runtime, func()) {
	dev, err := gpu.Open(gpu.Config{Require: gpu.CPU})
	if err != nil {
		log.Fatal(err)
	}
	rt, err := ring.New(dev, ring.Config{})
	if err != nil {
		log.Fatal(err)
	}
	a, err := ring.SpawnHost(ctx, rt, twice, ring.Options{Name: "twice"})
	if err != nil {
		log.Fatal(err)
	}
	for i := range 3 {
		if _, err := a.Ask(ctx, i); err != nil {
			log.Fatal(err)
		}
	}
	return rt, func() {
		rt.Close()
		dev.Close()
	}
}

func ExampleRuntime_Stats() {
	rt, closeAll := doubling(context.Background())
	defer closeAll()
	s := rt.Stats()
	fmt.Println(s.Actors[ring.Active], "active actor;", s.Handled, "messages handled,", s.Queued, "queued")
	for i := range rt.Actors() {
		fmt.Println(i.Name, "is", i.State, "and has accepted", i.Accepted)
	}
	// Output:
	// 1 active actor; 3 messages handled, 0 queued
	// twice is active and has accepted 3
}

func ExampleRuntime_WritePrometheus() {
	rt, closeAll := doubling(context.Background())
	defer closeAll()
	var text bytes.Buffer
	if err := rt.WritePrometheus(&text); err != nil {
		log.Fatal(err)
	}
	number := fmt.Sprintf("runtime=%q", fmt.Sprint(rt.Number()))
	for line := range strings.Lines(text.String()) {
		if strings.Contains(line, "quern_ring_messages_total") && strings.Contains(line, "twice") {
			fmt.Print(strings.Replace(line, number, `runtime="1"`, 1)) // the first runtime of a program
		}
	}
	// Output:
	// quern_ring_messages_total{device="cpu",runtime="1",actor="twice",outcome="handled"} 3
	// quern_ring_messages_total{device="cpu",runtime="1",actor="twice",outcome="failed"} 0
	// quern_ring_messages_total{device="cpu",runtime="1",actor="twice",outcome="expired"} 0
	// quern_ring_messages_total{device="cpu",runtime="1",actor="twice",outcome="dropped"} 0
}

func ExampleRuntime_StartTrace() {
	rt, closeAll := doubling(context.Background())
	defer closeAll()
	trace, err := rt.StartTrace(0)
	if err != nil {
		log.Fatal(err)
	}
	a, err := ring.Find[int, int](rt, "twice")
	if err != nil {
		log.Fatal(err)
	}
	if err := errors.Join(a.Deactivate(), a.Activate()); err != nil {
		log.Fatal(err)
	}
	trace.Stop()
	f, err := os.CreateTemp("", "*.json") // open it in ui.perfetto.dev
	if err != nil {
		log.Fatal(err)
	}
	defer os.Remove(f.Name())
	if _, err := trace.WriteTo(f); err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Close(), trace.Lost())
	// Output: <nil> 0
}
