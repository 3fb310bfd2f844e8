package fakecuda

import "syscall"

// threadID identifies the thread that the current context belongs to.
func threadID() int { return syscall.Gettid() }
