package actors

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/kernel"
	"quern.dev/ring"
	"quern.dev/ring/actor"
)

// TestMisuseNamesTheHandler: what is wrong is the handler's, and so is the line.
func TestMisuseNamesTheHandler(t *testing.T) {
	for _, tt := range []struct {
		name    string
		message Misuse
		line    string // of the handler
		says    string
	}{
		{"an action that is the loop's own", Misuse{Action: 0x101}, "func misuser", "action"},
		{"one that is the host's own", Misuse{Action: 0x1ff}, "func misuser", "action"},
		{"that of a failure", Misuse{Action: 0x100}, "func misuser", "action"},
		{"one more than the last", Misuse{Action: uint32(kernel.Again) + 1}, "func misuser", "action"},
		{"one without bits for a tag", Misuse{Action: 0xffffffff}, "func misuser", "action"},
		{"a reference to no payload", Misuse{How: OpenBad}, "in.Values.Open", "reference to no payload"},
		{"a release of no payload", Misuse{How: FreeBad}, "in.Values.Release", "reference to no payload"},
		{"only the first of two warps fails", Misuse{How: FirstOnly}, `panic("asked to")`, "asked to"},
		{"a mailbox outside of the memory", Misuse{How: SendOut, To: actor.Ref[int64]{Mailbox: 1 << 27, Actor: 1}}, "actor.Send(t, c, in.To, &n)", "out of range"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
				a := spawned(t, ctx, rt, SpawnMisuser, ring.Options{Supervisor: func(ring.Failure) ring.Decision { return ring.Resume }})
				p, err := ring.NewPayload[int32](rt, 1) // so that there is memory
				if err != nil {
					t.Fatal(err)
				}
				defer p.Release()
				_, err = a.Ask(ctx, tt.message)
				fault, ok := errors.AsType[*gpu.KernelError](err)
				if !ok {
					t.Fatalf("got %v, want a KernelError", err)
				}
				want := fmt.Sprintf("handlers.go:%d", lastLineOf(t, tt.line))
				if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("got %v, want %s at %s", fault, tt.says, want)
				}
			})
		})
	}
}

//go:embed handlers.go
var handlersSource string // test binaries run where there is no source

// lastLineOf is the number of the last line of handlers.go with some text.
func lastLineOf(t *testing.T, text string) int {
	t.Helper()
	lines := strings.Split(handlersSource, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if strings.Contains(lines[i], text) {
			return i + 1
		}
	}
	return 0
}
