package ring_test

import (
	"context"
	"fmt"
	"log"

	"quern.dev/internal/conformance/routing"
	"quern.dev/ring"
)

func ExampleGroup() {
	rt, end := onCPU(ring.Config{})
	defer end()
	ctx := context.Background()
	topic, err := ring.NewGroup[routing.Item](rt, "prices")
	if err != nil {
		log.Fatal(err)
	}
	var actors []*ring.Actor[routing.Item, routing.Tally]
	for _, name := range []string{"london", "tokyo"} {
		a, err := routing.SpawnTally(ctx, rt, ring.Options{Name: name})
		if err != nil {
			log.Fatal(err)
		}
		if err := topic.Add(a); err != nil {
			log.Fatal(err)
		}
		actors = append(actors, a)
	}
	n, err := topic.Publish(ctx, routing.Item{Value: 7})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("published to", n)
	// All messages with key 1 go to the same one of the two.
	if err := topic.Route(ctx, 1, routing.Item{Key: 1, Value: 3}); err != nil {
		log.Fatal(err)
	}
	// Both are asked at the same time.
	totals, err := ring.Gather(ctx, actors, []routing.Item{{Ask: 1}, {Ask: 1}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("values", totals[0].Values+totals[1].Values)
	_, err = ring.FindGroup[routing.Item](rt, "weather")
	fmt.Println(err)
	// Output:
	// published to 2
	// values 17
	// ring: there is no group "weather"; there are prices
}
