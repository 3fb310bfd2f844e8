// Package ringbench measures actors: the cost of a message to and from a device, by the
// number of actors, the size of messages and the size of batches, and the cost of a
// message between actors. quern ring bench and bench/ring use it.
//
// Every measurement creates its own runtime and checks each reply. If its context is
// canceled, it ends early and returns the results so far.
package ringbench

//go:generate go tool quern gen
