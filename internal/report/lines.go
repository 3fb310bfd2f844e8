package report

import (
	"cmp"
	"slices"

	"quern.dev/internal/trace"
)

// Line is a line of the program, with the time that it cost.
type Line struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Text     string `json:"text"` // source
	CPU      int64  `json:"cpu"`  // nanoseconds, of what it calls too, up to other lines of the program
	GPU      int64  `json:"gpu"`  // nanoseconds of the device's work that it asked for
	Waiting  int64  `json:"waiting"`
	Launches int64  `json:"launches"`
	Copied   int64  `json:"copied"` // bytes

	path string // the function with the path of its package
}

const mostLines = 200

func (a *analysis) lines() []Line {
	sums := map[int32]*Line{}
	of := func(place int32) *Line {
		if sums[place] == nil {
			f := a.placeList[place]
			sums[place] = &Line{Function: shortFunction(f.Function), File: f.File, Line: f.Line, path: f.Function}
		}
		return sums[place]
	}
	add := func(stack int32, kind trace.Kind, onDevice, waits bool, n, duration, bytes int64) {
		place := a.places[stack]
		if place == 0 || kind > trace.Wait {
			return
		}
		l := of(place)
		switch {
		case onDevice && kind <= trace.Fill:
			l.GPU += duration
		case kind <= trace.Graph:
			l.Launches += n
		case kind <= trace.CopyPeer:
			l.Copied += bytes
		}
		if waits {
			l.Waiting += duration
		}
	}
	for i := range a.r.Events {
		e := &a.r.Events[i]
		add(e.Stack, e.Kind, e.OnDevice, e.Waits, e.Weight, e.Duration*e.Weight, e.Bytes*e.Weight)
	}
	for _, s := range a.r.Sums {
		add(s.Stack, s.Kind, s.OnDevice, s.Kind == trace.Wait, s.Count, s.Duration, s.Bytes)
	}
	for _, s := range a.CPU {
		if f, ok := a.place(s.Stack); ok {
			of(number(&a.placeList, a.placeIndex, f)).CPU += s.Nanoseconds
		}
	}
	var list []Line
	for _, l := range sums {
		list = append(list, *l)
	}
	slices.SortFunc(list, func(x, y Line) int {
		return cmp.Or(cmp.Compare(y.GPU+y.CPU, x.GPU+x.CPU), cmp.Compare(y.Waiting, x.Waiting), cmp.Compare(x.File, y.File), x.Line-y.Line)
	})
	list = list[:min(len(list), mostLines)]
	for i := range list {
		l := &list[i]
		pkg, _ := packageOf(l.path)
		l.Text = a.Sources.Line(a.Sources.Find(pkg, l.File), l.Line)
		l.File = base(l.File)
	}
	return list
}
