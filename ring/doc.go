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
// messages from mailboxes in the host's memory until the runtime is closed. Other
// work goes on beside it. What would wait for the launch to end, such as freeing a
// buffer, ends it at a message boundary and starts it again; no message is lost.
// On the CPU and the simulator the same loop runs whenever there are messages.
//
// # Status
//
// The loop, the mailboxes and what happens to failed actors are tested on the CPU
// and the simulator, with its checks for races; how the device makes way, against a
// double of the driver. Resident launches have not been run on a GPU yet, and there
// are no figures for them. Queues that drop their oldest messages, deadlines, dead
// letters, sends from actor to actor and actors on the host are not there.
package ring
