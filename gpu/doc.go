// Package gpu runs kernels on devices: NVIDIA GPUs, all cores of the processor, and a
// simulator of GPU code.
//
// A kernel is a Go function (see package kernel) for which quern gen has generated a
// launcher. A program opens a device, copies data to buffers, launches, and waits:
//
//	dev, err := gpu.Open(gpu.Config{}) // the best available device
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
// [Open] opens the device that Config.Device names, or the one that the environment
// variable QUERN_DEVICE names (cuda, cuda:1, cpu, sim), or the first GPU, or the CPU. It
// opens the simulator only by name. Config.Require insists on one back end.
// [Device.PassedOver] says why Open did not choose a better device. [Devices] lists all
// devices, including unusable ones with the reason.
//
// The package loads NVIDIA's driver library at run time. The oldest supported version is
// CUDA 11.0 (driver 450). Programs need neither the CUDA toolkit nor cgo, and run on
// machines without a driver.
//
// # Launches
//
// [Linear], [Plane] and [Volume] run at least the given number of threads, in blocks that
// suit the kernel: the size that the kernel declares, otherwise 256 threads (256, 32x8,
// 32x4x2), or another power of two if registers or shared memory then allow more resident
// threads. [Grid.Block] sets the block size, [Blocks] also the number of blocks.
// [Kernel.Layout] and [Kernel.Occupancy] report the result. The CPU and the simulator have
// the limits of a GPU.
//
// A launch checks everything that can be checked first. Its error names the kernel and the
// argument: a nil or closed buffer, a buffer of another device, an empty or oversized grid,
// a block size that the device or the kernel does not allow, a closed stream, the wrong
// number or types of arguments. A launch does not allocate, and runs on the calling
// goroutine.
//
// Kernels check their indices. A failed check stops its thread, and the next wait on the
// stream returns a [*KernelError] with the position in the Go source, the thread, the index
// and the length. A stream keeps its first fault until a wait returns it, and drops others.
// The device stays usable. The contents of buffers that the kernel writes are then
// unspecified: on a GPU and the simulator the other threads continue, on the CPU the rest
// of the launch does not run.
//
// # Pools
//
// [Alloc] calls the driver. For buffers with short lives, [Acquire] takes memory from a
// [Pool] in the order of a stream's work, without waiting; Close gives it back.
// [Pool.Scope] closes the buffers of one function. Library functions take temporary memory
// from the device's pool, or from a [Workspace] of the program. A [HostPool] has page-locked
// host memory. An [OutOfMemoryError] and a [LeakError] name the lines of the program that
// hold memory.
//
// # Unified arrays and other libraries
//
// A [Unified] is an array with memory on both sides. It copies what one side has changed
// when the other side asks for it. [ExportDLPack] and [ImportDLPack] share arrays with
// other libraries in the process, [Buffer.CUDAArrayInterface] with Python,
// [Buffer.IPCHandle] and [OpenIPC] with other processes. Package npy reads and writes NumPy
// files.
//
// # Graphs
//
// A [Graph] is work that is recorded once and run many times with one call each.
// [Device.Capture] records what a function does on streams; [Graph.Add] adds work node by
// node. [Graph.Instantiate] prepares the graph, [GraphExec.Launch] runs it, and
// [GraphExec.Update] changes the arguments of its nodes. [If] and [While] are decided on the
// device while the graph runs. The CPU and the simulator run the nodes one by one.
//
// # Tuning
//
// A launch of a kernel with special forms (specialise= in its directive) uses the form for
// its arguments. [Tune] measures several ways to launch something on the device, such as
// block sizes, and keeps the fastest on disk.
//
// # Streams
//
// A stream does its work in order. Work on different streams may overlap. [Stream.After], or
// [Stream.Record] and [Stream.Wait] with an [Event], order the work of several streams.
// [Priority] sets which stream goes first. [Stream.Call] runs a Go function in the order of
// a stream. [Overlap] and [OverlapSlices] pass items through several streams, so that
// kernels and copies in both directions run at the same time.
//
// # Waiting
//
// On a GPU a stream does its work after the call that added it has returned, on the CPU and
// the simulator before. All waits take a context. Cancelling it ends the wait, not the
// kernel, which continues to run and keeps its buffers.
//
// # Several devices
//
// [OpenAll] opens all GPUs, [OnEach] runs one goroutine per device, [Distribute] spreads the
// rows of a matrix over devices, and [CopyPeer] copies between any two devices. Streams can
// wait for events of other devices. The loss of a device ([ErrDeviceLost]) does not affect
// the others.
//
// # Copies
//
// [Upload], [CopyIn] and [Download] copy from and to Go slices, which the program may reuse
// when they return. They stage large copies in page-locked memory of the package.
// [CopyInAsync] and [CopyOutAsync] copy from and to a [HostBuffer], which is page-locked
// itself, while the program continues. [OpenMapped] maps a file to copy from.
//
// # Closing
//
// The program closes buffers, streams, events and devices. Closing twice does nothing.
// Closing something that another goroutine uses takes effect when that use ends. If buffers
// are still open when their device is closed, Close returns a [*LeakError]; their memory is
// freed nevertheless. The package has no finalizers, so it does not collect what the program
// forgot to close.
//
// # Errors
//
// Bad input, including nil and zero values of this package's types, results in an error and
// never in a panic. A nil context means context.Background. Errors match [ErrNoDevice],
// [ErrOutOfMemory], [ErrDeviceLost], [ErrClosed] and [ErrInvalid] with errors.Is. An
// [*Error] has the function, code and text of a driver.
//
// # Concurrency
//
// All types except [Launch] are safe for concurrent use.
//
// # Generated code
//
// [Launch], [Arg], [SliceArg] and [TextureArg] are for the launchers that quern gen
// generates, which describe kernels with package [quern.dev/gpu/compiled]. Programs use
// neither.
package gpu
