package kernel

import "time"

// Clock returns a counter of clock cycles of the processor that runs the thread,
// for measuring short times: the difference of two readings by one thread. It is
// read where it stands. On the CPU it counts nanoseconds; in the simulator,
// instructions.
func Clock() int64 { return int64(time.Since(started)) }

// GlobalTimer returns a time in nanoseconds that all threads of the device share.
// GPUs advance it in steps, of about a microsecond on some. It is read where it
// stands. The simulator counts instructions, so that its results repeat.
func GlobalTimer() int64 { return origin + int64(time.Since(started)) }

var (
	started = time.Now()
	origin  = started.UnixNano()
)
