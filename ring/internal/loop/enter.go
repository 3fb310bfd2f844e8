package loop

import (
	"quern.dev/kernel"
	"quern.dev/ring/internal/mail"
)

// memory is the memory of all actors of a launch.
type memory struct {
	control                   []uint64
	cursors                   []uint32
	inbox, outbox, post, host []uint64
}

// actorMemory is the memory of one actor.
type actorMemory struct {
	command            []uint64
	cursor             []uint32
	mailboxes, answers []uint64
}

// find returns the memory of actor i.
//
//quern:unchecked
func find(s Shape, m memory, i int) actorMemory {
	command := m.control[i*mail.ControlWords : (i+1)*mail.ControlWords]
	cursor := m.cursors[i*mail.CursorWords : (i+1)*mail.CursorWords]
	slots := s.Slots + (mail.Levels-1)*s.SideSlots
	return actorMemory{
		command:   command,
		cursor:    cursor,
		mailboxes: m.inbox[i*int(slots*s.InStep) : (i+1)*int(slots*s.InStep)],
		answers:   m.outbox[i*int(slots*s.OutStep) : (i+1)*int(slots*s.OutStep)],
	}
}

// blockMemory is the dynamic shared memory of the block: cells, and behind them copies of
// slots.
type blockMemory struct {
	words  []uint32
	raw    [][2]uint64
	copied []uint64
}

// memoryOf returns the dynamic shared memory.
//
//quern:unchecked
func memoryOf(t kernel.Thread, s Shape) blockMemory {
	return blockMemory{
		words:  kernel.Dynamic[uint32](t),
		raw:    kernel.Dynamic[[2]uint64](t)[s.RawAt:],
		copied: kernel.Dynamic[uint64](t)[2*s.RawAt:],
	}
}

// clear marks the mailbox as awake and empties the replies in shared memory.
//
//quern:unchecked
func (b *blockMemory) clear(t kernel.Thread, s Shape, first bool, box []uint64) {
	if first {
		kernel.StoreRelaxed(&box[mail.BoxAsleep], 0)
	}
	for m := range s.Batch {
		reply := m*s.Stride + s.OutAt - mail.OutHeader
		if first { // is read in place of a word of the reply
			b.words[reply+mail.OutHeader-1] = 0
		}
		empties(s, b.words, reply, uint32(t.ThreadIdx.X), uint32(t.BlockDim.X))
	}
	t.Sync()
}

// prepare initialises sh and reads the host's command into it. It returns the time, and the
// same time again in the first thread only.
//
//quern:unchecked
func prepare(t kernel.Thread, first bool, command []uint64, sh *Status) (born, since int64) {
	born = kernel.GlobalTimer()
	if first {
		sh.Finished, sh.Outcome = [2]uint32{}, [2]uint32{} // the first thread may stop in the handler and never report the outcome
		sh.Missing[0], sh.Dated[0], sh.Leave[0], sh.Took = untouched, 0, 0, 0
		sh.Hint[0], sh.Higher[0], sh.Lower[0], sh.Equal[0] = 0, 0, 0, 0
		sh.Asked[0] = uint32(kernel.LoadRelaxed(&command[mail.Command], kernel.SystemScope))
		since = born
	}
	t.Sync()
	return born, since
}

// postbox is the actor's mailbox for messages of other actors.
type postbox struct {
	box, posts          []uint64
	mailSlots, mailNext uint32
}

// open returns the mailbox with a number.
//
//quern:unchecked
func open(s Shape, post []uint64, number uint32) postbox {
	box := post[int(number)*mail.BoxWords : (int(number)+1)*mail.BoxWords]
	slots := uint32(box[mail.BoxSlots])
	posts := post[int(box[mail.BoxRing]) : int(box[mail.BoxRing])+int(slots*s.InStep)]
	next := uint32(box[mail.BoxHead])
	return postbox{box: box, posts: posts, mailSlots: slots, mailNext: next}
}

// word is the part of a reply that one thread writes.
type word struct {
	at      uint32 // of the word in the cell of a message
	carries bool   // the handler has written that word
	sinkAt  uint32 // where the word goes in loop.sink

	// Masks for the other contents of the word: the outcome, or a number of cycles.
	ofReply, ofTook, ofWaited uint32

	arrived, begin, ended int64 // cycles: of the batch, and of the call of the handler
}

// wordOf returns the part of a thread in the replies. Most replies
// take one store per thread, of a word of the slot that the handler has written, or of a
// header word, for which the thread reads 0. Surplus threads do the same as the first one.
//
//quern:unchecked
func wordOf(thread uint32, s Shape) word {
	mine := mineOf(thread, s)
	carries := mine >= mail.OutHeader
	ofReply, ofTook, ofWaited := uint32(0), uint32(0), uint32(0)
	switch mine {
	case mail.Outcome:
		ofReply = uint32(kernel.Reply)
	case mail.Cycles:
		ofTook = 1<<32 - 1
	case mail.Waited:
		ofWaited = 1<<32 - 1
	}
	at := s.OutAt - mail.OutHeader + max(mine, mail.OutHeader-1)
	return word{at: at, carries: carries, ofReply: ofReply, ofTook: ofTook, ofWaited: ofWaited, sinkAt: mine}
}

// mineOf returns the word of the slot of a reply that the thread writes.
//
//quern:unchecked
func mineOf(thread uint32, s Shape) uint32 {
	if thread < s.Out {
		return thread
	}
	return mail.Outcome
}
