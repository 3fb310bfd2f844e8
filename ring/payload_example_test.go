package ring_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"quern.dev/gpu"
	"quern.dev/internal/conformance/routing"
	"quern.dev/ring"
)

// onCPU makes a runtime on the CPU.
func onCPU(config ring.Config) (rt *ring.Runtime, end func()) {
	dev, err := gpu.Open(gpu.Config{Require: gpu.CPU})
	if err != nil {
		log.Fatal(err)
	}
	if rt, err = ring.New(dev, config); err != nil {
		log.Fatal(err)
	}
	return rt, func() {
		if err := errors.Join(rt.Close(), dev.Close()); err != nil {
			log.Fatal(err)
		}
	}
}

// A message refers to a thousand values, which are not copied. The handler is
//
//	//quern:actor
//	func work(t kernel.Thread, c *actor.Context, data []float32, state *Desk, in *Batch, out *Result) kernel.Action {
//		values := in.Values.Open(c, data)
//		...
func ExampleNewPayload() {
	rt, end := onCPU(ring.Config{})
	defer end()
	ctx := context.Background()
	worker, err := routing.SpawnWork(ctx, rt, ring.Options{})
	if err != nil {
		log.Fatal(err)
	}
	p, err := ring.NewPayload[float32](rt, 1000)
	if err != nil {
		log.Fatal(err)
	}
	if err := gpu.Fill(rt.Device().DefaultStream(), p.Buffer(), 0.5); err != nil {
		log.Fatal(err)
	}
	if err := rt.Device().DefaultStream().Synchronize(ctx); err != nil {
		log.Fatal(err)
	}
	batch := routing.Batch{Values: p.Ref(), Do: routing.Sum}
	reply, err := worker.Ask(ctx, batch)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(reply.Sum)
	if err := p.Release(); err != nil {
		log.Fatal(err)
	}
	_, err = worker.Ask(ctx, batch)
	fmt.Println(errors.Is(err, ring.ErrReleased))
	// Output:
	// 500
	// true
}
