package report

import (
	"cmp"
	"slices"

	"quern.dev/internal/trace"
)

// Gap is a time in which a device had nothing to do.
type Gap struct {
	Process  string `json:"process"`
	Start    int64  `json:"start"` // since the begin of the recording
	Duration int64  `json:"duration"`
	Host     string `json:"host"`   // what the host did meanwhile
	After    string `json:"after"`  // the work before the gap
	Before   string `json:"before"` // the work after it
	Place    string `json:"place"`  // the line that asked for the work after it
}

const (
	mostGaps = 25
	leastGap = 5_000 // nanoseconds; a GPU pauses for about a microsecond between two kernels
)

// devices returns how busy devices were, and their longest gaps.
func (a *analysis) devices() ([]DeviceSummary, []Gap) {
	var host []*Event
	work := map[string][]*Event{}
	for i := range a.r.Events {
		switch e := &a.r.Events[i]; {
		case e.OnDevice && e.Kind <= trace.Fill:
			p := a.r.Tracks[e.Track].Process
			work[p] = append(work[p], e)
		case !e.OnDevice && e.Kind <= trace.Wait:
			host = append(host, e)
		}
	}
	var list []DeviceSummary
	var gaps []Gap
	for _, d := range a.r.Devices {
		s := DeviceSummary{Device: d}
		events := work[d.Process]
		var last *Event // the one that ends last
		var end int64
		for _, e := range events {
			if last == nil {
				end = e.Start
			} else if e.Start > end+leastGap && e.Weight == 1 { // otherwise there was work that was not measured
				gaps = append(gaps, a.gap(d.Process, last, e, end))
			}
			s.Busy += max(0, e.Start+e.Duration-max(end, e.Start)) + e.Duration*(e.Weight-1)
			if last == nil || e.Start+e.Duration > end {
				last, end = e, e.Start+e.Duration
			}
		}
		if last != nil {
			s.Span = end - events[0].Start
			s.Busy = min(s.Busy, s.Span)
		}
		list = append(list, s)
	}
	slices.SortFunc(gaps, func(x, y Gap) int { return cmp.Compare(y.Duration, x.Duration) })
	gaps = gaps[:min(len(gaps), mostGaps)]
	for i := range gaps {
		gaps[i].Host = a.hostDuring(host, gaps[i].Start+a.from, gaps[i].Duration)
	}
	return list, gaps
}

func (a *analysis) gap(process string, after, before *Event, from int64) Gap {
	return Gap{
		Process: process, Start: from - a.from, Duration: before.Start - from,
		After: a.r.Labels[after.Label].Name, Before: a.r.Labels[before.Label].Name, Place: a.placeList[a.places[before.Stack]].String(),
	}
}

// hostDuring says what the host did in a gap: what took most of it.
func (a *analysis) hostDuring(host []*Event, start, duration int64) string {
	end := start + duration
	at, _ := slices.BinarySearchFunc(host, end, func(e *Event, t int64) int { return cmp.Compare(e.Start, t) })
	var most int64
	what := ""
	for i := at - 1; i >= max(0, at-4096); i-- {
		e := host[i]
		if overlap := min(end, e.Start+e.Duration) - max(start, e.Start); overlap > most {
			most = overlap
			what = a.r.Labels[e.Label].Name
			if e.Kind <= trace.Graph {
				what = "launching " + what
			}
		}
	}
	if most*2 < duration {
		return "Go code"
	}
	return what
}
