package gpu

import (
	"runtime"
	"strconv"
	"strings"
	"sync"

	"quern.dev/internal/trace"
)

// operation is an operation on a stream that is being recorded. A nil operation is not: its
// methods do nothing.
type operation struct {
	trace.Op
	stream *Stream
	clock  clock
	begin  int64      // if clock is hostClock
	events *timedWork // if clock is eventClock
}

// clock is what measures the device's work.
type clock uint8

const (
	noClock    clock = iota // the device does nothing
	hostClock               // the device works in the caller
	eventClock              // events in the stream
	cuptiClock
)

var operations = sync.Pool{New: func() any { return new(operation) }}

// trace begins an operation, if operations are recorded. Without a recording it is one load.
func (s *Stream) trace(kind trace.Kind, bytes int64) *operation {
	if trace.Active() == nil {
		return nil
	}
	return s.begin(kind, trace.LabelOf(kind), bytes)
}

// hostCopyKind returns the kind of copies from or to the host.
func hostCopyKind(in bool) trace.Kind {
	if in {
		return trace.CopyIn
	}
	return trace.CopyOut
}

// traceLaunch begins a launch of k, or of the graph that k stands for.
func (s *Stream) traceLaunch(kind trace.Kind, k *Kernel) *operation {
	if trace.Active() == nil {
		return nil
	}
	return s.beginLaunch(kind, k)
}

//go:noinline
func (s *Stream) beginLaunch(kind trace.Kind, k *Kernel) *operation {
	return s.begin(kind, k.traceLabel(), 0)
}

// traceWait begins a wait. Devices that work in the caller have no work to wait for.
func (s *Stream) traceWait() *operation {
	if !s.dev.async {
		return nil
	}
	return s.trace(trace.Wait, 0)
}

//go:noinline
func (s *Stream) begin(kind trace.Kind, label *trace.Label, bytes int64) *operation {
	r := trace.Active()
	if r == nil { // the recording has just ended
		return nil
	}
	o := operations.Get().(*operation)
	o.stream, o.clock, o.events = s, noClock, nil
	switch {
	case kind == trace.Wait:
	case !s.dev.async:
		o.clock = hostClock
	case r.UseCUDA():
		o.clock = cuptiClock
	default:
		o.clock = eventClock
	}
	o.Op = r.Begin(kind, label, &s.track, bytes)
	if kind == trace.Wait {
		o.Waits()
	}
	switch o.clock {
	case hostClock:
		o.begin = trace.Now()
	case eventClock:
		o.events = s.dev.timerFor(r).begin(o)
	case cuptiClock:
		o.mark()
	}
	return o
}

// waits says that the caller waits for the device's earlier work in the operation.
func (o *operation) waits() {
	if o != nil && o.stream.dev.async {
		o.Waits()
	}
}

// mark makes CUPTI relate what this goroutine asks of the driver to the operation, until
// unmark.
func (o *operation) mark() {
	if o != nil && o.clock == cuptiClock {
		runtime.LockOSThread()
		o.Mark()
	}
}

func (o *operation) unmark() {
	if o != nil && o.clock == cuptiClock {
		o.Unmark()
		runtime.UnlockOSThread()
	}
}

// end ends the operation, and returns err, with which it ended.
func (o *operation) end(err error) error {
	if o != nil {
		o.finish(err)
	}
	return err
}

//go:noinline
func (o *operation) finish(err error) {
	switch o.clock {
	case hostClock:
		if err == nil {
			o.OnDevice(o.begin, trace.Now())
		}
	case eventClock:
		o.events.ended(o, err != nil)
	case cuptiClock:
		o.unmark()
	}
	o.End(err != nil)
	o.Op, o.stream, o.events = trace.Op{}, nil, nil
	operations.Put(o)
}

// traceLabel returns the name and the position of the kernel.
func (k *Kernel) traceLabel() *trace.Label {
	if l := k.label.Load(); l != nil {
		return l
	}
	l := &trace.Label{Name: k.Name()}
	if file, line, ok := strings.Cut(k.info.Pos, ":"); ok {
		l.Line, _ = strconv.Atoi(line) // generated positions have a line
		l.File = file
		if k.info.Package != "" {
			l.File = k.info.Package + "/" + file
		}
	}
	k.label.CompareAndSwap(nil, l)
	return k.label.Load()
}

func init() {
	trace.TrackOf = func(stream any) *trace.Track {
		if s, ok := stream.(*Stream); ok && s != nil && s.dev != nil {
			return &s.track
		}
		return nil
	}
}

// endTrace passes on what was recorded, when the device is closed. Its work is done.
func (d *Device) endTrace() {
	if t := d.timer.Load(); t != nil {
		t.close()
	}
	trace.Flush()
}
