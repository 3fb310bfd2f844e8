package ringbench

import (
	"math/bits"

	"quern.dev/kernel"
	"quern.dev/ring/actor"
)

// Ball is a message between relays, or a question of the program to a relay.
type Ball struct {
	Kind Kind
	// Number is the bucket that Trips asks about.
	Number uint32
	// Next is the actor that receives balls after Aim.
	Next actor.Ref[Ball]
	Pad  uint32
}

// Kind is the kind of a ball.
type Kind uint32

// Kinds of balls.
const (
	Flying Kind = iota // is passed on
	Aim                // pass balls to Next from now on
	Stop               // keep balls from now on
	Passed             // return the number of balls passed
	Trips              // return the number of round trips in a bucket
	Cycles             // return the clock of the multiprocessor
	Time               // return the clock of the device in nanoseconds
)

// Round trips are counted in buckets, sixteen per power of two.
const (
	tripBits    = 4
	tripBuckets = 29 << tripBits // for all 32-bit numbers
)

// tripBucket returns the bucket of a number of cycles.
func tripBucket(cycles uint32) int {
	up := max(bits.Len32(cycles)-tripBits-1, 0)
	return up<<tripBits + int(cycles>>up)
}

// tripMiddle returns the number in the middle of a bucket.
func tripMiddle(bucket int) float64 {
	up := max(bucket>>tripBits-1, 0)
	return (float64(bucket-up<<tripBits) + 0.5) * float64(uint64(1)<<up)
}

// Court is the state of a relay.
type Court struct {
	Next  actor.Ref[Ball] // zero: keep balls
	Balls uint64
	Last  int64 // cycles when the last ball was passed on; 0 for none
	Trips [tripBuckets]uint32
}

//quern:actor
func relay(t kernel.Thread, c *actor.Context, state *Court, in *Ball, out *uint64) kernel.Action {
	if t.ThreadIdx.X != 0 {
		return kernel.Reply // the first thread decides
	}
	switch in.Kind {
	case Flying:
		if state.Next.Mailbox == 0 {
			return kernel.Done
		}
		if !actor.Send(t, c, state.Next, in) {
			return kernel.Again
		}
		now := kernel.Clock()
		if state.Last != 0 {
			state.Trips[tripBucket(uint32(now-state.Last))]++
		}
		state.Last = now
		state.Balls++
		return kernel.Done
	case Aim:
		state.Next, state.Last = in.Next, 0
	case Stop:
		state.Next = actor.Ref[Ball]{}
	case Passed:
		*out = state.Balls
	case Trips:
		*out = uint64(state.Trips[in.Number%tripBuckets])
	case Cycles:
		*out = uint64(kernel.Clock())
	case Time:
		*out = uint64(kernel.GlobalTimer())
	}
	return kernel.Reply
}
