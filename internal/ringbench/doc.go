// Package ringbench measures actors: what a message costs to and from a device,
// against the number of actors, the size of the messages and the batches they are
// sent in, and from actor to actor. quern ring bench and bench/ring are made of it.
//
// Every measurement makes a runtime of its own, checks each reply, and ends early,
// with what it has, when its context is cancelled.
package ringbench

//go:generate go tool quern gen
