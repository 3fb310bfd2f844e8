package profile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"time"

	"quern.dev/internal/report"
	"quern.dev/internal/trace"
)

// Config configures a recording. The zero value works.
type Config struct {
	// Events is the number of events that are kept for the trace; the latest are. Zero means
	// DefaultEvents. The profile contains all events.
	Events int

	// All records every operation of a GPU. Without it, a sample is recorded while there are
	// more than 3000 operations per second, which slows the program down less. It has an effect
	// until all recordings have ended.
	All bool
}

// Limits of the number of events of a recording. An event takes about 200 bytes.
const (
	DefaultEvents = 1 << 17
	MaxEvents     = 1 << 24
)

// Recording is a recording of what devices do. Several recordings may be active at once. It
// is safe for concurrent use.
type Recording struct {
	memory *trace.Memory
	stop   func() error
	begin  time.Time
}

// Start begins a recording of all devices of the program.
func Start(c Config) (*Recording, error) {
	if c.Events == 0 {
		c.Events = DefaultEvents
	}
	if c.Events < 1 || c.Events > MaxEvents {
		return nil, fmt.Errorf("profile: start: Config.Events is %d; want 1 to %d", c.Events, MaxEvents)
	}
	m := trace.NewMemory(c.Events)
	r := &Recording{memory: m, begin: time.Now(), stop: trace.Start(m)}
	if a := trace.Active(); c.All && a != nil {
		a.RecordAll()
	}
	return r, nil
}

var errNotStarted = errors.New("recording was not made by Start")

func (r *Recording) check(doing string) error {
	if r == nil || r.memory == nil {
		return fmt.Errorf("profile: %s: %w", doing, errNotStarted)
	}
	return nil
}

// Stop ends the recording. Work that the device has not finished is not recorded, so wait for
// it before. Stopping again does nothing.
func (r *Recording) Stop() error {
	if err := r.check("stop"); err != nil {
		return err
	}
	if err := r.stop(); err != nil {
		return fmt.Errorf("profile: stop: %w", err)
	}
	return nil
}

// WriteTrace writes the latest events as JSON for Perfetto and Chrome. The recording may be
// active.
func (r *Recording) WriteTrace(w io.Writer) error {
	if err := r.check("write trace"); err != nil {
		return err
	}
	if w == nil {
		return errors.New("profile: write trace: the writer is nil")
	}
	trace.Flush()
	if err := r.memory.WriteTrace(w); err != nil {
		return fmt.Errorf("profile: write trace: %w", err)
	}
	return nil
}

// WriteReport writes the page that quern profile writes, about the latest events: one HTML file
// without references to others. It has no times of the CPU and no sources of kernels. The
// recording may be active.
func (r *Recording) WriteReport(w io.Writer) error {
	if err := r.check("write report"); err != nil {
		return err
	}
	if w == nil {
		return errors.New("profile: write report: the writer is nil")
	}
	trace.Flush()
	var b bytes.Buffer
	err := r.memory.WriteRecord(&b)
	if err == nil {
		var in report.Input
		if in.Recording, err = report.Read(&b); err == nil {
			in.Sources, in.Created = report.NewSources(in.Recording), time.Now()
			err = report.Analyze(in).WriteHTML(w)
		}
	}
	if err != nil {
		return fmt.Errorf("profile: write report: %w", err)
	}
	return nil
}

// WriteProfile writes a profile for go tool pprof. The recording may be active.
func (r *Recording) WriteProfile(w io.Writer) error {
	if err := r.check("write profile"); err != nil {
		return err
	}
	if w == nil {
		return errors.New("profile: write profile: the writer is nil")
	}
	trace.Flush()
	if err := r.memory.WriteProfile(w); err != nil {
		return fmt.Errorf("profile: write profile: %w", err)
	}
	return nil
}

// Lost returns the number of events that the trace does not have: those that gave way to
// later ones, and those for which there was no room.
func (r *Recording) Lost() uint64 {
	if r.check("") != nil {
		return 0
	}
	return r.memory.Lost()
}

// Source says what measures the work of NVIDIA GPUs, such as "times are from CUPTI 13.0", and
// why it is not CUPTI. It is empty if there was no such work.
func (r *Recording) Source() string {
	if r.check("") != nil {
		return ""
	}
	trace.Flush()
	return r.memory.Note()
}

// Kind is the kind of an event.
type Kind string

// Kinds of events.
const (
	Kernel       Kind = "kernel"      // launch of a kernel
	Graph        Kind = "graph"       // run of a graph
	CopyIn       Kind = "copy in"     // from the host to a device
	CopyOut      Kind = "copy out"    // from a device to the host
	Copy         Kind = "copy"        // within a device
	CopyPeer     Kind = "peer copy"   // between devices
	Fill         Kind = "fill"        // of memory
	Wait         Kind = "wait"        // of the host for a device
	DriverCall   Kind = "driver call" // recorded by CUPTI
	NamedSection Kind = "section"     // see [Section]
	Actor        Kind = "actor"       // of package ring
	Moment       Kind = "mark"        // without duration
	Allocation   Kind = "alloc"       // of device memory; Op is its number
	Release      Kind = "free"        // of device memory; Op is the number of the allocation
)

// Event is something that a device or the host did.
type Event struct {
	Kind     Kind
	Name     string // of the kernel, section or call
	OnDevice bool   // otherwise on the host
	Process  string // "cuda:0", "cpu", "host"
	Track    string // the stream, goroutine, thread or actor
	Start    time.Time
	Duration time.Duration
	Bytes    int64  // copied or filled
	Op       uint64 // equal for what the host asked for and what the device did; 0 if unknown
	Section  string // the innermost section, or ""
	Weight   int    // operations that it stands for: 1, or more if a sample was measured

	stack trace.Stack
}

// Stack returns the call stack that led to the event, innermost function first. It is empty
// if it is unknown.
func (e Event) Stack() []runtime.Frame { return e.stack.Frames() }

// Events returns the latest events, in no particular order.
func (r *Recording) Events() iter.Seq[Event] {
	return func(yield func(Event) bool) {
		if r.check("") != nil {
			return
		}
		trace.Flush()
		for _, e := range r.memory.All() {
			public := Event{
				Kind: Kind(e.Kind.String()), Name: e.Label.Name, OnDevice: e.OnDevice, Process: e.Track.Process, Track: e.Track.Thread,
				Start: trace.Epoch.Add(time.Duration(e.Start)), Duration: time.Duration(e.Duration), Bytes: e.Bytes, Op: e.Op, Weight: int(max(1, e.Weight)), stack: e.Stack,
			}
			if e.Section != nil {
				public.Section = e.Section.Name
			}
			if !yield(public) {
				return
			}
		}
	}
}
