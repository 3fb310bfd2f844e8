// Package gpu runs kernels on devices: NVIDIA GPUs, all cores of the processor,
// and a simulator of GPU code.
//
// A kernel is a Go function (see package kernel) from which quern gen has made a
// launcher. A program opens a device, puts data in buffers, launches, and waits:
//
//	dev, err := gpu.Open(gpu.Config{}) // the best device there is
//	defer dev.Close()
//	s := dev.DefaultStream()
//	x, err := gpu.Upload(s, hostX)
//	defer x.Close()
//	y, err := gpu.Upload(s, hostY)
//	defer y.Close()
//	err = LaunchSaxpy(s, gpu.Linear(len(hostX)), 2, x, y)
//	err = gpu.Download(ctx, s, hostY, y) // waits
//
// # Devices
//
// [Devices] lists them, also those that cannot be used and why. [Open] opens the
// one that Config.Device names, else the one that the environment variable
// QUERN_DEVICE names (cuda, cuda:1, cpu, sim), else the first GPU, else the CPU;
// the simulator only by name. [Device.PassedOver] says why it was not a better
// one. With Config.Require a program insists on a back end.
//
// NVIDIA's driver library is opened at run time; CUDA 11.0 (driver 450) is the
// oldest. Programs need no CUDA toolkit and no cgo, and run where there is no
// driver.
//
// # Launches
//
// [Linear], [Plane] and [Volume] run at least as many threads as they say, in
// blocks that suit the kernel: those that it declares, otherwise 256 threads
// (256, 32x8, 32x4x2), another power of two where registers or shared memory let
// that keep more threads resident. [Grid.Block] states the threads of a block,
// [Blocks] their number too; [Kernel.Layout] and [Kernel.Occupancy] tell what
// comes of it. On the CPU and the simulator the limits are a GPU's.
//
// Everything that can be checked is checked before a launch, and an error names
// kernel and argument: a nil or closed buffer, one of another device, an empty
// or oversized grid, a block that the device or the kernel does not allow, a
// closed stream, arguments of a wrong number or type. A launch allocates nothing
// and is done on the goroutine that asks for it.
//
// A kernel checks its own indices. One that fails stops its thread, and the next
// wait on the stream returns a [*KernelError] with the place in the Go source,
// the thread, the index and the length. The first fault of a stream is kept
// until it is returned; others until then are dropped. The device stays usable,
// but what the buffers hold that the kernel writes is unspecified: on a GPU and
// the simulator the other threads go on, on the CPU the rest of the launch is
// not run.
//
// # Pools
//
// [Alloc] asks the driver. Buffers that come and go are taken from a [Pool] with
// [Acquire], in the order of a stream's work and without waiting; their Close
// gives the memory back. [Pool.Scope] closes the buffers of one function, and a
// [HostPool] has page-locked memory of the host. An [OutOfMemoryError] and a
// [LeakError] name the lines of the program that hold memory.
//
// # Unified arrays and other libraries
//
// A [Unified] is an array with memory on both sides, which copies what one has
// changed when the other asks for it. [ExportDLPack] and [ImportDLPack] share
// arrays with libraries in the same process, [Buffer.CUDAArrayInterface] with
// Python, [Buffer.IPCHandle] and [OpenIPC] with other processes. Package npy has
// NumPy's files.
//
// # Graphs
//
// A [Graph] is work that is recorded once and run many times with one call:
// [Device.Capture] records what a function does on streams, [Graph.Add] adds work
// node by node. [Graph.Instantiate] makes it ready to run, [GraphExec.Launch] runs
// it, [GraphExec.Update] gives its nodes other arguments. [If] and [While] are
// decided on the device when the graph runs. On the CPU and the simulator the
// recorded work is done node by node.
//
// # Tuning
//
// A kernel with special forms (specialise= in its directive) is launched in the
// form for its arguments. [Tune] finds the fastest of several ways to launch
// something, such as block sizes, by measuring them on the device, and keeps the
// answer on disk.
//
// # Streams
//
// Work on one stream is done in order, work on several may overlap. [Stream.After],
// or [Stream.Record] and [Stream.Wait] with an [Event], put streams in order;
// [Priority] says whose work goes first; [Stream.Call] runs a Go function in the
// order of a stream. [Overlap] and [OverlapSlices] pass items through several
// streams, so that copies in both directions and kernels go on at the same time.
//
// # Waiting
//
// Streams do their work in order, and apart from each other. On a GPU that is
// after the call has returned; on the CPU and the simulator it is before.
// Whatever waits takes a context. Cancelling it ends the wait, never the kernel,
// which goes on and keeps its buffers.
//
// # Several devices
//
// [OpenAll] opens all GPUs, [OnEach] runs a goroutine for each device,
// [Distribute] spreads the rows of a matrix over them, [CopyPeer] copies between
// two devices of any kind, and streams wait for events of other devices. A device
// that is lost ([ErrDeviceLost]) leaves the others alone.
//
// # Copies
//
// [Upload], [CopyIn] and [Download] take Go slices, and return when these may be
// used again. Large ones go through page-locked memory of the package's. From and
// to a [HostBuffer], which is page-locked itself, [CopyInAsync] and [CopyOutAsync]
// copy while the program does something else. [OpenMapped] maps a file as a source.
//
// # Closing
//
// Buffers, streams, events and devices are closed by the program. Closing twice
// does nothing, and what is in use by another goroutine stays until that is
// done. A device that is closed with open buffers returns a [*LeakError]; their
// memory is freed all the same. Nothing is left to finalizers.
//
// # Errors
//
// Errors are values that say what was being done; nothing panics on bad input,
// nil and zero values of this package's types included. A nil context is
// [context.Background].
// They match [ErrNoDevice], [ErrOutOfMemory], [ErrDeviceLost], [ErrClosed] and
// [ErrInvalid] with errors.Is; an [*Error] has a driver's function, code and text.
//
// # Concurrency
//
// All types but [Launch] may be used by several goroutines at once.
//
// # Generated code
//
// [Launch], [Arg], [SliceArg] and [TextureArg] are for the launchers that quern gen
// writes. What they say about kernels is in package [quern.dev/gpu/compiled]. Programs
// use neither.
//
// # What it does not do
//
// It does not collect what a program forgot to close.
package gpu
