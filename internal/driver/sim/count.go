package sim

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"quern.dev/internal/ptxvm"
	"quern.dev/internal/wholefile"
)

// Counts is the content of the file that CountVariable names.
type Counts struct {
	Kernels []ptxvm.KernelCount `json:"kernels"`
}

// countInterval is the time between two versions of the file.
const countInterval = 500 * time.Millisecond

// counts is a file of counts. It is replaced a few times per second, so that there is always a
// complete one, also if the program is killed.
type counts struct {
	file    string
	counter *ptxvm.Counter

	mu   sync.Mutex // guards writing, and the fields below
	next time.Time
}

// files holds the counts by file: devices of one process count together.
var files sync.Map

func countInto(file string) (*counts, error) {
	v, known := files.LoadOrStore(file, &counts{file: file, counter: new(ptxvm.Counter)})
	c := v.(*counts)
	if known {
		return c, nil
	}
	if err := c.write(); err != nil {
		files.Delete(file)
		return nil, err
	}
	return c, nil
}

// launched writes the file if it is due.
func (c *counts) launched() {
	c.mu.Lock()
	due := time.Now().After(c.next)
	c.mu.Unlock()
	if due {
		_ = c.write() // Close reports the error if it lasts
	}
}

func (c *counts) write() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	text, err := json.Marshal(Counts{c.counter.Kernels()})
	if err == nil {
		err = wholefile.Write(c.file, func(w io.Writer) error { _, err := w.Write(text); return err })
	}
	c.next = time.Now().Add(countInterval)
	if err != nil {
		return fmt.Errorf("%s: %w", CountVariable, err)
	}
	return nil
}
