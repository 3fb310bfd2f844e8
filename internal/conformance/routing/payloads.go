package routing

import (
	"quern.dev/kernel"
	"quern.dev/ring/actor"
)

// Batch is values by reference.
type Batch struct {
	Values actor.Payload[float32]
	Do     Do
	Next   actor.Ref[Batch] // for Forward
}

// Do is what work is to do with a batch.
type Do uint32

// What work does with a batch.
const (
	Sum     Do = iota
	Scale      // doubles the values
	Keep       // retains the payload
	Kept       // sums the values that were kept
	Drop       // releases what was kept
	Forward    // scales, and sends the batch on
	Give       // replies with the reference, and a hold
)

// Desk is the state of work.
type Desk struct {
	Kept  actor.Payload[float32]
	Given int32 // batches that other actors have sent
	Sum   float32
}

// Result is what work replies.
type Result struct {
	Sum    float32
	Given  int32
	Values actor.Payload[float32]
}

// work reads and writes values by reference.
//
//quern:actor
func work(t kernel.Thread, c *actor.Context, data []float32, state *Desk, in *Batch, out *Result) kernel.Action {
	first := t.ThreadIdx.X == 0
	ref := in.Values
	if in.Do == Kept {
		ref = state.Kept
	}
	var values []float32
	if in.Do != Drop {
		values = ref.Open(c, data)
	}
	if in.Do == Scale || in.Do == Forward {
		for i := t.ThreadIdx.X; i < len(values); i += t.BlockDim.X {
			values[i] *= 2
		}
		t.Sync()
	}
	if in.Do == Sum || in.Do == Kept {
		sum := float32(0)
		for i := t.ThreadIdx.X; i < len(values); i += t.BlockDim.X {
			sum += values[i]
		}
		kernel.AtomicAdd(&out.Sum, sum, kernel.BlockScope)
		t.Sync()
	}
	if !first {
		return kernel.Reply
	}
	switch in.Do {
	case Sum:
		if c.Sender() != 0 { // the message has no hold: the one who sent it has left this one
			state.Given++
			state.Sum += out.Sum
			ref.Release(c)
		}
	case Keep:
		ref.Retain(c)
		state.Kept = ref
	case Drop:
		state.Kept.Release(c)
	case Forward:
		ref.Retain(c)
		next := Batch{Values: ref}
		if !actor.Send(t, c, in.Next, &next) {
			ref.Release(c)
		}
	case Give:
		ref.Retain(c)
		out.Values = ref
	}
	out.Given = state.Given
	if in.Do == Give && state.Given > 0 {
		out.Sum = state.Sum
	}
	return kernel.Reply
}
