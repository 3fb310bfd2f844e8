//go:build !linux

package fakecuda

// threadID treats all threads as one. This is correct as long as devices are used one
// at a time.
func threadID() int { return 0 }
