package echo

import (
	"context"

	"quern.dev/ring"
)

var program = &ring.Program{Name: "echo", Kernel: quernEchoActor, Threads: 32}

// SpawnEcho makes an actor.
func SpawnEcho(ctx context.Context, rt *ring.Runtime, o ring.Options) (*ring.Actor[Message, Message], error) {
	return ring.Spawn[State, Message, Message](ctx, rt, program, o)
}
