package ring

import (
	"maps"
	"slices"
	"sync"
	"time"
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
	Away     Durations // of it, from when all had left until they began again: what they made way for
}

// Stats returns what is known of the runtime.
func (rt *Runtime) Stats() Stats {
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

// paused notes that resident actors have made way for something since began, and for
// how long they were away.
func (rt *Runtime) paused(cause string, began time.Time, away time.Duration) {
	rt.pauses.add(cause, time.Since(began), away)
	rt.traces.span(pauseTrack, cause, began, 0)
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
	c.recount()
}

// recount adds to the sums what an actor that is gone has counted since it was added.
func (c *core) recount() {
	c.departure.Lock()
	defer c.departure.Unlock()
	if c.departed {
		i := c.info()
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

func (p *pauses) add(cause string, took, away time.Duration) {
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
	of.histogram.add(uint32(min(took, 1<<32-1)))
	of.away.add(uint32(min(away, 1<<32-1)))
}

// pause is the pauses of one cause.
type pause struct {
	cause           string
	histogram, away histogram
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
		list = append(list, Pause{v.cause, v.histogram.durations(), v.away.durations()})
	}
	return list
}
