package main

import "quern.dev/kernel"

//go:generate go tool quern gen

// message has 64 bytes, most of which can be computed from the others: a damaged
// message is found.
type message struct {
	Kind   uint8
	Way    uint8
	Feeder uint16
	Spare  uint32
	Serial uint64 // of an asked message among those of its feeder for this actor, from 1
	Value  uint64
	Body   [10]uint32
}

// What a message asks for.
const (
	count   = iota // to be counted, and a reply
	quiet          // to be counted, and no reply
	fail           // the handler to fail
	account        // a reply with the account
)

// How a message is sent, for those who find it among the dead letters.
const (
	byAsk = iota
	bySend
	byTell
)

// answer is the reply to a message.
type answer struct {
	Value uint64 // of the message, inverted
	ledger
}

// ledger is what an actor has handled.
type ledger struct {
	Count, Sum uint64
}

// feeders is the number of goroutines that ask, at most.
const feeders = 64

// book is the state of an actor.
type book struct {
	ledger
	Last [feeders]uint64 // serial number of the last message that each feeder has asked
}

// tally counts messages. A message that is asked again, since its feeder could not
// know whether it was handled, is counted once.
//
//quern:actor
func tally(t kernel.Thread, b *book, in *message, out *answer) kernel.Action {
	for i := t.ThreadIdx.X; i < len(in.Body); i += t.BlockDim.X {
		if in.Body[i] != body(in.Value)+uint32(i) {
			panic("the message is damaged")
		}
	}
	if in.Kind == fail {
		panic("asked to")
	}
	if t.ThreadIdx.X != 0 {
		return kernel.Done
	}
	again := in.Way == byAsk && in.Kind != account && in.Serial <= b.Last[in.Feeder]
	if in.Kind != account && !again {
		b.Count++
		b.Sum += in.Value
		if in.Way == byAsk {
			b.Last[in.Feeder] = in.Serial
		}
	}
	out.Value, out.ledger = ^in.Value, b.ledger
	if in.Kind == quiet {
		return kernel.Done
	}
	return kernel.Reply
}

// body is the first word of the message with a value. The others count on from it.
func body(value uint64) uint32 { return uint32(value>>7) ^ uint32(value)*0x9e3779b1 }

// set makes a message without a feeder of m.
func (m *message) set(kind, way uint8, value uint64) {
	*m = message{Kind: kind, Way: way, Value: value}
	first := body(value)
	for i := range m.Body {
		m.Body[i] = first + uint32(i)
	}
}

func newMessage(kind, way uint8, value uint64) (m message) {
	m.set(kind, way, value)
	return m
}
