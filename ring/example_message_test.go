package ring_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"quern.dev/gpu"
	"quern.dev/ring"
)

// The oldest messages of the lowest priority make room for others, and become dead
// letters.
func ExampleRuntime_DeadLetters() {
	ctx := context.Background()
	dev, err := gpu.Open(gpu.Config{Require: gpu.CPU})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	rt, err := ring.New(dev, ring.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer rt.Close()
	a, err := ring.SpawnHost(ctx, rt, twice, ring.Options{Name: "twice", Capacity: 2, Full: ring.DropOldest, Inactive: true})
	if err != nil {
		log.Fatal(err)
	}
	for i, priority := range []int{100, 200, 150, 150} {
		if err := a.Send(ctx, i, ring.Priority(priority), ring.TTL(time.Minute), ring.Correlation(uint64(10*i))); err != nil {
			log.Fatal(err)
		}
	}
	for l := range rt.DeadLetters().All() {
		fmt.Printf("message %v of priority %d, correlation %d: %v\n", l.Body, l.Priority, l.Correlation, l.Reason)
	}
	if err := a.Activate(); err != nil {
		log.Fatal(err)
	}
	for range 2 {
		m, err := a.ReceiveMessage(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("reply %d to a message of priority %d\n", m.Body, m.Priority)
	}
	// Output:
	// message 0 of priority 100, correlation 0: dropped
	// message 2 of priority 150, correlation 20: dropped
	// reply 2 to a message of priority 200
	// reply 6 to a message of priority 150
}
