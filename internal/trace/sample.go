package trace

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// Recording an operation of a GPU takes longer than launching it: with CUPTI 4 us of the host,
// with two events 5 us of the host and the device. So a recorder that would slow the program
// down records a sample of the operations. A recorded one stands for those of its kernel that
// were not recorded before it; Event.Weight says how many.
const (
	// mostSampled is the number of operations that are recorded per second while samples are
	// taken. Where the program waits for each operation, the times of the host and the device
	// add up: there, 1000 take 2 percent of the time. Profilers of processors take 100.
	mostSampled = 300

	// With more operations per second than mostFull, CUPTI pauses, and samples are taken until
	// there have been fewer than leastSampled for calmTime.
	mostFull     = 3000
	leastSampled = 1500
	calmTime     = time.Second

	// mostAtOnce is the number of operations after which the recorder looks at their rate early,
	// and shortestLook the time that it needs to know it.
	mostAtOnce   = mostFull / 10
	shortestLook = 2 * time.Millisecond
)

// sampler decides what is recorded.
type sampler struct {
	all    atomic.Bool  // everything is recorded, whatever it costs
	active atomic.Bool  // samples are taken, and CUPTI pauses
	every  atomic.Int64 // one of so many operations is recorded
	count  atomic.Int64 // operations since the last look
	paused atomic.Int64 // when CUPTI began to pause

	// Of the goroutine of the recorder.
	looked int64 // when
	busy   int64 // when there were many operations last
}

// countdown tells which operations of a kernel are recorded.
type countdown struct {
	left  atomic.Int64 // operations until the next that is recorded
	drawn atomic.Int64 // its value after the last one
	late  atomic.Int64 // operations that came between these two
}

// take takes an operation. If it is recorded, it stands for weight operations; otherwise weight
// is 0. On average it records one of every operations. The distance varies, so that kernels
// that take turns are all recorded.
func (c *countdown) take(every int64) (weight int32) {
	switch left := c.left.Add(-1); {
	case left >= 0:
		return 0
	case left < -1: // another goroutine is about to draw
		c.late.Add(1)
		return 0
	}
	weight = int32(c.drawn.Load() + 1 + c.late.Swap(0))
	next := int64(0)
	if every > 1 {
		next = rand.Int64N(2*every - 1)
	}
	c.drawn.Store(next)
	c.left.Store(next)
	return weight
}

// Take reports whether an operation of an NVIDIA GPU is recorded, and how many operations it
// then stands for. Package gpu calls it before Begin, for each of them.
func (r *Recorder) Take(label *Label) (weight int32) {
	s := &r.sampler
	n := s.count.Add(1)
	if s.active.Load() {
		return label.countdown.take(s.every.Load())
	}
	if n == mostAtOnce {
		r.hurry()
	}
	return 1
}

// adapt begins to take samples if there are too many operations, and ends it if there are few.
// Only the goroutine of the recorder calls it.
func (r *Recorder) adapt() {
	s := &r.sampler
	now := Now()
	since := time.Duration(now - s.looked)
	if since < shortestLook || s.all.Load() {
		return // too short for a rate
	}
	rate := float64(s.count.Swap(0)) / since.Seconds()
	s.looked = now
	if rate > leastSampled {
		s.busy = now
	}
	session := r.session.Load()
	switch {
	case rate > mostFull && !s.active.Load():
		if session != nil && session.Pause() != nil && session.Resume() == nil {
			return // all is recorded, slowly
		}
		s.paused.Store(now)
		s.every.Store(int64(rate/mostSampled) + 1)
		s.active.Store(true)
		note := fmt.Sprintf("%.0f operations per second are too many to record them all without slowing the program down, so a sample is recorded, and totals are estimates; set %s=1 to record all", rate, AllVariable)
		if old := r.note.Load(); old != nil && *old != "" {
			note = *old + "; " + note
		}
		r.note.Store(&note)
	case s.active.Load() && now-s.busy > int64(calmTime):
		if session == nil || session.Resume() == nil {
			s.active.Store(false)
		}
	case s.active.Load() && since > interval/2:
		s.every.Store(max(1, int64(rate/mostSampled)))
	}
}

// RecordAll makes the recorder record every operation, whatever it costs.
func (r *Recorder) RecordAll() { r.sampler.all.Store(true) }
