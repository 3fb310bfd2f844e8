package fakecuda

import "syscall"

// threadID identifies the thread, to which the current context belongs.
func threadID() int { return syscall.Gettid() }
