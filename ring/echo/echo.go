package echo

import (
	"quern.dev/kernel"
	"quern.dev/ring/actor"
)

// Message has 64 bytes.
type Message struct {
	Words [16]uint32
}

// State counts.
type State struct{ Count, Sum int64 }

func echo(t kernel.Thread, state *State, in *Message, out *Message) kernel.Action {
	if i := t.ThreadIdx.X; i < 16 {
		out.Words[i] = in.Words[i] + 1
	}
	if t.ThreadIdx.X == 0 {
		state.Count++
		state.Sum += int64(in.Words[0])
	}
	return kernel.Reply
}

//quern:kernel block=32
func echoActor(t kernel.Thread, s actor.Shape, control []uint64, cursors []uint32, states []State, inbox, outbox []uint64) {
	actor.Serve(t, s, control, cursors, states, inbox, outbox, echo)
}

//quern:kernel block=32
func echoActorCopy(t kernel.Thread, s actor.Shape, control []uint64, cursors []uint32, states []State, inbox, outbox []uint64) {
	actor.Serve(t, s, control, cursors, states, inbox, outbox, echo)
}
