// Package loop takes messages out of mailboxes and calls handlers with them. It exists in
// two forms, which agree on the memory that package mail describes:
//
//   - [Serve] and [ServeWarp], in the kernel language, for GPUs. quern gen compiles one of
//     them with each handler. All threads of the block take part.
//   - [GoLoop], ordinary Go, for the CPU. One goroutine does everything but the handler.
//
// Everything that outlives a message is in memory: the state, the rings, and the cursor,
// which is the ticket of the next message. So the loop can leave between any two messages
// and be launched again without losing one. It leaves when the host asks, when its launch
// is bounded and the bound is reached, when a handler stops the actor, and when a thread
// of the handler has failed. A loop that leaves for one of these reasons says so in
// [mail.Left]; a loop whose threads have all failed does not.
package loop
