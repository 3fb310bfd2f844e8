package actors

import (
	"quern.dev/kernel"
	"quern.dev/ring/actor"
)

// host has the name of a variable of the loop around handlers.
type host struct{ Messages int32 }

// post is a handler with a context. It counts messages.
//
//quern:actor
func post(t kernel.Thread, c *actor.Context, state *host, in *int32, out *host) kernel.Action {
	_ = c
	if t.ThreadIdx.X == 0 {
		state.Messages += *in
		out.Messages = state.Messages
	}
	return kernel.Reply
}

// Row is numbers of which highest finds the highest.
type Row struct{ Values [64]int32 }

// Highest is the highest number of a row, and where it is.
type Highest struct{ Value, At int32 }

// highest compares the numbers of a row in shared memory, which keeps nothing from
// one row to the next.
//
//quern:actor block=64
func highest(t kernel.Thread, rows *int32, in *Row, out *Highest) kernel.Action {
	best := kernel.Shared[[64]Highest](t)
	i := t.ThreadIdx.X
	best[i] = Highest{in.Values[i], int32(i)}
	t.Sync()
	found := reduced(t, best)
	if i == 0 {
		*rows++
		*out = found
	}
	return kernel.Reply
}

// reduced returns the best of all to every thread.
func reduced(t kernel.Thread, best *[64]Highest) Highest {
	last := kernel.Shared[Highest](t)
	i := t.ThreadIdx.X
	for n := 32; n > 0; n /= 2 {
		if i < n && best[i+n].Value > best[i].Value {
			best[i] = best[i+n]
		}
		t.Sync()
	}
	if i == 0 {
		*last = best[0]
	}
	t.Sync()
	return *last
}
