package trace

import (
	"fmt"

	"quern.dev/internal/cupti"
)

// library opens CUPTI. Tests replace it.
var library = cupti.Open

// SetLibrary replaces CUPTI by a substitute, until restore is called.
func SetLibrary(open func() (cupti.Library, error)) (restore func()) {
	before := library
	library = open
	return func() { library = before }
}

// fromCUPTI begins the message of a recording with CUPTI.
const fromCUPTI = "times are from CUPTI"

// UseCUDA starts CUPTI when it is called for the first time. It reports whether CUPTI measures
// the work of NVIDIA GPUs; if not, the caller does.
func (r *Recorder) UseCUDA() bool {
	r.cuda.Do(func() {
		note := ""
		lib, err := library()
		if err == nil {
			var s *cupti.Session
			if s, err = cupti.Start(lib); err == nil {
				r.session.Store(s)
				note = fmt.Sprintf(fromCUPTI+" %d.%d", s.Version()/10000, s.Version()/100%100)
			}
		}
		if err != nil {
			note = "times are from events in the streams: " + err.Error()
		}
		r.note.Store(&note)
	})
	return r.session.Load() != nil && !r.sampler.active.Load()
}

// call relates a call of the driver to an operation.
type call struct {
	correlation uint32
	op          uint64
}

// describes reports whether records of kind c are the work of operations of kind k.
func describes(k Kind, c cupti.Kind) bool {
	switch c {
	case cupti.Kernel:
		return k == Launch
	case cupti.Copy:
		return k == CopyIn || k == CopyOut || k == CopyWithin || k == CopyPeer
	default:
		return k == Fill
	}
}

func kindOf(c *cupti.Record) Kind {
	switch c.Kind {
	case cupti.Kernel:
		return Launch
	case cupti.Fill:
		return Fill
	case cupti.Call:
		return Call
	}
	switch c.Direction {
	case cupti.In:
		return CopyIn
	case cupti.Out:
		return CopyOut
	case cupti.Between:
		return CopyPeer
	default:
		return CopyWithin
	}
}

// labelOf returns the label of a record that is not of a single operation. The caller holds
// r.mu and r.round.
func (r *Recorder) labelOf(c *cupti.Record) *Label {
	if c.Name == "" {
		return labels[kindOf(c)]
	}
	l := r.kernels[c.Name]
	if l == nil {
		l = &Label{Name: c.Name}
		r.kernels[c.Name] = l
	}
	return l
}

// clock returns what to add to CUPTI's time to get the time since Epoch.
func clock(s *cupti.Session) int64 {
	var offset int64
	best := int64(-1)
	for range 3 {
		before := Now()
		at := int64(s.Now())
		after := Now()
		if best < 0 || after-before < best {
			best, offset = after-before, before+(after-before)/2-at
		}
	}
	return offset
}

// read reads CUPTI's records. While CUPTI pauses, there are soon no more of them, and asking for
// them would hold up the driver; those of kernels that run on are read later. The caller holds
// r.round.
func (r *Recorder) read() {
	s := r.session.Load()
	if s == nil || r.sampler.active.Load() && Now()-r.sampler.paused.Load() > int64(calmTime) {
		return
	}
	offset := clock(s)
	late := r.late
	r.late = nil
	if err := s.Read(false, func(c *cupti.Record) { r.record(c, offset, true) }); err != nil {
		note := "CUPTI has failed: " + err.Error()
		r.note.Store(&note)
	}
	r.relate(late)
}

// relate passes on records that came before their marks, which have come by now, or never
// will. The caller holds r.round.
func (r *Recorder) relate(late []cupti.Record) {
	for i := range late {
		r.record(&late[i], 0, false)
	}
}

// record passes on a record of CUPTI. If retry is set, it is kept for the next round if its
// operation is not known yet.
func (r *Recorder) record(c *cupti.Record, offset int64, retry bool) {
	if c.Kind == cupti.External {
		r.calls[c.Correlation%marksRoom] = call{c.Correlation, c.External}
		r.makeRoom()
		return
	}
	if c.Start == 0 || c.End < c.Start { // it has not ended
		return
	}
	var op uint64
	if k := r.calls[c.Correlation%marksRoom]; k.correlation == c.Correlation {
		op = k.op
	}
	start, end := int64(c.Start)+offset, int64(c.End)+offset
	if op == 0 && retry && c.Kind != cupti.Call && len(r.late) < lateRoom {
		late := *c
		late.Start, late.End = uint64(start), uint64(end)
		r.late = append(r.late, late)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.Kind == cupti.Call {
		e := Event{Kind: Call, Label: r.labelOf(c), Track: r.thread(c.Thread), Start: start, Duration: end - start, Op: op}
		if b := &r.ops[op%opRoom]; op != 0 && b.id == op {
			e.Stack, e.Section = b.stack, b.section.name()
		}
		r.put(e)
		return
	}
	if r.device(op, start, end, c) {
		return
	}
	r.put(Event{Kind: kindOf(c), OnDevice: true, Weight: 1, Label: r.labelOf(c), Track: r.other(c), Start: start, Duration: end - start,
		Bytes: int64(c.Bytes), Grid: c.Grid, Block: c.Block})
}

// thread returns the track of a thread of the operating system.
func (r *Recorder) thread(number uint32) *Track {
	t := r.threads[number]
	if t == nil {
		t = &Track{Process: "host", Thread: fmt.Sprintf("driver calls of thread %d", number)}
		r.threads[number] = t
	}
	return t
}

// other returns the track of a stream that Quern did not make.
func (r *Recorder) other(c *cupti.Record) *Track {
	key := [2]uint32{c.Device, c.Stream}
	t := r.foreign[key]
	if t == nil {
		t = &Track{Process: fmt.Sprintf("cuda:%d", c.Device), Thread: fmt.Sprintf("other work, stream %d", c.Stream)}
		r.foreign[key] = t
	}
	return t
}
