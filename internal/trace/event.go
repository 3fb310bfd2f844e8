package trace

import (
	"sync/atomic"
	"time"
)

// Kind is what an event is about.
type Kind uint8

// Kinds of events.
const (
	Launch     Kind = iota // of a kernel
	Graph                  // run of a graph
	CopyIn                 // from the host
	CopyOut                // to the host
	CopyWithin             // a device
	CopyPeer               // between devices
	Fill
	Wait    // of the host for a device
	Call    // of a function of the driver
	Section // of the program
	Span    // of an actor
	Mark    // a moment
)

var kindNames = [...]string{
	"kernel", "graph", "copy in", "copy out", "copy", "peer copy", "fill", "wait", "driver call", "section", "actor", "mark",
}

func (k Kind) String() string { return kindNames[k] }

// Label is a name, and the position of the source that it belongs to, if there is one.
type Label struct {
	Name string
	File string
	Line int
}

// Labels of operations that have no names of their own.
var labels = [...]*Label{
	CopyIn: {Name: "copy to device"}, CopyOut: {Name: "copy to host"}, CopyWithin: {Name: "copy within device"},
	CopyPeer: {Name: "copy between devices"}, Fill: {Name: "fill"}, Wait: {Name: "wait"},
}

// LabelOf returns the label of operations of a kind that have no names.
func LabelOf(k Kind) *Label { return labels[k] }

// Track is a sequence of events: a stream, a goroutine, a thread, an actor.
type Track struct {
	Process string // a device, or "host"
	Thread  string

	section atomic.Pointer[OpenSection]
}

// TrackOf returns the track of a [quern.dev/gpu.Stream], or nil. Package gpu sets it.
var TrackOf = func(stream any) *Track { return nil }

// Event is something that happened. Its parts do not change.
type Event struct {
	Kind     Kind
	OnDevice bool // otherwise on the host
	Label    *Label
	Track    *Track
	Start    int64 // nanoseconds since Epoch
	Duration int64 // nanoseconds
	Bytes    int64
	Stack    Stack
	Op       uint64 // relates what the host did to what the device did
	Section  *Label // the innermost, or nil
	Grid     [3]int32
	Block    [3]int32
	Text     string // of a mark
	Waits    bool   // the host waited for the device
}

// Epoch is the time that events count from.
var Epoch = time.Now()

// Now returns the time since Epoch in nanoseconds.
func Now() int64 { return int64(time.Since(Epoch)) }

// Position returns a moment in nanoseconds since Epoch.
func Position(t time.Time) int64 { return int64(t.Sub(Epoch)) }
