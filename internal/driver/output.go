package driver

import "encoding/binary"

// OutputSize is the capacity, in bytes of records, of the output that a stream's
// kernels print between two waits.
const OutputSize = 1 << 20

// Message is one call of kernel.Printf.
type Message struct {
	Text string // if the kernel formatted the message itself

	// Set for a kernel in PTX: the host formats the message.
	ID     uint32   // of the Frame
	Format int      // index in the kernel's formats
	Args   []uint64 // bits of the arguments, integers extended to 64 bits
}

// Messages decodes output records. Each is
//
//	 0 u32 size of the record in bytes, a multiple of 8
//	 4 u32 format
//	 8 u32 kernel (Frame.ID)
//	12 u32 unused
//	16 u64 arguments
func Messages(b []byte) []Message {
	const header = 16
	var list []Message
	for len(b) >= header {
		size := int(binary.LittleEndian.Uint32(b))
		if size < header || size > len(b) || size%8 != 0 {
			break
		}
		m := Message{
			Format: int(binary.LittleEndian.Uint32(b[4:])),
			ID:     binary.LittleEndian.Uint32(b[8:]),
		}
		for at := header; at < size; at += 8 {
			m.Args = append(m.Args, binary.LittleEndian.Uint64(b[at:]))
		}
		list = append(list, m)
		b = b[size:]
	}
	return list
}

// Control is the output part of a stream's control block.
type Control struct {
	Printed int // bytes of records requested, may exceed the capacity
	Dropped int // messages that did not fit
}

// Offsets in the control block.
const (
	ControlPrinted = 4
	ControlOutput  = 16 // u64, followed by the size and the number of dropped messages
	ControlDropped = 28
	// ControlArrivals is a u64: the number of blocks that arrived at grid barriers. It
	// is zero when a cooperative launch starts.
	ControlArrivals = 32

	controlRecord   = 8
	controlCapacity = 24
)

// ReadControl decodes the control block b.
func ReadControl(b []byte) Control {
	return Control{
		Printed: int(binary.LittleEndian.Uint32(b[ControlPrinted:])),
		Dropped: int(binary.LittleEndian.Uint32(b[ControlDropped:])),
	}
}

// PutControl writes a fresh control block to b: no fault, no output.
func PutControl(b []byte, record, output uint64, capacity int) {
	clear(b[:ControlSize])
	binary.LittleEndian.PutUint64(b[controlRecord:], record)
	binary.LittleEndian.PutUint64(b[ControlOutput:], output)
	binary.LittleEndian.PutUint32(b[controlCapacity:], uint32(capacity))
}

// RecordPrinted is the offset in the fault record of a word that is not zero if kernels
// have printed.
const RecordPrinted = 12
