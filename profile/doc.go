// Package profile shows where the time of a GPU goes: in traces for Perfetto and Chrome, and in
// profiles by Go call stack for go tool pprof.
//
// A program needs neither this package nor a change to be recorded. Every program that opens
// a device reads two environment variables:
//
//	QUERN_TRACE=out.json QUERN_PPROF=gpu.pb.gz ./program
//	go tool pprof -sample_index=gpu gpu.pb.gz
//
// out.json is for https://ui.perfetto.dev. The files are complete a few times per second, so
// they can be read while the program runs, and after it was killed. Closing the device writes
// what was recorded until then; a program that ends without that loses up to 0.2 seconds. A
// trace of more than 256 MiB continues in a new file; out.1.json is the part before it, and
// older parts are removed. In the names, %p stands for the number of the process: processes that
// run at once need files of their own.
//
// quern profile runs a program and writes a page about it; see docs/profiling.md. With more than
// 3000 operations per second on a GPU, a sample of them is recorded, unless QUERN_TRACE_ALL is
// set.
//
// # Programs
//
// Package quern.dev/profile/otel passes recordings to OpenTelemetry.
//
// [Start] records from within a program, [Handler] on request over HTTP, and [Section] names
// parts of a program:
//
//	r, err := profile.Start(profile.Config{})
//	...
//	err = r.Stop()
//	err = r.WriteProfile(file)
//
//	defer profile.Section(ctx, s, "blur").End()
//
// A trace has a track for each stream, with what the device did; one for each goroutine, with
// what it asked for; and one for each actor of package ring. A profile has four values: the
// nanoseconds of the device, the bytes copied, the number of launches, and the nanoseconds
// that goroutines have waited for the device. Its innermost frame is the kernel or the copy,
// and the frames above it are those of the Go code that launched it.
//
// # Kernels
//
// [Benchmark] measures a kernel by nvbench's method, [Measure] the limits of a device to
// compare it with, and [Compare] tests whether two measurements differ. [Occupancy] and
// [OccupancyFor] list and plot how many threads are resident for each block size.
//
// # Devices
//
// [MeasureCard] measures bandwidths, rates and latencies of a device. From the cards of a GPU
// and of the CPU, [Advise] predicts on which of them a workload is faster, and from which size.
// [Count] says what its kernels do, by running them in the simulator; [Analyze] finds out what
// limits a kernel and tries what would help; [Validate] compares its results on two devices.
//
// # Sources
//
// On an NVIDIA GPU the times come from CUPTI, which is part of the CUDA toolkit
// (libcupti.so; the environment variable QUERN_CUPTI may name its file). It also records the
// kernels of graphs and of other libraries. Where CUPTI is missing or used by another tool,
// each operation is between two events in its stream: a graph is then one operation, and
// kernels of other libraries are missing. [Recording.Source] says which it is, and why. The
// CPU and the simulator work in the caller, so the host's clock measures them.
//
// Recording is bounded in memory; [Recording.Lost] counts what did not fit. Without a
// recording, an operation costs one load more and allocates nothing.
package profile
