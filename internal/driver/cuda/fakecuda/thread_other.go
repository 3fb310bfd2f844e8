//go:build !linux

package fakecuda

// threadID takes all threads for one, which is right as long as devices are used
// in turn.
func threadID() int { return 0 }
