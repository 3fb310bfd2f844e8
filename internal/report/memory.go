package report

import (
	"cmp"
	"slices"

	"quern.dev/internal/trace"
)

// Memory is the memory of a device over time.
type Memory struct {
	Process string       `json:"process"`
	Peak    int64        `json:"peak"` // bytes
	PeakAt  int64        `json:"peakAt"`
	Points  [][2]int64   `json:"points"` // time and bytes in use from then on
	Places  []Allocation `json:"places"`
}

// Allocation is the memory that a line of the program allocated.
type Allocation struct {
	Place  string `json:"place"`
	Pool   bool   `json:"pool"` // memory that a pool keeps
	Count  int64  `json:"count"`
	Bytes  int64  `json:"bytes"`  // all together
	AtPeak int64  `json:"atPeak"` // in use at the peak
	Left   int64  `json:"left"`   // bytes that were not freed
	Leaks  int64  `json:"leaks"`  // allocations that were not freed
}

const mostPoints = 2000

func (a *analysis) memory() []Memory {
	byProcess := map[string][]*Event{}
	for i := range a.r.Events {
		if e := &a.r.Events[i]; e.Kind == trace.Alloc || e.Kind == trace.Free {
			p := a.r.Tracks[e.Track].Process
			byProcess[p] = append(byProcess[p], e)
		}
	}
	var list []Memory
	for _, d := range a.r.Devices {
		if events := byProcess[d.Process]; len(events) > 0 {
			list = append(list, a.memoryOf(d.Process, events))
		}
	}
	return list
}

type allocationKey struct {
	place int32
	pool  bool
}

func (a *analysis) memoryOf(process string, events []*Event) Memory {
	m := Memory{Process: process}
	sums := map[allocationKey]*Allocation{}
	live := map[uint64]*Event{}
	// walk calls f after each change, with the bytes in use.
	walk := func(f func(e *Event, used int64)) {
		clear(live)
		used := int64(0)
		for _, e := range events {
			if e.Kind == trace.Alloc {
				live[e.Op] = e
				used += e.Bytes
			} else if from := live[e.Op]; from != nil {
				used -= from.Bytes
				delete(live, e.Op)
			} else {
				continue // it was allocated before the recording
			}
			f(e, used)
		}
	}
	of := func(e *Event) *Allocation {
		k := allocationKey{a.places[e.Stack], a.r.Labels[e.Label].Name == trace.PoolMemory}
		if sums[k] == nil {
			sums[k] = &Allocation{Place: a.placeList[k.place].String(), Pool: k.pool}
		}
		return sums[k]
	}
	peak := -1
	n := 0
	walk(func(e *Event, used int64) {
		if used > m.Peak {
			m.Peak, m.PeakAt, peak = used, e.Start-a.from, n
		}
		n++
		m.Points = append(m.Points, [2]int64{e.Start - a.from, used})
		if e.Kind == trace.Alloc {
			s := of(e)
			s.Count++
			s.Bytes += e.Bytes
		}
	})
	for _, e := range live {
		s := of(e)
		s.Left += e.Bytes
		s.Leaks++
	}
	n = 0
	walk(func(*Event, int64) {
		if n == peak {
			for _, e := range live {
				of(e).AtPeak += e.Bytes
			}
		}
		n++
	})
	m.Points = thin(m.Points)
	for _, s := range sums {
		m.Places = append(m.Places, *s)
	}
	slices.SortFunc(m.Places, func(x, y Allocation) int {
		return cmp.Or(cmp.Compare(y.AtPeak, x.AtPeak), cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(x.Place, y.Place))
	})
	return m
}

// thin keeps the largest value of each interval, and the last one.
func thin(points [][2]int64) [][2]int64 {
	if len(points) <= mostPoints {
		return points
	}
	var out [][2]int64
	step := (len(points) + mostPoints - 1) / mostPoints
	for i := 0; i < len(points); i += step {
		out = append(out, slices.MaxFunc(points[i:min(i+step, len(points))], func(x, y [2]int64) int { return cmp.Compare(x[1], y[1]) }))
	}
	return append(out, points[len(points)-1])
}
