package monitor_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"time"

	"quern.dev/gpu"
	"quern.dev/internal/nvml"
	"quern.dev/internal/nvml/fakenvml"
	"quern.dev/monitor"
	"quern.dev/ring"
)

func ExampleSample() {
	defer nvml.Substitute(fakenvml.New(fakenvml.H200(0)).Open)() // a GPU for this example
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	for s := range monitor.Sample(ctx, 20*time.Millisecond) {
		if s.Err != nil {
			fmt.Println(s.Err) // no GPU: s.CPU still has the load of the cores
		}
		for i, g := range s.GPUs {
			power := s.History.GPU(i, monitor.Power)
			fmt.Printf("%s: %v %% busy, %v W, average %.1f, maximum %.1f, fan %v\n", g.Name, g.UtilizationPercent, g.PowerWatts, power.Average, power.Max, g.FanPercent)
		}
		break
	}
	// Output: NVIDIA H200: 97 % busy, 612.5 W, average 612.5, maximum 612.5, fan -
}

// A program exports its own metrics together with those of the machine.
func ExampleHandler() {
	ctx := context.Background()
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
	http.Handle("/metrics", monitor.Handler(
		monitor.StartSampler(ctx, time.Second).WritePrometheus, // GPUs and CPU, as quern export
		monitor.Devices(dev), // launches, copies and pools
		rt.WritePrometheus,   // actors and their queues
	))
}
