package gpu

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Holder is a line of the program that made buffers which are still open.
type Holder struct {
	Function string // "main.load"
	File     string
	Line     int

	Buffers int
	Bytes   int64
}

// String returns "main.load (load.go:12): 2 buffers, 64 bytes".
func (h Holder) String() string {
	at := "an unknown place"
	if h.Function != "" {
		at = fmt.Sprintf("%s (%s:%d)", h.Function, filepath.Base(h.File), h.Line)
	}
	return fmt.Sprintf("%s: %s, %s", at, count(h.Buffers, "buffer"), count64(h.Bytes, "byte"))
}

// LeakError is returned by Close of a device or a pool if buffers are still open. Their
// memory has been freed nevertheless.
type LeakError struct {
	Device  string // ID
	Pool    string // "pool" or "host pool" if a pool of the device was closed, "" if the device was
	Buffers int
	Bytes   int64
	Holders []Holder // by size, largest first
}

// Error states how many buffers and bytes were leaked on which device or pool, and the
// largest holders.
func (e *LeakError) Error() string {
	noun := "buffers were"
	if e.Buffers == 1 {
		noun = "buffer was"
	}
	of := "device " + e.Device
	if e.Pool != "" {
		of = e.Pool + " of " + of
	}
	return fmt.Sprintf("gpu: %s: %d %s not closed (%d bytes)%s", of, e.Buffers, noun, e.Bytes, list(e.Holders))
}

// shown is the number of holders in the text of an error.
const shown = 5

// list returns the first holders after a colon.
func list(holders []Holder) string {
	if len(holders) == 0 {
		return ""
	}
	var texts []string
	for _, h := range holders[:min(shown, len(holders))] {
		texts = append(texts, h.String())
	}
	if more := len(holders) - shown; more > 0 {
		texts = append(texts, fmt.Sprintf("and %s more", count(more, "place")))
	}
	return ": " + strings.Join(texts, "; ")
}

// allocation is the size of some memory and the calls that allocated it.
type allocation struct {
	site  []uintptr
	bytes int64
}

func newLeakError(d *Device, leaked []allocation) *LeakError {
	e := &LeakError{Device: d.id, Buffers: len(leaked), Holders: holders(leaked)}
	for _, a := range leaked {
		e.Bytes += a.bytes
	}
	return e
}

// site is where memory was allocated: the innermost calls.
type site [8]uintptr

// here returns the calls that led to the caller's caller.
func here() *site {
	s := new(site)
	runtime.Callers(4, s[:])
	return s
}

// holders adds up allocations by line of the program.
func holders(list []allocation) []Holder {
	type place struct {
		function, file string
		line           int
	}
	sums := make(map[place]*Holder)
	for _, a := range list {
		function, file, line := caller(a.site)
		h := sums[place{function, file, line}]
		if h == nil {
			h = &Holder{Function: function, File: file, Line: line}
			sums[place{function, file, line}] = h
		}
		h.Buffers++
		h.Bytes += a.bytes
	}
	var all []Holder
	for _, h := range sums {
		all = append(all, *h)
	}
	slices.SortFunc(all, func(a, b Holder) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return all
}

// caller returns the innermost call that is outside this package or in its tests.
func caller(pcs []uintptr) (function, file string, line int) {
	if i := slices.Index(pcs, 0); i >= 0 {
		pcs = pcs[:i]
	}
	if len(pcs) == 0 {
		return "", "", 0
	}
	frames := runtime.CallersFrames(pcs)
	for {
		f, more := frames.Next()
		inside := strings.HasPrefix(f.Function, "quern.dev/gpu.") && !strings.HasSuffix(f.File, "_test.go")
		if !inside || !more {
			name := strings.ReplaceAll(f.Function, "[...]", "") // type arguments
			return name[strings.LastIndex(name, "/")+1:], f.File, f.Line
		}
	}
}

// allocations returns the open allocations of the device's own memory, with their
// sizes there.
func (d *Device) allocations() []allocation {
	d.mu.Lock()
	var all []allocation
	for m := range d.memory {
		if m.host() == nil && m.view() == nil {
			all = append(all, m.allocation())
		}
	}
	d.mu.Unlock()
	for _, p := range d.openPools() {
		if p, ok := p.(*Pool); ok {
			all = append(all, p.allocations()...)
		}
	}
	return all
}

func (m *memory) allocation() allocation {
	a := allocation{bytes: m.size}
	if m.site != nil {
		a.site = m.site[:]
	} else if m.call != 0 {
		a.site = []uintptr{m.call}
	}
	return a
}
