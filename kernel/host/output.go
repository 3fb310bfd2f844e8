package host

import (
	"fmt"
	"os"
	"strings"
	"sync"
)

// Output collects the output of a launch's kernels, up to a maximum size.
// Messages of one thread are in order; those of different workers may be
// interleaved.
type Output struct {
	Size    int // maximum number of bytes
	Dropped int // number of messages that did not fit

	mu   sync.Mutex
	text strings.Builder
}

// String returns the collected text.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// Reset discards the collected text.
func (o *Output) Reset() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Reset()
	o.Dropped = 0
}

func (o *Output) add(message string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.text.Len()+len(message) > o.Size {
		o.Dropped++
		return
	}
	o.text.WriteString(message)
}

// Printf prints a message of the running thread.
func Printf(r *Run, format string, args ...any) {
	if o := r.launch.output; o != nil {
		o.add(fmt.Sprintf(format, args...))
		return
	}
	fmt.Fprintf(os.Stdout, format, args...)
}
