package driver

import "encoding/binary"

// OutputSize is how many bytes of records a stream holds for what its kernels
// print between two waits.
const OutputSize = 1 << 20

// Message is one call of kernel.Printf.
type Message struct {
	Text string // if the kernel formatted it itself

	// What a kernel in PTX leaves to the host.
	ID     uint32   // of the Frame
	Format int      // number of the format among those of the kernel
	Args   []uint64 // bits of the arguments, integers extended to 64
}

// Messages takes records apart. Each is
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

// Control is what a stream's control block says of its output.
type Control struct {
	Printed int // bytes of records that were asked for, also beyond the capacity
	Dropped int // messages that found no room
}

// Offsets in the control block.
const (
	ControlPrinted = 4
	ControlOutput  = 16 // u64, followed by the size and what was dropped
	ControlDropped = 28
	// ControlArrivals is a u64: the arrivals of blocks at barriers of the grid. A
	// cooperative launch starts with zero.
	ControlArrivals = 32

	controlRecord   = 8
	controlCapacity = 24
)

// ReadControl takes the control block b apart.
func ReadControl(b []byte) Control {
	return Control{
		Printed: int(binary.LittleEndian.Uint32(b[ControlPrinted:])),
		Dropped: int(binary.LittleEndian.Uint32(b[ControlDropped:])),
	}
}

// PutControl writes a control block to b: nothing has failed, nothing is printed.
func PutControl(b []byte, record, output uint64, capacity int) {
	clear(b[:ControlSize])
	binary.LittleEndian.PutUint64(b[controlRecord:], record)
	binary.LittleEndian.PutUint64(b[ControlOutput:], output)
	binary.LittleEndian.PutUint32(b[controlCapacity:], uint32(capacity))
}

// RecordPrinted is the offset, in the fault record, of a word that is not zero
// if kernels have printed.
const RecordPrinted = 12
