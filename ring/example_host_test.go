package ring_test

import (
	"context"
	"fmt"
	"log"

	"quern.dev/gpu"
	"quern.dev/kernel"
	"quern.dev/ring"
)

// A host actor is an ordinary function. Its state is what the function captures.
func ExampleSpawnHost() {
	dev, err := gpu.Open(gpu.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	rt, err := ring.New(dev, ring.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer rt.Close()
	ctx := context.Background()

	names := map[string]int{}
	_, err = ring.SpawnHost(ctx, rt, func(_ context.Context, _ *ring.HostContext, name *string, seen *int) kernel.Action {
		names[*name]++
		*seen = names[*name]
		return kernel.Reply
	}, ring.Options{Name: "register"})
	if err != nil {
		log.Fatal(err)
	}

	register, err := ring.Find[string, int](rt, "register")
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		seen, err := register.Ask(ctx, "Ada")
		fmt.Println(seen, err)
	}
	termination, err := register.Terminate(ctx)
	fmt.Printf("%+v %v\n", termination, err)
	_, err = rt.Lookup("register")
	fmt.Println(err)
	// Output:
	// 1 <nil>
	// 2 <nil>
	// {Drained:0 DeadLettered:0 Dropped:0} <nil>
	// ring: there is no actor "register"; the runtime has no actors
}
