// Package ring runs actors: a handler stays on the device, takes typed messages from a
// mailbox and replies to them, without one launch per message.
//
// A handler is a function in the kernel language that is marked //quern:actor:
//
//	//quern:actor block=32
//	func accumulate(t kernel.Thread, state *Total, in *Sample, out *Reply) kernel.Action
//
// quern gen writes its constructor, SpawnAccumulate, which makes an actor in a [Runtime].
// One block of threads is one actor: its threads call the handler together, with the same
// message, and can meet in t.Sync. out is zero when the handler is called.
//
// On an NVIDIA GPU actors are resident: one launch carries many of them, and takes
// messages from mailboxes in host memory until the runtime is closed. On the CPU and the
// simulator, a caller that waits for a reply, or a worker, runs the handler.
//
// # Other work on the device
//
// Other work on the device runs at the same time as resident actors. The driver does some
// operations only when no kernel runs: loading a kernel, and freeing memory that was
// allocated before there were actors, or that is registered, mapped or managed. For these,
// the launch ends at a message boundary and begins again afterwards. No message is lost,
// and [Runtime.Stats] counts the pauses by cause. Before a pause, the runtime waits for
// other streams and compiles kernels, so that actors are absent only during the operation
// itself.
//
// Active actors occupy their multiprocessors. If there is no room for another actor, the
// error is a [*ResidencyError]. With Config.Bounded, actors take turns of two milliseconds
// instead: bounded launches leave the GPU when there are no messages, and come back with
// the next message.
//
// # Large data
//
// Data that is too large for a message goes into a [Payload] in device memory. Messages
// carry a reference to it, a [quern.dev/ring/actor.Payload]. A handler with one more
// parameter, the payload memory, opens the reference:
//
//	func mean(t kernel.Thread, c *actor.Context, data []float32, state *State, in *Batch, out *float32) kernel.Action {
//		values := in.Values.Open(c, data)
//
// Payloads are reference-counted by program, messages and actors. Using a released payload
// is an error, on the host and on the device.
//
// # Many receivers
//
// A [Group] is a named set of actors: the subscribers of a topic ([Group.Publish]), or
// workers that are chosen by key ([Group.Route]) or in turn ([Group.Scatter]). Actors on the
// device send to the same group without the host. [Gather] asks many actors at once.
//
// # Host actors
//
// [SpawnHost] makes an actor from an ordinary Go function. It is used like any other actor,
// its messages may have any type, and it handles them in the exact order of their
// priorities. Actors on the device can send to it, through [Actor.Ref], if the messages are
// plain data.
//
// # The end of an actor
//
// [Actor.Terminate] and [Runtime.Close] account for every message: messages that are not
// handled become dead letters. The name and the slot of a terminated actor may be reused.
// Refs that actors on the device still have never name another actor; messages to them are
// refused. If a handler fails, the actor's supervisor decides. Restarts are limited. What a
// supervisor escalates goes to the runtime's supervisor, or becomes an error of Close.
//
// # Handlers that do not return
//
// A handler that has not returned within Config.HandlerTimeout is stuck. Its actor fails
// with a [*StuckError], which waiting callers and the supervisor get. Time in which
// goroutines wait for a processor, or in which the process is stopped, does not count. On a
// GPU only the end of the process stops a handler. Until it returns, other actors run in
// separate launches. Freeing memory, loading kernels, and closing the runtime and the
// device then fail with a StuckError instead of waiting; memory is freed once that is
// possible. When the handler returns, its actor can be restarted, with its state or a new
// one. If the supervisor has already decided to restart it, that happens then. A killed
// process takes its actors with it. If a process hangs, its actors leave after Config.Life.
//
// Up to Options.Capacity messages wait for an actor. The first of them are in rings that the
// device reads, the others in a queue of the program, in exact order: higher priority first,
// and messages of one priority by arrival. All messages of an actor that does not run are in
// the queue. The actor's [Policy] decides what happens to a message for which there is no
// room.
//
// Messages have options: [Priority], [TTL], [Deadline], [Correlation], [From] and [ID]. A
// message that is accepted is either handled or becomes a [DeadLetter]: it expired or was
// dropped, its handler failed on it, or its actor ended. See [Runtime.DeadLetters]. Messages
// between actors on the device that expire are only counted, in [Info].
//
// # Contexts
//
// As in package gpu, a nil context means context.Background.
//
// # Status
//
// All of this is tested on the CPU and on the simulator, with its checks for races. Pauses of
// resident actors are tested with a fake driver. Resident actors have run on one GPU, an
// H200: with messages from and to the host and from actor to actor, while other work ran,
// and in processes that were killed. "quern ring bench" measures a machine. Other GPUs
// and Windows have not been tried.
package ring
