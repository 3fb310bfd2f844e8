package kernel

import "fmt"

// Printf prints, with the verbs of package fmt. The format is a constant; the
// arguments are numbers, bools and constant strings. In a kernel that runs on a
// device the text appears where gpu.Config.Output says, by default on standard
// output, when the host waits for the stream; what one thread prints is in order.
// If more than 1 MiB is printed between two waits, the rest is left out and
// counted.
//
// It is meant for finding mistakes: it is slow.
func Printf(format string, args ...any) { fmt.Printf(format, args...) }
