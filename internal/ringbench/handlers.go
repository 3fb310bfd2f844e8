package ringbench

import "quern.dev/kernel"

// Messages of several sizes. The first word is the message's number.
type (
	Message16  struct{ Words [4]uint32 }
	Message64  struct{ Words [16]uint32 }
	Message256 struct{ Words [64]uint32 }
)

func (m *Message16) words() []uint32  { return m.Words[:] }
func (m *Message64) words() []uint32  { return m.Words[:] }
func (m *Message256) words() []uint32 { return m.Words[:] }

// The handlers add one to each word. Their state counts the messages.

//quern:actor
func echo16(t kernel.Thread, count *uint64, in, out *Message16) kernel.Action {
	for i := t.ThreadIdx.X; i < len(in.Words); i += t.BlockDim.X {
		out.Words[i] = in.Words[i] + 1
	}
	if t.ThreadIdx.X == 0 {
		*count++
	}
	return kernel.Reply
}

//quern:actor
func echo64(t kernel.Thread, count *uint64, in, out *Message64) kernel.Action {
	for i := t.ThreadIdx.X; i < len(in.Words); i += t.BlockDim.X {
		out.Words[i] = in.Words[i] + 1
	}
	if t.ThreadIdx.X == 0 {
		*count++
	}
	return kernel.Reply
}

//quern:actor
func echo256(t kernel.Thread, count *uint64, in, out *Message256) kernel.Action {
	for i := t.ThreadIdx.X; i < len(in.Words); i += t.BlockDim.X {
		out.Words[i] = in.Words[i] + 1
	}
	if t.ThreadIdx.X == 0 {
		*count++
	}
	return kernel.Reply
}
