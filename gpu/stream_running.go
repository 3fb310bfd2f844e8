package gpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"quern.dev/gpu/compiled"
	"quern.dev/internal/driver"
)

// RunningError is returned by a wait whose context ended before all kernels were done. It
// matches the context's error.
type RunningError struct {
	// Kernels are those that may be running, oldest launch first, without duplicates:
	// "kernel spin (spin.go:12)". One of them is running, and the others wait for it. A
	// graph is listed as a whole. Kernels is empty if the oldest launches are unknown.
	Kernels []string
	// Launches is the number of launches that were not known to be done.
	Launches int
	Err      error // why the wait ended
}

// Error names the kernels.
func (e *RunningError) Error() string {
	switch n := len(e.Kernels); {
	case n == 1 && e.Launches == 1:
		return fmt.Sprintf("%v; %s is still running", e.Err, e.Kernels[0])
	case n == 1:
		return fmt.Sprintf("%v; %s is still running (the last %d launches)", e.Err, e.Kernels[0], e.Launches)
	case n == 0:
		return fmt.Sprintf("%v; one of the last %d launches is still running", e.Err, e.Launches)
	default:
		return fmt.Sprintf("%v; %s is still running, or a kernel that was launched after it: %s", e.Err, e.Kernels[0], strings.Join(e.Kernels[1:], ", "))
	}
}

// Unwrap returns why the wait ended.
func (e *RunningError) Unwrap() error { return e.Err }

// history is the recent launches of a stream. It costs a few nanoseconds per launch.
type history struct {
	launched atomic.Uint64 // launches so far
	done     atomic.Uint64 // launches that are known to be done
	recent   [historySize]atomic.Pointer[Kernel]
}

const historySize = 16

// add records that k is about to be launched, and returns the number of launches so far.
func (h *history) add(k *Kernel) uint64 {
	n := h.launched.Add(1)
	if at := &h.recent[n%historySize]; at.Load() != k { // a store takes longer
		at.Store(k)
	}
	return n
}

// passed records that the first n launches are done.
func (h *history) passed(n uint64) {
	for {
		old := h.done.Load()
		if old >= n || h.done.CompareAndSwap(old, n) {
			return
		}
	}
}

// explain returns err with those of the first n launches that may be running.
func (h *history) explain(err error, n uint64) error {
	done := h.done.Load()
	if n <= done {
		return err
	}
	e := &RunningError{Launches: int(n - done), Err: err}
	if h.launched.Load()-done <= historySize {
		for i := done + 1; i <= n; i++ {
			if k := h.recent[i%historySize].Load(); k != nil && !slices.Contains(e.Kernels, k.place()) {
				e.Kernels = append(e.Kernels, k.place())
			}
		}
	}
	return e
}

// standFor returns a Kernel that stands for a graph of these nodes in errors of waits.
func standFor(nodes []*Node) *Kernel {
	var kernels []string
	for _, n := range nodes {
		if name, ok := strings.CutPrefix(n.what, "kernel "); ok && !slices.Contains(kernels, name) {
			kernels = append(kernels, name)
		}
	}
	name := "graph"
	if len(kernels) > 0 {
		name += " with " + strings.Join(kernels[:min(4, len(kernels))], ", ")
	}
	if len(kernels) > 4 {
		name += ", ..."
	}
	return &Kernel{info: kernelInfo{Kernel: compiled.Kernel{Name: name}}}
}

// place returns the name of the kernel and the position of its declaration.
func (k *Kernel) place() string {
	if k.info.Pos == "" {
		return k.Name()
	}
	return "kernel " + k.Name() + " (" + k.info.Pos + ")"
}

// await waits for the work of a stream in use. If ctx ends first, the error names the
// kernels that are still running.
func (s *Stream) await(ctx context.Context) error {
	ctx = orBackground(ctx)
	n := s.history.launched.Load()
	o := s.traceWait()
	err := o.end(s.drv.Synchronize(ctx))
	switch {
	case err == nil:
		s.history.passed(n)
		return nil
	case ctx.Err() != nil:
		return s.history.explain(err, n)
	default:
		return err
	}
}

// began records that k, or the graph that it stands for, is about to be launched.
func (s *Stream) began(k *Kernel) uint64 { return s.history.add(k) }

// launched records the result of the driver's call for launch n. On devices that work in
// the caller, the launch is then done.
func (s *Stream) launched(n uint64, err error) error {
	if err == nil {
		if !s.dev.async {
			s.history.passed(n)
		}
		return nil
	}
	s.history.passed(n)
	if f, ok := errors.AsType[*driver.Fault](err); ok {
		return s.dev.kernelError(f)
	}
	return err
}
