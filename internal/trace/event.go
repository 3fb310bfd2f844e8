package trace

import (
	"slices"
	"sync"
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
	Alloc   // of device memory
	Free    // of device memory
)

var kindNames = [...]string{
	"kernel", "graph", "copy in", "copy out", "copy", "peer copy", "fill", "wait", "driver call", "section", "actor", "mark",
	"alloc", "free",
}

func (k Kind) String() string { return kindNames[k] }

// Label is a name, and the position of the source that it belongs to, if there is one.
type Label struct {
	Name string
	File string
	Line int

	countdown countdown
}

// Labels of operations that have no names of their own.
var labels = [...]*Label{
	CopyIn: {Name: "copy to device"}, CopyOut: {Name: "copy to host"}, CopyWithin: {Name: "copy within device"},
	CopyPeer: {Name: "copy between devices"}, Fill: {Name: "fill"}, Wait: {Name: "wait"},
}

// PoolMemory is the name of memory that a pool has from the driver. A pool keeps it for later.
const PoolMemory = "memory of a pool"

// LabelOf returns the label of operations of a kind that have no names.
func LabelOf(k Kind) *Label { return labels[k] }

// Track is a sequence of events: a stream, a goroutine, a thread, an actor.
type Track struct {
	Process string // a device, or "host"
	Thread  string

	open atomic.Pointer[[]*OpenSection] // in the order in which they began; the slice does not change
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
	Op       uint64       // relates what the host did to what the device did
	Section  *Label       // the innermost, or nil
	In       *OpenSection // the innermost, or nil; of a section, itself
	Grid     [3]int32
	Block    [3]int32
	Text     string // of a mark
	Waits    bool   // the host waited for the device
	Shape    *Shape // of a launch, on the host
	Host     uint64 // address of the host's memory of a copy, 0 if unknown
	Data     uint64 // a sample of the data of a copy, 0 if unknown; see Inspector
	Weight   int32  // number of operations that this one stands for; see Recorder.Take
}

// Shape is what a launch of a kernel uses. It does not change.
type Shape struct {
	Grid, Block [3]int32
	Registers   int32 // per thread
	Shared      int32 // bytes per block
	Read, Write int64 // bytes of the slices that the kernel may only read, and of the others
}

// Inspector is a sink that wants Event.Host and Event.Data.
type Inspector interface{ Inspects() }

// Device describes a device whose work is recorded.
type Device struct {
	Process         string `json:"process"` // "cuda:0"
	Name            string `json:"name"`
	Backend         string `json:"backend"`
	Architecture    string `json:"architecture"` // "sm_90", or ""
	Multiprocessors int    `json:"multiprocessors"`
	Memory          int64  `json:"memory"` // bytes
}

var devices struct {
	mu   sync.Mutex
	list []Device
}

// AddDevice makes a device known to recordings. Package gpu calls it for each that it opens.
func AddDevice(d Device) {
	devices.mu.Lock()
	defer devices.mu.Unlock()
	for i := range devices.list {
		if devices.list[i].Process == d.Process {
			devices.list[i] = d
			return
		}
	}
	devices.list = append(devices.list, d)
}

// Devices returns the devices that were opened so far.
func Devices() []Device {
	devices.mu.Lock()
	defer devices.mu.Unlock()
	return slices.Clone(devices.list)
}

// Epoch is the time that events count from.
var Epoch = time.Now()

// Now returns the time since Epoch in nanoseconds.
func Now() int64 { return int64(time.Since(Epoch)) }

// Position returns a moment in nanoseconds since Epoch.
func Position(t time.Time) int64 { return int64(t.Sub(Epoch)) }
