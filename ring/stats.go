package ring

import (
	"maps"
	"slices"
	"sync"
	"time"

	"quern.dev/ring/internal/measure"
)

// Stats is what is known of a runtime at a time. Its counts are the sums of those
// of its actors, also of those that are gone; [Info] says what they mean.
type Stats struct {
	Actors map[State]int // number by state

	Accepted, Queued, Handled, Failed, Expired, Dropped uint64
	DeadLetters, Rejected, Refused, Restarts            uint64

	Rate float64 // messages a second

	// Launches counts those of resident loops. They end and begin anew when actors
	// come and go, and around what waits for an idle GPU: that are Pauses, by cause.
	Launches uint64
	Pauses   []Pause
}

// Pause is how often and how long resident actors made way for something.
type Pause struct {
	Cause    string // "free", "load module", ...
	Duration Durations

	// Its parts, one after another.
	Leaving   Durations // until the loops had said that they leave
	Ending    Durations // until their launches had ended, as far as the host knew
	Away      Durations // what they made way for
	Beginning Durations // until all launches were made anew
}

// Stats returns what is known of the runtime.
func (rt *Runtime) Stats() Stats {
	if !rt.made() {
		return Stats{Actors: map[State]int{}}
	}
	rt.recountInboxes()
	s := rt.departed.load()
	s.Actors = map[State]int{}
	for i := range rt.Actors() {
		s.add(i)
		s.Actors[i.State]++
		s.Rate += i.Rate
	}
	s.Launches, s.Pauses = rt.launches.Load(), rt.pauses.load()
	return s
}

// pausing is the times of a pause. left is zero if some loop did not leave.
type pausing struct{ asked, left, ended, back, begun time.Time }

// paused notes that resident actors have made way for something.
func (rt *Runtime) paused(cause string, p *pausing) {
	rt.pauses.add(cause, p)
	rt.traces.span(pauseTrack, cause, p.asked, 0)
}

// add adds what an actor has counted.
func (s *Stats) add(i Info) {
	s.Accepted += i.Accepted
	s.Queued += i.Queued
	s.Handled += i.Handled
	s.Failed += i.Failed
	s.Expired += i.Expired
	s.Dropped += i.Dropped
	s.DeadLetters += i.DeadLetters
	s.Rejected += i.Rejected
	s.Refused += i.Refused
	s.Restarts += i.Restarts
}

// less is what was counted between other and i.
func (i Info) less(other Info) Info {
	i.Accepted -= other.Accepted
	i.Queued -= other.Queued
	i.Handled -= other.Handled
	i.Failed -= other.Failed
	i.Expired -= other.Expired
	i.Dropped -= other.Dropped
	i.DeadLetters -= other.DeadLetters
	i.Rejected -= other.Rejected
	i.Refused -= other.Refused
	i.Restarts -= other.Restarts
	return i
}

// depart adds what an actor that ends has counted to the sums of those that are gone.
func (c *core) depart() {
	c.departure.Lock()
	c.departed = true
	c.departure.Unlock()
	if h, ok := c.server.(*hostActor); ok {
		h.depart()
	}
	c.recount()
}

// recount adds to the sums what an actor that is gone has counted since it was added.
func (c *core) recount() {
	c.departure.Lock()
	defer c.departure.Unlock()
	if c.departed {
		i := c.info()
		if h, ok := c.server.(*hostActor); ok && h.inbox.Load() != nil {
			i.Refused = 0 // see refusals
		}
		c.rt.departed.add(i.less(c.counted))
		c.counted = i
	}
}

// departed adds up what actors had counted that a runtime knows no more.
type departed struct {
	mu    sync.Mutex
	stats Stats
}

func (d *departed) add(i Info) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stats.add(i)
}

func (d *departed) load() Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stats
}

// pauses counts the pauses of resident actors, by their cause.
type pauses struct {
	mu sync.Mutex
	by map[string]*pause
}

func (p *pauses) add(cause string, at *pausing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by == nil {
		p.by = map[string]*pause{}
	}
	of := p.by[cause]
	if of == nil {
		of = &pause{cause: cause}
		p.by[cause] = of
	}
	if at.left.IsZero() {
		at.left = at.ended
	}
	of.whole.Time(at.asked, at.begun)
	of.leaving.Time(at.asked, at.left)
	of.ending.Time(at.left, at.ended)
	of.away.Time(at.ended, at.back)
	of.beginning.Time(at.back, at.begun)
}

// pause is the pauses of one cause.
type pause struct {
	cause                                   string
	whole, leaving, ending, away, beginning measure.Histogram
}

// all returns the pauses, by their cause.
func (p *pauses) all() []*pause {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []*pause
	for _, cause := range slices.Sorted(maps.Keys(p.by)) {
		list = append(list, p.by[cause])
	}
	return list
}

// load returns how often and how long they were.
func (p *pauses) load() []Pause {
	var list []Pause
	for _, v := range p.all() {
		list = append(list, Pause{v.cause, Durations(v.whole.Summary()), Durations(v.leaving.Summary()), Durations(v.ending.Summary()), Durations(v.away.Summary()), Durations(v.beginning.Summary())})
	}
	return list
}
