// Package driver defines the interface between package gpu and the devices, and what
// they share: the layout of launch arguments and of the fault record that a failing
// kernel writes.
//
// A device is a sub-package that implements [Device], [Stream], [Event] and
// [Function], and lists what the machine has as [Candidate] values:
//
//	cuda   NVIDIA's driver library, opened at run time
//	cpu    kernels compiled to Go, on all cores
//	sim    interprets the PTX and checks what it does
//
// cpu and sim share package synchronous: streams that do their work in the calling
// goroutine.
//
// # Capabilities
//
// Those four interfaces are required. The following ones are optional; package gpu
// tests for them with type assertions:
//
//	Device          what it adds                      without it
//	[PageLocker]    page-locked host memory           Go memory
//	[HostMapper]    kernels access host memory        unsupported
//	[ManagedMemory] memory that migrates on use       unsupported
//	[ManagedMover]  hints for the migration           ignored
//	[Pools]         stream-ordered allocation         [PlainPool]
//	[Forgetter]     finds uninitialized reads         nothing to do
//	[Textures]      images that kernels sample        unsupported
//	[Graphs]        graphs of operations              unsupported
//	[Prioritizer]   stream priorities                 all have priority 0
//	[PersistentKernels]
//	                functions that wait for kernels   [PersistentList]
//	[SharedMemory]  memory of other processes         unsupported
//	[NativeDevice]  calls of other libraries          unsupported
//
//	Stream
//	[AsyncCopier]   asynchronous host copies          CopyIn and CopyOut
//	[BoxCopier]     copies of rectangles and boxes    piece by piece
//	[HostCaller]    Go functions in stream order      unsupported
//	[Idler]         reports whether work is left      none is left
//	[Peers]         copies between devices            through the host
//	[NativeStream]  a handle for other libraries      none
//	[InlineLauncher], [Interrupter]
//	                work in the calling goroutine     cannot be cancelled
//
//	Function
//	[Occupier]      the driver knows the occupancy    [Limits.ResidentBlocks]
//
// Calling an unsupported capability returns an error that matches
// errors.ErrUnsupported.
//
// Package gpu checks every argument before it calls a device: addresses lie in live
// allocations of that device, sizes fit, grids and blocks are within the limits, and
// objects are not closed while a call uses them. A device does not repeat these checks.
// It reports the errors of its driver as [*Error].
//
// # Arguments
//
// A [Frame] holds the arguments of one launch in the form that PTX expects: Params
// points at each PTX parameter in order. The pointers are set up once and point into
// the frame, so setting an argument is a store and a launch does not allocate. A C
// library can read a frame because Go's heap does not move.
//
// # Faults
//
// A kernel that fails an index check, divides by zero or panics writes a record
// ([Record]) that the host can read, and its thread exits; the launch runs to its end.
// Each stream has a control block of [ControlSize] bytes in device memory: {u32 claim;
// u32 printed; u64 address of the record; u64 address of the output; u32 size of the
// output; u32 dropped}. The thread that changes claim from 0 to 1 writes the record, so
// the first failure is kept. Faults of later work on the stream are dropped until
// [Stream.Fault] has returned the first one and cleared both.
//
// # Graphs
//
// A graph is a list of operations ([GraphNode]). Each lists the numbers of the
// operations that precede it. Synchronous devices run them one by one; others pass them
// to their driver. The kernels of a graph report faults and output to the streams that
// the graph runs on.
//
// # Pools
//
// A [Pool] allocates memory in stream order. Package gpu keeps freed memory by size and
// knows which streams use it. A device says in Info.Async whether streams continue
// after their calls have returned; as an [Idler], a stream says whether it still has
// work. [PlainPool] is a pool for devices whose Free waits, or has nothing to wait for.
//
// # Output
//
// A kernel that prints adds the size of its message to printed in the control block and
// writes the message to the output at the old offset, if it fits; if not, it increments
// dropped. A word of the fault record says that there is output. [Stream.Output]
// returns and clears it.
package driver
