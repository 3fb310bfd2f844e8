package loop

// pause makes the thread sleep for about the given number of nanoseconds, at most a
// millisecond. Without a GPU it does nothing.
//
//quern:ptx .version 6.3
//quern:ptx .target sm_70
//quern:ptx nanosleep.u32 $nanoseconds;
func pause(nanoseconds uint32) { _ = nanoseconds }
