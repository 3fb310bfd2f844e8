// Package ring runs actors: a handler stays on the device, takes typed messages
// out of a mailbox and answers them, without a launch for each message.
//
// A handler is a function of the kernel language above which stands //quern:actor:
//
//	//quern:actor block=32
//	func accumulate(t kernel.Thread, state *Total, in *Sample, out *Reply) kernel.Action
//
// quern gen writes a constructor for it, SpawnAccumulate, that makes an actor in a
// [Runtime]. One block of threads is one actor: its threads call the handler
// together, with the same message. The handler may wait for its threads with
// t.Sync. out is zero when it is called.
//
// On an NVIDIA GPU actors are resident: one launch carries many of them, and takes
// messages from mailboxes in the host's memory until the runtime is closed. On the
// CPU and the simulator whoever waits for a reply runs the handler.
//
// # Beside other work
//
// Other work of the device goes on beside resident actors. What the driver does
// only when no kernel runs (putting a kernel into the context, freeing memory that
// was made before there were actors, or is registered, mapped or managed)
// ends the launch at a message boundary and begins it again; no message is lost,
// and [Runtime.Stats] counts the pauses, by cause. Before such a pause other
// streams' work is waited for and kernels are compiled, so that actors are away for
// the operation itself only.
//
// Actors that are active hold their multiprocessors' room. More of them than there
// is room for is a [*ResidencyError]; with Config.Bounded they take turns of two
// milliseconds instead. Bounded launches leave when there are no messages, so that
// the GPU is free for others, and come back with the next message.
//
// # Large data
//
// What is too large for a message is a [Payload]: it lies in memory of the device, and
// messages have a reference to it, an [quern.dev/ring/actor.Payload]. A handler with
// one more parameter, the payload memory, opens the reference:
//
//	func mean(t kernel.Thread, c *actor.Context, data []float32, state *State, in *Batch, out *float32) kernel.Action {
//		values := in.Values.Open(c, data)
//
// Payloads are counted by program, messages and actors. Using one that was released is
// an error, on the host and on the device.
//
// # Many receivers
//
// A [Group] is actors under a name: the subscribers of a topic ([Group.Publish]), or
// workers that have a key each ([Group.Route]) or take turns ([Group.Scatter]). Actors
// on the device have the same group, and need no host to send to it. [Gather] asks
// many actors at once.
//
// # Host actors
//
// [SpawnHost] makes an actor of an ordinary Go function. It is used like any other, its
// messages may be of any type, and it handles them in the exact order of their
// priorities. Actors on the device send to it if the messages are plain data: they
// get its name from [Actor.Ref].
//
// # The end of an actor
//
// [Actor.Terminate] and [Runtime.Close] account for every message: those that are not
// handled are dead letters. An actor that has terminated is unknown to the runtime,
// its name and its place on the device are others'. The Refs of it that actors on the
// device still have never name another: what is sent to them is refused. One whose handler fails is the case of its
// supervisor; restarts are limited, and what a supervisor escalates is the
// runtime's supervisor's case, or an error of Close.
//
// # Handlers that do not return
//
// A handler that has not returned for Config.Patience is stuck: its actor is failed
// with a [*StuckError], which callers that wait get and the supervisor is told. Time
// that goroutines wait for a processor, or that the process is stopped, does not count.
// Nothing but the end of the process stops a handler on a GPU. Until it returns,
// other actors are served, in launches beside it; freeing memory, loading
// kernels and closing the runtime and the device fail with a StuckError rather than
// wait, and what was to be freed is freed once that is possible. An actor whose
// handler has returned after all can be restarted, with its state or a new one; if its
// supervisor has decided so, it is. A
// process that is killed takes its actors with it; if it only hangs, they leave
// after Config.Life.
//
// # Queues
//
// An actor accepts as many messages as its Capacity says, that wait to be handled.
// Those that come first lie in rings that the device sees, the others in a queue of
// the program, in exact order: a higher priority first, and messages of one priority
// as they came. All messages of an actor that does not run are in the queue. What
// happens to a message for which there is no room is the actor's [Policy].
//
// Options of a message are values: [Priority], [TTL], [Deadline], [Correlation] and
// [From]. A message that is accepted is handled, or becomes a [DeadLetter]: because
// it expired, was dropped, its handler failed on it or its actor ended. See
// [Runtime.DeadLetters].
//
// # Status
//
// Everything above is tested on the CPU and on the simulator, with its checks for
// races; how the device makes way, against a double of the driver. Resident actors
// have run on one GPU, an H200: messages from and to the host, from actor to actor,
// beside other work, and when processes are killed; "quern ring bench" measures a
// machine. Other GPUs and Windows have not been tried.
package ring
