package actors

import (
	"quern.dev/kernel"
	"quern.dev/ring/actor"
)

// Message has 64 bytes.
type Message struct {
	Words [16]uint32
}

// Count is what echo counts.
type Count struct{ Messages, Sum int64 }

// echo adds one to each word.
//
//quern:actor
func echo(t kernel.Thread, state *Count, in *Message, out *Message) kernel.Action {
	if i := t.ThreadIdx.X; i < len(in.Words) {
		out.Words[i] = in.Words[i] + 1
	}
	if t.ThreadIdx.X == 0 {
		state.Messages++
		state.Sum += int64(in.Words[0])
	}
	return kernel.Reply
}

// Sample is a value for a total. Its size is not a multiple of four bytes.
type Sample struct {
	Value int16
	Kind  Kind
}

// Kind is what a sample asks for.
type Kind uint8

// Kinds of samples.
const (
	Add     Kind = iota // add, and reply with the total
	Quiet               // add without a reply
	Fail                // panic in one thread
	Crash               // panic in all threads
	Finish              // reply and terminate
	Forever             // never return
)

// Total is the state of accumulate.
type Total struct {
	Sum   int64
	Count int32
}

// Reply is what accumulate replies.
type Reply struct {
	Sum   int64
	Count int32
	Last  [3]uint8
}

// accumulate adds up samples, each of them by all threads together.
//
//quern:actor block=64
func accumulate(t kernel.Thread, state *Total, in *Sample, out *Reply) kernel.Action {
	switch {
	case in.Kind == Fail && t.ThreadIdx.X == 40, in.Kind == Crash:
		panic("asked to")
	case in.Kind == Forever:
		for in.Kind == Forever {
			kernel.Fence()
		}
	}
	t.Sync()
	if t.ThreadIdx.X == 0 {
		state.Sum += int64(in.Value)
		state.Count++
		out.Sum, out.Count = state.Sum, state.Count
		out.Last = [3]uint8{uint8(in.Value), uint8(in.Value >> 8), uint8(in.Kind)}
	}
	switch in.Kind {
	case Quiet:
		return kernel.Done
	case Finish:
		return kernel.ReplyAndStop
	}
	return kernel.Reply
}

// careless has all threads change the state.
//
//quern:actor
func careless(t kernel.Thread, state *Total, in *int16, out *int16) kernel.Action {
	state.Count += int32(*in)
	return kernel.Done
}

// firstOf replies with the element of the message that it names.
//
//quern:actor
func firstOf(t kernel.Thread, _ *uint64, in *[4]int32, out *int32) kernel.Action {
	if t.ThreadIdx.X == 0 {
		*out = in[in[0]]
	}
	return kernel.Reply
}

// bulky adds one, and has so much shared memory that few blocks are resident.
//
//quern:actor
func bulky(t kernel.Thread, calls *uint32, in *uint32, out *uint32) kernel.Action {
	box := kernel.Shared[[25000]uint32](t)
	box[t.ThreadIdx.X] = *in
	t.Sync()
	if t.ThreadIdx.X == 0 {
		*calls++
		*out = box[31] + 1
	}
	return kernel.Reply
}

// Ball goes to and fro between two actors.
type Ball struct {
	Back  actor.Ref[Ball]
	Left  uint32 // turns
	Count uint32 // turns so far
	Sum   uint64
}

// Match is what an actor that plays ball knows.
type Match struct {
	Result actor.Ref[Ball] // who gets the ball in the end
	Turns  uint64
}

// bounce sends a ball back as often as it says.
//
//quern:actor
func bounce(t kernel.Thread, c *actor.Context, state *Match, in *Ball, out *Ball) kernel.Action {
	return play(t, c, 0, state, in)
}

// bounceTogether is bounce with two warps. The second one sends.
//
//quern:actor block=64
func bounceTogether(t kernel.Thread, c *actor.Context, state *Match, in *Ball, out *Ball) kernel.Action {
	action := play(t, c, 40, state, in)
	again := kernel.Shared[uint32](t)
	if t.ThreadIdx.X == 40 {
		*again = uint32(action)
	}
	t.Sync()
	return kernel.Action(*again)
}

// play sends the ball back from one thread.
func play(t kernel.Thread, c *actor.Context, thread int, state *Match, in *Ball) kernel.Action {
	if t.ThreadIdx.X != thread {
		return kernel.Done
	}
	state.Turns++
	next := Ball{Back: actor.Self[Ball](c), Left: in.Left - 1, Count: in.Count + 1, Sum: in.Sum + uint64(in.Left)}
	to := in.Back
	if in.Left == 0 {
		next.Left, to = 0, state.Result
	}
	if !actor.Send(t, c, to, &next) {
		return kernel.Again
	}
	return kernel.Done
}

// twice replies with twice the value, as the stage of a pipeline.
//
//quern:actor
func twice(t kernel.Thread, state *int64, in *int64, out *int64) kernel.Action {
	if t.ThreadIdx.X == 0 {
		*out = 2 * *in
		*state += *in
	}
	return kernel.Reply
}

// linger replies after so many nanoseconds.
//
//quern:actor
func linger(t kernel.Thread, calls *int64, in *int64, out *int64) kernel.Action {
	if t.ThreadIdx.X == 0 {
		for until := kernel.GlobalTimer() + *in; kernel.GlobalTimer() < until; {
		}
		*calls++
		*out = *calls
	}
	return kernel.Reply
}

// Burst asks for messages to an actor, one for each thread that has something to send.
type Burst struct {
	To    actor.Ref[int64]
	First int64
	Count int32
}

// scatter sends numbers to an actor, a number each thread, until all are sent or the
// actor has ended: then it replies with -1.
//
//quern:actor
func scatter(t kernel.Thread, c *actor.Context, state *[32]int32, in *Burst, out *int32) kernel.Action {
	i, ended := t.ThreadIdx.X, false
	for n := state[i]; int(n)*t.BlockDim.X+i < int(in.Count); n++ {
		v := in.First + int64(int(n)*t.BlockDim.X+i)
		if !actor.Send(t, c, in.To, &v) {
			ended = actor.Ended(c, in.To)
			break
		}
		state[i] = n + 1
	}
	done := int(state[i])*t.BlockDim.X+i >= int(in.Count)
	if !kernel.All(t, done || ended) {
		return kernel.Again
	}
	lost := kernel.Any(t, ended)
	state[i] = 0
	if i == 0 {
		*out = in.Count
		if lost {
			*out = -1
		}
	}
	return kernel.Reply
}

// Urgent asks for messages to an actor: the number i with priority number i.
type Urgent struct {
	To         actor.Ref[int64]
	Within     int64
	Priorities [4]uint8
}

// urge replies with the number of messages that were taken.
//
//quern:actor
func urge(t kernel.Thread, c *actor.Context, _ *int32, in *Urgent, out *int32) kernel.Action {
	if t.ThreadIdx.X == 0 {
		for i, p := range in.Priorities {
			if v := int64(i); actor.SendWith(t, c, in.To, &v, p, in.Within) {
				*out++
			}
		}
	}
	return kernel.Reply
}

// urged adds up the numbers and the priorities of messages.
//
//quern:actor
func urged(t kernel.Thread, c *actor.Context, sums *[2]int64, in *int64, out *[2]int64) kernel.Action {
	if t.ThreadIdx.X == 0 {
		sums[0] += *in
		sums[1] += int64(c.Priority())
		*out = *sums
	}
	return kernel.Reply
}

// sum adds up what other actors send, and replies with the total.
//
//quern:actor
func sum(t kernel.Thread, state *int64, in *int64, out *int64) kernel.Action {
	if t.ThreadIdx.X == 0 {
		*state += *in
		*out = *state
	}
	return kernel.Reply
}

// Flaw is a number that a handler fails on.
type Flaw struct {
	Number int64
	Thread int32 // that panics; all do if it is less than zero
	Sum    int64 // of the others
}

// flawed adds up what other actors send, but for one number.
//
//quern:actor
func flawed(t kernel.Thread, state *Flaw, in *int64, out *int64) kernel.Action {
	flaw := *in == state.Number
	if flaw && (state.Thread < 0 || int(state.Thread) == t.ThreadIdx.X) {
		panic("asked to")
	}
	if t.ThreadIdx.X == 0 && !flaw {
		state.Sum += *in
		*out = state.Sum
	}
	return kernel.Reply
}

// mutter sends itself the numbers from 1 to the one of the program, and ends.
//
//quern:actor
func mutter(t kernel.Thread, c *actor.Context, _ *int64, in *int64, out *int64) kernel.Action {
	if t.ThreadIdx.X == 0 {
		for v := int64(1); v <= *in; v++ {
			if actor.Send(t, c, actor.Self[int64](c), &v) {
				*out++
			}
		}
	}
	return kernel.ReplyAndStop
}

// collect keeps the last ball that an actor has sent, and replies with it.
//
//quern:actor
func collect(t kernel.Thread, c *actor.Context, state *Ball, in *Ball, out *Ball) kernel.Action {
	if t.ThreadIdx.X == 0 {
		if c.Sender() != 0 {
			*state = *in
		}
		*out = *state
	}
	return kernel.Reply
}

// count counts the balls that actors send, and replies with how many.
//
//quern:actor
func count(t kernel.Thread, c *actor.Context, state *Ball, in *Ball, out *Ball) kernel.Action {
	if t.ThreadIdx.X == 0 {
		if c.Sender() != 0 {
			state.Count++
		}
		*out = *state
	}
	return kernel.Reply
}

// page is a message of 14 KiB.
type page [3584]uint32

// turned replies with the words of the page in the opposite order.
//
//quern:actor
func turned(t kernel.Thread, _ *uint32, in *page, out *page) kernel.Action {
	for i := t.ThreadIdx.X; i < len(in); i += t.BlockDim.X {
		out[i] = in[len(in)-1-i]
	}
	return kernel.Reply
}

// Misuse says what a handler does wrong.
type Misuse struct {
	How    How
	Action uint32 // for Invent
	To     actor.Ref[int64]
	Values actor.Payload[int32]
}

// How is a way to do it.
type How uint32

// Ways of misuse.
const (
	Invent    How = iota // return an action that there is not
	SendOut              // send to a mailbox outside of the memory
	OpenBad              // open a reference to no payload
	FreeBad              // release one
	FirstOnly            // fail in the first thread only
)

// misuser does what it should not.
//
//quern:actor block=64
func misuser(t kernel.Thread, c *actor.Context, data []int32, state *int64, in *Misuse, out *int64) kernel.Action {
	switch in.How {
	case Invent:
		return kernel.Action(in.Action)
	case SendOut:
		n := int64(1)
		actor.Send(t, c, in.To, &n)
	case OpenBad:
		values := in.Values.Open(c, data)
		*out = int64(values[0])
	case FreeBad:
		in.Values.Release(c)
	case FirstOnly:
		if t.ThreadIdx.X == 0 {
			panic("asked to")
		}
	}
	return kernel.Reply
}

// Try is a message that a handler wants again some times.
type Try struct{ Number, Again int32 }

// Tries is what persist has handled: the numbers of the first messages.
type Tries struct {
	Again, Count int32
	Order        [6]int32
}

// persist handles a message when it has got it as often as the message says.
//
//quern:actor
func persist(t kernel.Thread, state *Tries, in *Try, out *Tries) kernel.Action {
	again := state.Again < in.Again
	t.Sync()
	if t.ThreadIdx.X == 0 {
		switch {
		case again:
			state.Again++
		case int(state.Count) < len(state.Order):
			state.Order[state.Count] = in.Number
			state.Count++
		}
		*out = *state
	}
	if again {
		return kernel.Again
	}
	return kernel.Reply
}
