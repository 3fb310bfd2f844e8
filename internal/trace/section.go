package trace

import (
	"context"
	"slices"
	"sync/atomic"
)

// OpenSection is a section of a program in progress.
type OpenSection struct {
	recorder *Recorder
	label    *Label
	ctx      context.Context
	host     *Track // of the goroutine
	parent   *OpenSection
	track    *Track
	op       Op
	pending  atomic.Int64 // operations whose device work was not seen
	ended    atomic.Bool

	first, last int64 // guarded by recorder.mu
	worked      bool
}

// Context returns the context that the section was begun with, or nil.
func (s *OpenSection) Context() context.Context { return s.ctx }

// Parent returns the section around s, or nil.
func (s *OpenSection) Parent() *OpenSection { return s.parent }

// Name returns the name of the section.
func (s *OpenSection) Name() string { return s.label.Name }

// Begin returns when the section began, in nanoseconds since Epoch.
func (s *OpenSection) Begin() int64 { return s.op.start }

// name returns the label of the section; s may be nil.
func (s *OpenSection) name() *Label {
	if s == nil {
		return nil
	}
	return s.label
}

// await counts operations whose device work was not seen, for the section and those around
// it; s may be nil.
func (s *OpenSection) await(operations int64) {
	for ; s != nil; s = s.parent {
		s.pending.Add(operations)
	}
}

// include extends the section by the time of device work.
func (s *OpenSection) include(start, end int64) {
	if !s.worked {
		s.first, s.last, s.worked = start, end, true
		return
	}
	s.first, s.last = min(s.first, start), max(s.last, end)
}

// BeginSection begins a section: later operations of the stream belong to it, unless their
// goroutine has a section of its own.
func (r *Recorder) BeginSection(ctx context.Context, track *Track, label *Label) *OpenSection {
	s := &OpenSection{recorder: r, label: label, ctx: ctx, track: track}
	s.op = r.begin(Section, label, track, 0, here())
	s.op.own = s
	s.host = s.op.host
	if own, mine := track.current(s.host); mine {
		s.parent = own
	}
	s.op.section = s.parent
	track.change(func(open []*OpenSection) []*OpenSection {
		if len(open) >= mostNested {
			open = open[1:] // it was never ended
		}
		return append(slices.Clone(open), s)
	})
	return s
}

// current returns the section that work of a goroutine belongs to, or nil: its own innermost one
// or, if it has none, the one that another goroutine began last.
func (t *Track) current(host *Track) (s *OpenSection, own bool) {
	open := t.open.Load()
	if open == nil || len(*open) == 0 {
		return nil, false
	}
	for _, s := range slices.Backward(*open) {
		if s.host == host {
			return s, true
		}
	}
	return (*open)[len(*open)-1], false
}

// change replaces the list of open sections.
func (t *Track) change(f func([]*OpenSection) []*OpenSection) {
	for {
		old := t.open.Load()
		var list []*OpenSection
		if old != nil {
			list = *old
		}
		if list = f(list); t.open.CompareAndSwap(old, &list) {
			return
		}
	}
}

// End ends the section. Ending it again does nothing.
func (s *OpenSection) End() {
	if s.ended.Swap(true) {
		return
	}
	s.track.change(func(open []*OpenSection) []*OpenSection {
		if at := slices.Index(open, s); at >= 0 {
			return slices.Delete(slices.Clone(open), at, at+1)
		}
		return open
	})
	s.op.End(false)
	r := s.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case s.pending.Load() == 0:
		r.settleOne(s)
	case len(r.sections) < mostOpen:
		r.sections = append(r.sections, s)
		if len(r.sections)%(mostOpen/4) == 0 {
			r.hurry()
		}
	default:
		r.lost++
	}
}

// settleOne records the device's part of a section. The caller holds r.mu.
func (r *Recorder) settleOne(s *OpenSection) {
	if s.worked {
		r.put(Event{Kind: Section, OnDevice: true, Label: s.label, Track: s.track, Start: s.first, Duration: s.last - s.first,
			Stack: s.op.stack, Op: s.op.id, Section: s.parent.name(), In: s, Weight: 1})
	}
}

// settle records the device's part of sections whose work was seen. The caller holds r.mu.
func (r *Recorder) settle(final bool) {
	r.sections = slices.DeleteFunc(r.sections, func(s *OpenSection) bool {
		if s.pending.Load() > 0 && !final {
			return false
		}
		r.settleOne(s)
		return true
	})
}
