package host

import (
	"fmt"
	"os"
	"strings"
	"sync"
)

// Output holds what the kernels of a launch print, up to a size. The messages of
// one thread are in order; those of different workers are mixed.
type Output struct {
	Size    int // bytes at most
	Dropped int // messages that found no room

	mu   sync.Mutex
	text strings.Builder
}

// String returns the text.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// Reset forgets what was printed.
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
