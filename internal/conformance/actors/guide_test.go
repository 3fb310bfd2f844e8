package actors

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/internal/testmodule"
	"quern.dev/kernel"
	"quern.dev/ring"
)

// The functions below are the code of docs/ring.md.

func logLetters(rt *ring.Runtime) {
	for l := range rt.DeadLetters().All() {
		log.Printf("%s: message %d from %q: %v: %v", l.Actor, l.ID, l.Sender, l.Reason, l.Err)
	}
}

func askOne(ctx context.Context) (sum int64, err error) {
	dev, err := gpu.Open(gpu.Config{})
	if err != nil {
		return 0, err
	}
	defer dev.Close()
	rt, err := ring.New(dev, ring.Config{})
	if err != nil {
		return 0, err
	}
	defer rt.Close()

	total, err := SpawnAccumulate(ctx, rt, ring.Options{Name: "total", State: Total{Sum: 1000}})
	if err != nil {
		return 0, err
	}
	reply, err := total.Ask(ctx, Sample{Value: 20})
	if err != nil {
		return 0, err
	}
	return reply.Sum, nil // 1020
}

func sendMany(ctx context.Context, total *ring.Actor[Sample, Reply]) (last int64, err error) {
	samples := []Sample{{Value: 1}, {Value: 2}, {Value: 3}}
	if _, err := total.SendBatch(ctx, samples); err != nil {
		return 0, err
	}
	replies := make([]Reply, len(samples))
	for n := 0; n < len(replies); {
		got, err := total.ReceiveBatch(ctx, replies[n:])
		if err != nil {
			return 0, err
		}
		n += got
	}
	return replies[2].Sum, nil
}

func urgent(ctx context.Context, total *ring.Actor[Sample, Reply]) (uint64, error) {
	err := total.Send(ctx, Sample{Value: 5}, ring.Priority(200), ring.TTL(time.Minute), ring.Correlation(42))
	if err != nil {
		return 0, err
	}
	m, err := total.ReceiveMessage(ctx)
	if err != nil {
		return 0, err
	}
	return m.Correlation, nil // 42
}

func restarted(ctx context.Context, rt *ring.Runtime) (*ring.Actor[Sample, Reply], error) {
	return SpawnAccumulate(ctx, rt, ring.Options{
		Supervisor: func(f ring.Failure) ring.Decision {
			if f.Count > 3 {
				return ring.End
			}
			return ring.Resume // with its state, and the next message
		},
	})
}

func pause(ctx context.Context, total *ring.Actor[Sample, Reply]) (ring.Termination, error) {
	if err := total.Deactivate(); err != nil {
		return ring.Termination{}, err
	}
	if err := total.Tell(ctx, Sample{Value: 1}); err != nil { // it waits
		return ring.Termination{}, err
	}
	if err := total.Activate(); err != nil {
		return ring.Termination{}, err
	}
	return total.Terminate(ctx) // handles what is left
}

func onHost(ctx context.Context, rt *ring.Runtime) (string, error) {
	greeter, err := ring.SpawnHost(ctx, rt, func(_ context.Context, _ *ring.HostContext, in *string, out *string) kernel.Action {
		*out = "hello, " + *in
		return kernel.Reply
	}, ring.Options{Name: "greeter"})
	if err != nil {
		return "", err
	}
	return greeter.Ask(ctx, "actor")
}

func TestTheGuidesCodeWorks(t *testing.T) {
	if sum, err := askOne(t.Context()); err != nil || sum != 1020 {
		t.Errorf("askOne: %d, %v", sum, err)
	}
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		go logLetters(rt) // until the runtime is closed
		total, err := restarted(ctx, rt)
		if err != nil {
			t.Fatal(err)
		}
		if sum, err := sendMany(ctx, total); err != nil || sum != 6 {
			t.Errorf("sendMany: %d, %v", sum, err)
		}
		if id, err := urgent(ctx, total); err != nil || id != 42 {
			t.Errorf("urgent: %d, %v", id, err)
		}
		var failed *ring.HandlerError
		if _, err := total.Ask(ctx, Sample{Kind: Crash}); !errors.As(err, &failed) {
			t.Errorf("a handler that fails: %v", err)
		}
		for total.State() == ring.Failed && ctx.Err() == nil {
		}
		if f, err := pause(ctx, total); err != nil || f.DeadLettered+f.Dropped != 0 {
			t.Errorf("pause: %+v, %v", f, err)
		}
		if text, err := onHost(ctx, rt); err != nil || text != "hello, actor" {
			t.Errorf("onHost: %q, %v", text, err)
		}
	})
}

func TestTheGuideShowsTestedCode(t *testing.T) {
	testmodule.NeedSource(t)
	text, err := os.ReadFile("../../../docs/ring.md")
	if err != nil {
		t.Fatal(err)
	}
	var sources strings.Builder
	for _, name := range []string{"guide_test.go", "handlers.go", "../../../examples/anomaly/detector.go", "../../../ring/group_example_test.go", "../../../ring/payload_example_test.go", "../routing/payloads.go", "../../../examples/pagerank/rank.go"} {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		// The document shows parts of functions without their indentation.
		fmt.Fprintln(&sources, unindented(string(source)))
	}
	parts := strings.Split(string(text), "```go\n")
	if len(parts) < 2 {
		t.Fatal("the document has no Go code")
	}
	for _, part := range parts[1:] {
		block, _, ended := strings.Cut(part, "\n```")
		if !ended || !strings.Contains(sources.String(), unindented(block)) {
			t.Errorf("the document shows code that is in no tested file:\n%s", block)
		}
	}
}

func unindented(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimLeft(lines[i], "\t")
	}
	return strings.Join(lines, "\n")
}
