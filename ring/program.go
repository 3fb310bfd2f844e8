package ring

import (
	"unsafe"

	"quern.dev/gpu"
	"quern.dev/ring/internal/loop"
	"quern.dev/ring/internal/mail"
)

// Program is a compiled handler. Those that quern gen writes for functions marked
// //quern:actor are used by the constructors beside them.
type Program struct {
	Name    string      // of the handler
	Kernel  *gpu.Kernel // the loop around it
	Threads int         // of a block

	// Payload adds the payload memory to the arguments of a launch, as elements of
	// the type that the handler sees; nil for handlers without.
	Payload func(*gpu.Launch, *PayloadMemory)
}

// sectorWords is how many words fill a sector, the least that a GPU reads at once.
const sectorWords = 4

// shapeOf is what launches of actors with these types have in common.
func shapeOf[In, Out any](o *Options) loop.Shape {
	var cell loop.Cell[In, Out]
	words := func(bytes uintptr) uint32 { return uint32((bytes + 3) / 4) }
	s := loop.Shape{
		Slots: uint32(o.slots()), SideSlots: uint32(o.sideSlots()),
		In: mail.InHeader + words(unsafe.Sizeof(cell.In)), Out: mail.OutHeader + words(unsafe.Sizeof(cell.Out)),
		Stride: words(unsafe.Sizeof(cell)), OutAt: words(unsafe.Offsetof(cell.Out)),
		Spin: int64(o.Spin), Nap: uint32(o.Nap.Nanoseconds()),
	}
	s.InStep = (s.In + sectorWords - 1) / sectorWords * sectorWords
	s.Reciprocal = uint32((1<<32 + uint64(s.In) - 1) / uint64(s.In))
	s.Batch = uint32(min(batchOf(o.Batch, &s), o.slots()))
	s.RawAt = rawAt(&s)
	s.OutStep = (s.Out + sectorWords - 1) / sectorWords * sectorWords
	return s
}

// The shared memory that messages taken at once have, if Options.Batch does not say how
// many they are, and the least number of them.
const (
	batchBytes = 16 << 10
	leastBatch = 8
)

// batchOf is how many messages an actor takes at once.
func batchOf(asked int, s *loop.Shape) int {
	if asked != 0 {
		return asked
	}
	return min(max(batchBytes/cellBytes(s), leastBatch), loop.MaxBatch)
}

// cellBytes is the shared memory that a message takes with its reply, and with the
// words as which it comes.
func cellBytes(s *loop.Shape) int { return 4*int(s.Stride) + 8*int(s.InStep) }

// rawAt is where messages are copied to in the shared memory of a block, behind the
// cells, in units of 16 bytes.
func rawAt(s *loop.Shape) uint32 { return (s.Batch*s.Stride + 3) / 4 }
