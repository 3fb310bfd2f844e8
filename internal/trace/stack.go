package trace

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"quern.dev/internal/callsite"
)

// Stack identifies a call stack; 0 is none. Equal stacks have equal numbers.
type Stack uint32

const (
	stackDepth = 48 // frames that are kept, innermost first
	stackSlots = 1 << 14
	mostStacks = stackSlots / 2
)

// callStack is a call stack of return addresses.
type callStack struct {
	hash   uint64
	number Stack
	pcs    []uintptr
}

// stackTable holds each stack once. Finding a stack takes no lock.
type stackTable struct {
	slots [stackSlots]atomic.Pointer[callStack]

	mu  sync.Mutex // guards adding, and all
	all []*callStack
}

var stacks stackTable

// here returns the call stack of the caller, or 0 if the table is full.
func here() Stack {
	var room [stackDepth]uintptr
	pcs := room[:callsite.Callers(room[:])]
	hash := uint64(14695981039346656037)
	for _, pc := range pcs {
		hash = (hash ^ uint64(pc)) * 1099511628211
	}
	hash ^= hash >> 29
	at := hash % stackSlots
	for {
		c := stacks.slots[at].Load()
		if c == nil {
			break
		}
		if c.hash == hash && slices.Equal(c.pcs, pcs) {
			return c.number
		}
		at = (at + 1) % stackSlots
	}
	return stacks.add(hash, slices.Clone(pcs))
}

func (t *stackTable) add(hash uint64, pcs []uintptr) Stack {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := hash % stackSlots
	for {
		c := t.slots[at].Load()
		if c == nil {
			break
		}
		if c.hash == hash && slices.Equal(c.pcs, pcs) {
			return c.number
		}
		at = (at + 1) % stackSlots
	}
	if len(t.all) == mostStacks {
		return 0
	}
	c := &callStack{hash: hash, number: Stack(len(t.all) + 1), pcs: pcs}
	t.all = append(t.all, c)
	t.slots[at].Store(c)
	return c.number
}

// Frames returns the functions of a call stack, innermost first. The innermost one is the
// function of package gpu that the program called, or profile.Section.
func (s Stack) Frames() []runtime.Frame {
	stacks.mu.Lock()
	var pcs []uintptr
	if s > 0 && int(s) <= len(stacks.all) {
		pcs = stacks.all[s-1].pcs
	}
	stacks.mu.Unlock()
	if len(pcs) == 0 {
		return nil
	}
	var list []runtime.Frame
	for frames := runtime.CallersFrames(pcs); ; {
		f, more := frames.Next()
		if f.Function != "" && f.Function != "runtime.goexit" {
			list = append(list, f)
		}
		if !more {
			break
		}
	}
	for len(list) > 1 && internal(&list[0]) && internal(&list[1]) {
		list = list[1:]
	}
	if len(list) > 1 && strings.HasPrefix(list[0].Function, "quern.dev/internal/") {
		list = list[1:]
	}
	return list
}

// internal reports whether a function is one of those between the program and the recorder.
func internal(f *runtime.Frame) bool {
	return (strings.HasPrefix(f.Function, "quern.dev/gpu.") || strings.HasPrefix(f.Function, "quern.dev/internal/trace.") || f.Function == "quern.dev/profile.Section") &&
		!strings.HasSuffix(f.File, "_test.go")
}
