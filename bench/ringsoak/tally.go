package main

import "quern.dev/kernel"

//go:generate go tool quern gen

// message has 64 bytes. Most of them can be computed from the others, so damage is
// detected.
type message struct {
	Kind   uint8
	Way    uint8
	Feeder uint16
	Spare  uint32
	Serial uint64 // serial number, from 1, among the messages of its feeder to this actor
	Value  uint64
	Body   [10]uint32
}

// What a message requests.
const (
	count   = iota // count it and reply
	quiet          // count it without a reply
	fail           // make the handler fail
	account        // reply with the account
)

// How a message was sent, to classify dead letters.
const (
	byAsk = iota
	bySend
	byTell
)

// answer is the reply to a message.
type answer struct {
	Value uint64 // inverted value of the message
	ledger
}

// ledger holds the number of handled messages and the sum of their values.
type ledger struct {
	Count, Sum uint64
}

// feeders is the maximum number of goroutines that ask.
const feeders = 64

// book is the state of an actor.
type book struct {
	ledger
	Last [feeders]uint64 // serial number of the last message that each feeder has asked
}

// tally counts messages. If a feeder asks a message again because it does not know whether
// the message was handled, tally counts it only once.
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

// body returns the first body word of the message with the given value. The other words
// count up from it.
func body(value uint64) uint32 { return uint32(value>>7) ^ uint32(value)*0x9e3779b1 }

// set initializes m as a message without a feeder.
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
