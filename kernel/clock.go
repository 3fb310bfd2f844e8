package kernel

import "time"

// Clock returns a cycle counter of the processor that runs the thread. Use the
// difference of two readings by one thread to measure short times. The compiler
// does not move the reading. On the CPU the counter counts nanoseconds; in the
// simulator it counts instructions.
func Clock() int64 { return int64(time.Since(started)) }

// GlobalTimer returns a time in nanoseconds that all threads of the device share.
// GPUs advance it in steps, on some GPUs of about a microsecond. The compiler
// does not move the reading. The simulator counts instructions, so its results
// are reproducible.
func GlobalTimer() int64 { return origin + int64(time.Since(started)) }

var (
	started = time.Now()
	origin  = started.UnixNano()
)
