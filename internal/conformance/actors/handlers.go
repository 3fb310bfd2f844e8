package actors

import "quern.dev/kernel"

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

// firstOf replies with the element of the message that it names.
//
//quern:actor
func firstOf(t kernel.Thread, _ *uint64, in *[4]int32, out *int32) kernel.Action {
	if t.ThreadIdx.X == 0 {
		*out = in[in[0]]
	}
	return kernel.Reply
}
