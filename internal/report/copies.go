package report

import (
	"cmp"
	"slices"

	"quern.dev/internal/trace"
)

// Copies are the copies of one kind that a line of the program made.
type Copies struct {
	Kind   string `json:"kind"`
	Place  string `json:"place"`
	Count  int64  `json:"count"`
	Bytes  int64  `json:"bytes"`
	Device int64  `json:"device"` // time on the device
	Host   int64  `json:"host"`   // time of the callers
	Advice string `json:"advice"`
}

// Trip is data that was copied although it was there.
type Trip struct {
	Kind  string `json:"kind"` // "round trip" or "repeated upload"
	From  string `json:"from"` // the line of the first copy
	To    string `json:"to"`   // the line of the copy that was not needed
	Count int64  `json:"count"`
	Bytes int64  `json:"bytes"` // of the needless copies
	Time  int64  `json:"time"`  // that they took on the device
}

const (
	roundTrip      = "round trip"
	repeatedUpload = "repeated upload"

	smallCopy  = 64 << 10
	manyCopies = 50
	leastTrip  = 1 << 10 // bytes; smaller copies are parameters
)

type copyKey struct {
	kind  trace.Kind
	place int32
}

func (a *analysis) copies() ([]Copies, []Trip) {
	sums := map[copyKey]*Copies{}
	of := func(kind trace.Kind, stack int32) *Copies {
		k := copyKey{kind, a.places[stack]}
		if sums[k] == nil {
			sums[k] = &Copies{Kind: kind.String(), Place: a.placeList[k.place].String()}
		}
		return sums[k]
	}
	device := map[uint64]int64{} // time by operation
	for i := range a.r.Events {
		e := &a.r.Events[i]
		if e.Kind < trace.CopyIn || e.Kind > trace.Fill {
			continue
		}
		c := of(e.Kind, e.Stack)
		if e.OnDevice {
			c.Device += e.Duration * e.Weight
			device[e.Op] += e.Duration
			continue
		}
		c.Count += e.Weight
		c.Bytes += e.Bytes * e.Weight
		c.Host += e.Duration * e.Weight
	}
	for _, s := range a.r.Sums {
		if s.Kind < trace.CopyIn || s.Kind > trace.Fill {
			continue
		}
		c := of(s.Kind, s.Stack)
		if s.OnDevice {
			c.Device += s.Duration
			continue
		}
		c.Count += s.Count
		c.Bytes += s.Bytes
		c.Host += s.Duration
	}
	var list []Copies
	for k, c := range sums {
		if k.kind != trace.Fill && c.Count >= manyCopies && c.Bytes/c.Count < smallCopy {
			c.Advice = "Many small copies: gather the data and copy it at once."
		}
		list = append(list, *c)
	}
	slices.SortFunc(list, func(x, y Copies) int {
		return cmp.Or(cmp.Compare(max(y.Device, y.Host), max(x.Device, x.Host)), cmp.Compare(x.Place, y.Place), cmp.Compare(x.Kind, y.Kind))
	})
	return list, a.trips(device)
}

// trips finds copies to a device of data that has just come from there, or that was copied
// before. Host memory and a sample of the data tell: if the sample is the same, the program has
// not changed the data.
func (a *analysis) trips(device map[uint64]int64) []Trip {
	type memory struct {
		address uint64
		bytes   int64
	}
	type held struct {
		data  uint64
		place int32
		out   bool // it came from the device
	}
	last := map[memory]held{}
	type key struct {
		kind     string
		from, to int32
	}
	sums := map[key]*Trip{}
	for i := range a.r.Events {
		e := &a.r.Events[i]
		if e.OnDevice || e.Host == 0 || e.Bytes < leastTrip || e.Kind != trace.CopyIn && e.Kind != trace.CopyOut {
			continue
		}
		m, place := memory{e.Host, e.Bytes}, a.places[e.Stack]
		if before, known := last[m]; known && e.Kind == trace.CopyIn && before.data == e.Data {
			k := key{repeatedUpload, before.place, place}
			if before.out {
				k.kind = roundTrip
			}
			t := sums[k]
			if t == nil {
				t = &Trip{Kind: k.kind, From: a.placeList[k.from].String(), To: a.placeList[k.to].String()}
				sums[k] = t
			}
			t.Count++
			t.Bytes += e.Bytes
			t.Time += device[e.Op]
		}
		last[m] = held{e.Data, place, e.Kind == trace.CopyOut}
	}
	var list []Trip
	for _, t := range sums {
		list = append(list, *t)
	}
	slices.SortFunc(list, func(x, y Trip) int {
		return cmp.Or(cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(x.To, y.To), cmp.Compare(x.From, y.From))
	})
	return list
}
