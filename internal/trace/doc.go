// Package trace records what devices do and which Go code caused it, and writes it as a trace
// for Chrome and Perfetto and as a profile for pprof.
//
// Package gpu calls [Active] for each operation, which is one atomic load, and does nothing
// more if there is no recorder. Otherwise it makes an [Op], with the call stack, and ends it
// when the driver's call has returned. The time on the device comes from one of three
// sources: CUPTI, for NVIDIA GPUs where it can be used; events in the stream, which package
// gpu records; and the host's clock, on devices that work in the caller.
//
// A goroutine passes events to the sinks a few times per second: files ([Environment]) and
// memory ([Memory]). Of very many operations of a GPU a sample is recorded ([Recorder.Take]). Everything is bounded. What did not fit is counted.
package trace
