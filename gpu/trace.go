package gpu

import (
	"fmt"
	"hash/maphash"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"unsafe"

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

// trace counts an operation, and begins to record it if operations are recorded.
func (s *Stream) trace(kind trace.Kind, bytes int64) *operation {
	s.asked.transfers.Add(1)
	s.asked.bytes.Add(uint64(bytes))
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

// traceLaunch begins to record a launch of k, or of the graph that k stands for, if
// operations are recorded. The compiler inlines it: launches cost one load more.
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
	if trace.Active() == nil {
		return nil
	}
	return s.begin(trace.Wait, trace.LabelOf(trace.Wait), 0)
}

//go:noinline
func (s *Stream) begin(kind trace.Kind, label *trace.Label, bytes int64) *operation {
	r := trace.Active()
	if r == nil { // the recording has just ended
		return nil
	}
	weight := int32(1)
	if s.dev.async {
		if weight = r.Take(label); weight == 0 {
			return nil
		}
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
	o.StandsFor(weight)
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
	unseen := err != nil
	switch o.clock {
	case hostClock:
		end := trace.Now()
		o.End(unseen)
		if err == nil {
			o.OnDevice(o.begin, end)
		}
	case eventClock:
		measured := o.events.ended(o, unseen)
		o.End(!measured)
		if measured {
			o.events.await()
		}
	case cuptiClock:
		o.unmark()
		o.End(unseen)
	default:
		o.End(unseen)
	}
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

// traceShape returns what the launch uses, on the variant v.
func (l *Launch) traceShape(v *variant) *trace.Shape {
	f := l.frame
	grid := f.Blocks()
	s := trace.Shape{
		Grid:      [3]int32{int32(grid.X), int32(grid.Y), int32(grid.Z)},
		Block:     [3]int32{int32(f.Block.X), int32(f.Block.Y), int32(f.Block.Z)},
		Registers: int32(v.props.Registers), Shared: int32(v.props.Shared + f.Shared),
	}
	for i := range l.params {
		switch p := &l.params[i]; {
		case !p.slice:
		case p.readOnly:
			s.Read += p.value * int64(p.size)
		default:
			s.Write += p.value * int64(p.size)
		}
	}
	if l.shape == nil || *l.shape != s {
		l.shape = new(trace.Shape)
		*l.shape = s
	}
	return l.shape
}

// inspect tells a recording that wants to know it which memory of the host a copy reads or
// has written.
func (o *operation) inspect(p unsafe.Pointer, n int64) {
	if o != nil && o.Inspects() {
		o.HostMemory(uint64(uintptr(p)), sample(unsafe.Slice((*byte)(p), n)))
	}
}

// sampled is the number of bytes of a copy that are part of its sample.
const sampled = 1 << 14

// sample returns a hash of parts of the data, which is not 0. Equal data have equal samples;
// different data nearly always have different ones if they differ in many places.
func sample(data []byte) uint64 {
	const part = 64
	step := max(part, len(data)/(sampled/part)&^(part-1))
	h := maphash.Hash{}
	h.SetSeed(sampleSeed)
	for at := 0; at < len(data); at += step {
		h.Write(data[at:min(at+part, len(data))])
	}
	h.Write(data[max(0, len(data)-part):])
	return h.Sum64() | 1
}

var (
	sampleSeed  = maphash.MakeSeed()
	memoryLabel = &trace.Label{Name: "memory"}
	poolLabel   = &trace.Label{Name: trace.PoolMemory}
)

// traceAlloc records an allocation of the device.
func (d *Device) traceAlloc(r *trace.Recorder, label *trace.Label, size int64) uint64 {
	if size == 0 {
		return 0
	}
	return r.Allocated(&d.memoryTrack, label, size)
}

// traceFree records the end of an allocation that was recorded.
func (d *Device) traceFree(number uint64, label *trace.Label) {
	if r := trace.Active(); r != nil && number != 0 {
		r.Freed(&d.memoryTrack, label, number)
	}
}

// describe makes the device known to recordings.
func (d *Device) describe() {
	i := d.info()
	t := trace.Device{
		Process: d.id, Name: i.Name, Backend: string(d.backend), Multiprocessors: i.Limits.Multiprocessors, Memory: i.TotalMemory,
	}
	if i.Major > 0 {
		t.Architecture = fmt.Sprintf("sm_%d%d", i.Major, i.Minor)
	}
	trace.AddDevice(t)
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
