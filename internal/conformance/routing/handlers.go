package routing

import (
	"quern.dev/kernel"
	"quern.dev/ring/actor"
)

// Item goes from actor to actor.
type Item struct {
	Key    uint64
	Value  int64
	Stages int32 // that it has been through
	Ask    int32 // 1: tally is to say what it has
}

// plusOne is a stage of a pipeline.
//
//quern:actor
func plusOne(t kernel.Thread, _ *uint32, in *Item, out *Item) kernel.Action {
	if t.ThreadIdx.X == 0 {
		*out = Item{in.Key, in.Value + 1, in.Stages + 1, 0}
	}
	return kernel.Reply
}

// timesTwo is a stage of a pipeline.
//
//quern:actor
func timesTwo(t kernel.Thread, _ *uint32, in *Item, out *Item) kernel.Action {
	if t.ThreadIdx.X == 0 {
		*out = Item{in.Key, in.Value * 2, in.Stages + 1, 0}
	}
	return kernel.Reply
}

// Tally is what an actor has got: each sum is of all items.
type Tally struct {
	Count  int64
	Values int64
	Stages int64
	Keys   uint64 // exclusive or
	Last   int64  // value of the last item
	Turned int64  // items whose value was less than that of the item before
}

// tally counts items, and replies with what it has if asked.
//
//quern:actor
func tally(t kernel.Thread, state *Tally, in *Item, out *Tally) kernel.Action {
	if in.Ask != 0 {
		if t.ThreadIdx.X == 0 {
			*out = *state
		}
		return kernel.Reply
	}
	if t.ThreadIdx.X == 0 {
		if in.Value < state.Last {
			state.Turned++
		}
		state.Count++
		state.Values += in.Value
		state.Stages += int64(in.Stages)
		state.Keys ^= in.Key
		state.Last = in.Value
	}
	return kernel.Done
}

// Order says what send is to do.
type Order struct {
	To     actor.Group[Item]
	How    How
	Member int32
	Key    uint64
	Value  int64
}

// How is a way to send to a group.
type How uint32

// Ways to send to a group.
const (
	Publish  How = iota
	Route        // a key for each thread
	Member       // to one member
	Everyone     // from all threads
)

// Sent is what send replies.
type Sent struct {
	Taken   int32
	Members int32
	Refused int32
}

// send sends to the members of a group.
//
//quern:actor
func send(t kernel.Thread, c *actor.Context, _ *uint32, in *Order, out *Sent) kernel.Action {
	item := Item{Key: in.Key, Value: in.Value}
	taken := 0
	switch {
	case in.How == Publish && t.ThreadIdx.X == 0:
		taken = actor.Publish(t, c, in.To, &item)
	case in.How == Route:
		item.Key += uint64(t.ThreadIdx.X)
		if actor.Route(t, c, in.To, item.Key, &item) {
			taken = 1
		}
	case in.How == Member && t.ThreadIdx.X == 0:
		if actor.Send(t, c, in.To.At(c, int(in.Member)), &item) {
			taken = 1
		}
	case in.How == Everyone:
		taken = actor.Publish(t, c, in.To, &item)
	}
	kernel.AtomicAdd(&out.Taken, int32(taken), kernel.BlockScope)
	if t.ThreadIdx.X == 0 {
		out.Members = int32(in.To.Len(c))
	}
	return kernel.Reply
}
