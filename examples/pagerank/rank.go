package main

import (
	"quern.dev/kernel"
	"quern.dev/ring/actor"
)

//go:generate go tool quern gen

// Limits of a part of the graph, which is the state of one actor.
const (
	maxVertices = 512
	maxChunks   = 2048
	chunkEdges  = 8
)

// one is the sum of all ranks. Ranks are integer fractions of it, so that sums do
// not depend on the order in which messages arrive.
const one = 1 << 60

// message is a message between actors.
type message struct {
	Kind   uint32
	Step   uint32
	Count  uint32             // contribution: number of targets
	From   uint32             // read: first vertex
	Value  [chunkEdges]int64  // contribution: value per target; summary: dangling rank and change
	Target [chunkEdges]uint16 // vertices of the receiver
}

// Kinds of messages. Actors send the first three, and the program the others.
const (
	contribution = iota
	summary
	tick
	start
	read
)

// ranks is the reply to a read.
type ranks struct {
	Rank      [chunkEdges]int64
	Converged uint32
	Step      uint32
	Sent      int64 // messages to other actors
	Refused   int64 // failed attempts to send
	Change    int64 // of all ranks in the last step
}

// chunk is a set of edges to vertices of one part. One message carries it.
type chunk struct {
	To, Count uint32
	Source    [chunkEdges]uint16
	Target    [chunkEdges]uint16
}

// part is the state of an actor: its vertices, their edges, and its progress.
//
// In each step, an actor sends the contributions of its vertices, and one summary
// to each part. It knows from the graph how many messages it will receive. When
// all have arrived, it computes new ranks and starts the next step. Since a step
// needs messages from all parts, no part is more than one step ahead: the lowest
// bit of the step number is enough to separate incoming messages.
type part struct {
	Peers     actor.Group[message]
	Parts     uint32
	Vertices  uint32
	Chunks    uint32
	Expected  uint32 // messages per step
	All       int64  // vertices of the graph
	Damping   float64
	Tolerance int64  // of the total change in a step
	Limit     uint32 // steps

	Running, Ticking, Converged uint32

	Step             uint32
	First            uint32 // unsent message of the step
	Dangling, Change int64  // of this part, for the step's summary
	Sent, Refused    int64
	LastChange       int64 // of the whole graph

	Arrived     [2]uint32
	AllDangling [2]int64
	AllChange   [2]int64

	Rank   [maxVertices]int64
	Next   [2][maxVertices]int64
	Degree [maxVertices]uint32
	Done   [maxChunks + maxVertices]uint32 // per message: 1 + the last step in which it was sent
	Chunk  [maxChunks]chunk
}

// rank handles a message from another actor, sends its own messages, and advances to
// the next step when all messages of the current one have arrived.
//
// It never blocks. Messages that do not fit into a full mailbox stay in the state, and
// the actor sends itself a tick to be called again. If its own mailbox is full, no
// tick is needed: the messages in it cause the next call. Therefore no cycle of full
// mailboxes can deadlock, and no message is lost, whatever the size of the mailboxes.
//
//quern:actor
func rank(t kernel.Thread, c *actor.Context, p *part, in *message, out *ranks) kernel.Action {
	thread, first := uint32(t.ThreadIdx.X), t.ThreadIdx.X == 0
	side := in.Step & 1
	switch in.Kind {
	case read:
		if v := in.From + thread; thread < chunkEdges && v < p.Vertices {
			out.Rank[thread] = p.Rank[v]
		}
		if first {
			out.Converged, out.Step, out.Sent, out.Refused, out.Change = p.Converged, p.Step, p.Sent, p.Refused, p.LastChange
		}
		return kernel.Reply
	case contribution:
		if thread < in.Count {
			kernel.AtomicAdd(&p.Next[side][in.Target[thread]], in.Value[thread], kernel.BlockScope)
		}
	}
	if first {
		switch in.Kind {
		case contribution:
			p.Arrived[side]++
		case summary:
			p.Arrived[side]++
			p.AllDangling[side] += in.Value[0]
			p.AllChange[side] += in.Value[1]
		case tick:
			p.Ticking = 0
		case start:
			p.Running = 1
		}
	}
	t.Sync()
	for range 2 {
		if p.Running == 0 {
			break
		}
		send(t, c, p)
		side := p.Step & 1
		complete := p.First == p.Chunks+p.Parts && p.Arrived[side] == p.Expected
		t.Sync()
		if !complete {
			break
		}
		advance(t, p)
	}
	return kernel.Done
}

// send sends messages of the step, one per thread at a time.
func send(t kernel.Thread, c *actor.Context, p *part) {
	const rounds = 4 // per call, so that the actor also receives messages
	thread, first := uint32(t.ThreadIdx.X), t.ThreadIdx.X == 0
	mark, number, refused := p.Step+1, p.Chunks+p.Parts, p.Refused
	for range rounds {
		enough := p.First == number || p.Refused != refused // the receivers are busy
		t.Sync()                                            // before other threads change it
		if enough {
			break
		}
		i := p.First + thread
		if i < number && p.Done[i] != mark {
			m := message{Step: p.Step}
			to := i - p.Chunks
			if i < p.Chunks {
				edges := &p.Chunk[i]
				to = edges.To
				m.Count = edges.Count
				for k := range chunkEdges {
					if uint32(k) < edges.Count {
						v := edges.Source[k]
						m.Value[k], m.Target[k] = p.Rank[v]/int64(p.Degree[v]), edges.Target[k]
					}
				}
			} else {
				m.Kind = summary
				m.Value[0], m.Value[1] = p.Dangling, p.Change
			}
			if actor.Send(t, c, p.Peers.At(c, int(to)), &m) {
				p.Done[i] = mark
				kernel.AtomicAdd(&p.Sent, 1, kernel.BlockScope)
			} else {
				kernel.AtomicAdd(&p.Refused, 1, kernel.BlockScope)
			}
		}
		t.Sync()
		if first {
			for range uint32(t.BlockDim.X) {
				if p.First < number && p.Done[p.First] == mark {
					p.First++
				}
			}
		}
		t.Sync()
	}
	if first && p.First < number && p.Ticking == 0 {
		m := message{Kind: tick}
		if actor.Send(t, c, actor.Self[message](c), &m) {
			p.Ticking = 1
		}
	}
	t.Sync()
}

// advance computes the ranks of the next step, unless they have converged.
func advance(t kernel.Thread, p *part) {
	first := t.ThreadIdx.X == 0
	side, step := p.Step&1, p.Step
	dangling, change := p.AllDangling[side], p.AllChange[side]
	t.Sync()
	if first {
		p.AllDangling[side], p.AllChange[side], p.Arrived[side] = 0, 0, 0
		p.LastChange = change
		if step > 0 && change <= p.Tolerance || step == p.Limit {
			p.Running, p.Converged = 0, 1
		}
		p.Dangling, p.Change = 0, 0
	}
	t.Sync()
	if p.Running != 0 {
		base := int64(float64(one)*(1-p.Damping)) / p.All
		for v := uint32(t.ThreadIdx.X); v < p.Vertices; v += uint32(t.BlockDim.X) {
			sum := p.Next[side][v] + dangling/p.All
			p.Next[side][v] = 0
			r := base + int64(float64(sum)*p.Damping)
			kernel.AtomicAdd(&p.Change, max(r-p.Rank[v], p.Rank[v]-r), kernel.BlockScope)
			if p.Degree[v] == 0 {
				kernel.AtomicAdd(&p.Dangling, r, kernel.BlockScope)
			}
			p.Rank[v] = r
		}
	}
	t.Sync()
	if first && p.Running != 0 {
		p.Step, p.First = step+1, 0
	}
	t.Sync()
}
