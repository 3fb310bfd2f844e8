package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"quern.dev/internal/trace"
)

// Timeline has the tracks of a recording, and what the numbers in their rows stand for.
type Timeline struct {
	Names  []string `json:"names"`
	Places []string `json:"places"`
	Tracks []Lane   `json:"tracks"`
	Merged int      `json:"merged"` // events that are part of others because they are short
}

// Lane is a track of the timeline.
type Lane struct {
	Process string `json:"process"`
	Thread  string `json:"thread"`
	Device  bool   `json:"device"`
	Depth   int    `json:"depth"` // levels of nesting
	// Rows have 10 numbers: start, duration, name, kind, level, place, bytes, operation, number
	// of events, and time in which they were active.
	Rows [][10]int64 `json:"rows"`
}

const (
	mostRows  = 60_000 // of all tracks together
	mostDepth = 5
)

func (a *analysis) timeline() Timeline {
	var t Timeline
	names := map[string]int32{}
	byTrack := map[int32][]*Event{}
	for i := range a.r.Events {
		e := &a.r.Events[i]
		if e.Kind < trace.Alloc {
			byTrack[e.Track] = append(byTrack[e.Track], e)
		}
	}
	var order []int32
	for id := range byTrack {
		order = append(order, id)
	}
	slices.SortFunc(order, func(x, y int32) int {
		p, q := a.r.Tracks[x], a.r.Tracks[y]
		return cmp.Or(cmp.Compare(rank(p), rank(q)), cmp.Compare(p.Process, q.Process), natural(p.Thread, q.Thread), cmp.Compare(x, y))
	})
	order = fewCallers(order, byTrack, func(id int32) bool { return rank(a.r.Tracks[id]) == callers })
	total, threads := 0, 0
	for _, id := range order {
		l := a.lane(id, byTrack[id], &t, names)
		if rank(a.r.Tracks[id]) == callers && l.Thread != "recorder" {
			threads++ // the system's numbers mean nothing
			l.Thread = "driver calls, thread " + strconv.Itoa(threads)
		}
		total += len(l.Rows)
		t.Tracks = append(t.Tracks, l)
	}
	for width := max(1, (a.to-a.from)/(1<<16)); total > mostRows && width <= a.to-a.from; width *= 2 {
		total, t.Merged = 0, 0
		for i := range t.Tracks {
			t.Tracks[i].Rows = merge(t.Tracks[i].Rows, width)
			total += len(t.Tracks[i].Rows)
			for _, row := range t.Tracks[i].Rows {
				if row[8] > 1 {
					t.Merged += int(row[8])
				}
			}
		}
	}
	for _, f := range a.placeList {
		t.Places = append(t.Places, f.String())
	}
	return t
}

// mostCallers is the number of threads whose calls of the driver are shown.
const mostCallers = 3

// fewCallers removes tracks of driver calls, except those with the most calls.
func fewCallers(order []int32, events map[int32][]*Event, isCaller func(int32) bool) []int32 {
	var list []int32
	for _, id := range order {
		if isCaller(id) {
			list = append(list, id)
		}
	}
	slices.SortStableFunc(list, func(x, y int32) int { return len(events[y]) - len(events[x]) })
	hidden := list[min(len(list), mostCallers):]
	return slices.DeleteFunc(order, func(id int32) bool { return slices.Contains(hidden, id) })
}

func (a *analysis) lane(id int32, events []*Event, t *Timeline, names map[string]int32) Lane {
	track := a.r.Tracks[id]
	l := Lane{Process: track.Process, Thread: track.Thread, Device: rank(track) == 0}
	var ends []int64 // of the events around the current one
	for _, e := range events {
		for len(ends) > 0 && ends[len(ends)-1] <= e.Start {
			ends = ends[:len(ends)-1]
		}
		level := min(len(ends), mostDepth-1)
		ends = append(ends, e.Start+e.Duration)
		l.Depth = max(l.Depth, level+1)
		name := a.r.Labels[e.Label].Name
		if !e.OnDevice && e.Kind <= trace.Graph {
			name = "launch " + name
		}
		l.Rows = append(l.Rows, [10]int64{e.Start - a.from, e.Duration, int64(number(&t.Names, names, name)), int64(e.Kind), int64(level),
			int64(a.places[e.Stack]), e.Bytes, int64(e.Op), 1, e.Duration})
	}
	return l
}

// merge joins neighbouring rows of one level that are shorter than width and within it.
func merge(rows [][10]int64, width int64) [][10]int64 {
	out := rows[:0]
	var open [mostDepth]int // by level: 1 + index of the row that takes more
	for _, row := range rows {
		level := row[4]
		if at := open[level]; at > 0 && row[1] < width {
			o := &out[at-1]
			if end := row[0] + row[1]; end-o[0] <= width {
				if row[9] > o[9]/max(o[8], 1) {
					o[2], o[3], o[5] = row[2], row[3], row[5]
				}
				o[1] = max(o[1], end-o[0])
				o[6] += row[6]
				o[7] = 0
				o[8] += row[8]
				o[9] += row[9]
				continue
			}
		}
		out = append(out, row)
		open[level] = 0
		if row[1] < width {
			open[level] = len(out)
		}
	}
	return out
}

// callers is the rank of tracks with calls of the driver.
const callers = 3

// rank orders tracks: devices, then actors, then goroutines, then the rest.
func rank(t Track) int {
	switch {
	case t.Process != "host":
		return 0
	case strings.HasPrefix(t.Thread, "goroutine "):
		return 2
	case strings.HasPrefix(t.Thread, "driver calls"), t.Thread == "recorder":
		return callers
	default:
		return 1
	}
}

// natural compares names so that numbers at their ends are ordered by value.
func natural(x, y string) int {
	split := func(s string) (string, int) {
		head := strings.TrimRight(s, "0123456789")
		n, _ := strconv.Atoi(s[len(head):]) // 0 without digits
		return head, n
	}
	a, n := split(x)
	b, m := split(y)
	return cmp.Or(cmp.Compare(a, b), cmp.Compare(n, m))
}

// String returns "main.load (load.go:12)".
func (f Frame) String() string {
	if f.Function == "" {
		return ""
	}
	return shortFunction(f.Function) + " (" + base(f.File) + ":" + strconv.Itoa(f.Line) + ")"
}

func base(file string) string { return file[strings.LastIndexAny(file, `/\`)+1:] }

// shortFunction returns the name of a function with its package, without the package's path and
// without type arguments.
func shortFunction(name string) string {
	name = strings.ReplaceAll(name, "[...]", "")
	return name[strings.LastIndex(name, "/")+1:]
}

func count(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
