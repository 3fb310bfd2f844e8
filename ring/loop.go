package ring

import (
	"quern.dev/kernel"
	"quern.dev/kernel/host"
	"quern.dev/ring/actor"
	"quern.dev/ring/internal/loop"
)

// Loop returns the Go form of an actor's kernel: the loop around a function that handles
// one message with all threads of a block. Code that quern gen writes calls it, and the
// two functions below for handlers with a context or with payload memory.
func Loop[State, In, Out any](handle func(r *host.Run, state *State, in *In, out *Out, action *kernel.Action)) host.Func {
	return func(r *host.Run) {
		loop.GoLoop(r, 1, func(r *host.Run, _ []actor.Context, state *State, in *In, out *Out, action *kernel.Action) {
			handle(r, state, in, out, action)
		})
	}
}

// LoopWithContext is Loop for handlers that take a context. Each thread has its own.
func LoopWithContext[State, In, Out any](handle func(r *host.Run, contexts []actor.Context, state *State, in *In, out *Out, action *kernel.Action)) host.Func {
	return func(r *host.Run) { loop.GoLoop(r, r.BlockDim.Count(), handle) }
}

// LoopWithPayload is LoopWithContext for handlers that take payload memory, too.
func LoopWithPayload[Element, State, In, Out any](handle func(r *host.Run, contexts []actor.Context, payload []Element, state *State, in *In, out *Out, action *kernel.Action)) host.Func {
	return func(r *host.Run) {
		payload := loop.PayloadMemory[Element](r)
		loop.GoLoop(r, r.BlockDim.Count(), func(r *host.Run, contexts []actor.Context, state *State, in *In, out *Out, action *kernel.Action) {
			handle(r, contexts, payload, state, in, out, action)
		})
	}
}
