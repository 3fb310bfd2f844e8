package report

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"quern.dev/internal/ptxvm"
	"quern.dev/internal/trace"
)

// Input is what a report is made of.
type Input struct {
	Recording *Recording
	CPU       []CPUSample         // may be empty
	CPUNote   string              // why there is no profile of the CPU
	Machine   *Machine            // the measured limits of the device, or nil
	Counts    []ptxvm.KernelCount // what kernels did, by line, or nil
	Simulated *Recording          // of the run that was counted, or nil
	CountNote string              // why Counts are not complete, or ""
	Sources   Sources             // where files are; see NewSources
	Exit      string              // how the program ended, "" if it succeeded
	Created   time.Time
}

// CPUSample is time of the CPU with a call stack, innermost function first.
type CPUSample struct {
	Stack       []Frame
	Nanoseconds int64
}

// Machine has the measured limits of a device; see profile.Machine.
type Machine struct {
	CopyBandwidth float64 `json:"copyBandwidth"` // bytes per second
	Flops32       float64 `json:"flops32"`       // per second
}

// Report is what was found out. Times are nanoseconds.
type Report struct {
	Title    string   `json:"title"`
	Command  string   `json:"command"`
	Created  string   `json:"created"`
	Exit     string   `json:"exit"`
	Notes    []string `json:"notes"`
	Duration int64    `json:"duration"`
	Go       string   `json:"go"`

	Findings []Finding       `json:"findings"`
	Devices  []DeviceSummary `json:"devices"`
	Totals   Totals          `json:"totals"`
	Timeline Timeline        `json:"timeline"`
	Kernels  []Kernel        `json:"kernels"`
	Lines    []Line          `json:"lines"`
	Copies   []Copies        `json:"copies"`
	Trips    []Trip          `json:"trips"`
	Gaps     []Gap           `json:"gaps"`
	Memory   []Memory        `json:"memory"`
	Machine  *Machine        `json:"machine"`
	Listings []Listing       `json:"listings"`
}

// DeviceSummary is how busy a device was.
type DeviceSummary struct {
	trace.Device
	Busy int64 `json:"busy"` // at least one stream worked
	Span int64 `json:"span"` // from the first to the last work
}

// Totals are sums over the whole recording.
type Totals struct {
	Kernels  int64 `json:"kernels"`  // time
	Launches int64 `json:"launches"` // number
	Copies   int64 `json:"copies"`   // time on the device
	Copied   int64 `json:"copied"`   // bytes
	Waiting  int64 `json:"waiting"`  // time of goroutines
	CPU      int64 `json:"cpu"`
}

// analysis is the state of Analyze.
type analysis struct {
	Input
	r          *Recording
	from, to   int64
	places     []int32 // by stack: index in placeList, 0 is unknown
	placeList  []Frame
	placeIndex map[Frame]int32
	shapes     map[uint64]int32 // by operation

	works, simulated map[string]work // of the recording, and of the run that was counted
}

// Analyze makes a report.
func Analyze(in Input) *Report {
	a := &analysis{Input: in, r: in.Recording, placeList: make([]Frame, 1), placeIndex: map[Frame]int32{}, shapes: map[uint64]int32{}}
	slices.SortStableFunc(a.r.Events, func(x, y Event) int {
		return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(y.Duration, x.Duration))
	})
	a.prepare()
	a.works, a.simulated = a.r.works(), in.Simulated.works()
	rep := &Report{
		Title: a.title(), Command: strings.Join(a.r.Args, " "), Created: in.Created.Format("2 January 2006, 15:04:05"), Exit: in.Exit,
		Duration: a.to - a.from, Go: a.r.Go, Machine: in.Machine,
	}
	rep.Devices, rep.Gaps = a.devices()
	rep.Totals = a.totals()
	rep.Timeline = a.timeline()
	rep.Kernels = a.kernels()
	rep.Lines = a.lines()
	rep.Copies, rep.Trips = a.copies()
	rep.Memory = a.memory()
	rep.Listings = Listings(in.Counts, in.Sources)
	rep.Findings = rep.findings()
	rep.Notes = a.notes(rep)
	return rep
}

// prepare finds the extent of the recording and the places of stacks.
func (a *analysis) prepare() {
	if len(a.r.Events) > 0 {
		a.from = a.r.Events[0].Start
		a.to = a.from
	}
	for i := range a.r.Events {
		e := &a.r.Events[i]
		a.to = max(a.to, e.Start+e.Duration)
		if e.Shape > 0 && e.Op > 0 && !e.OnDevice {
			a.shapes[e.Op] = e.Shape
		}
	}
	a.places = make([]int32, len(a.r.Stacks))
	for i, s := range a.r.Stacks {
		if f, ok := a.place(s); ok {
			a.places[i] = number(&a.placeList, a.placeIndex, f)
		}
	}
}

// place returns the innermost frame of a stack that belongs to the program: to its module, but
// not to generated code. In a program without such a frame it is the innermost one that is
// neither Quern's machinery nor the runtime's.
func (a *analysis) place(stack []Frame) (Frame, bool) {
	for _, f := range stack {
		if a.program(f) {
			return f, true
		}
	}
	for _, f := range stack {
		if !generated(f.File) && !machinery(f.Function) {
			return f, true
		}
	}
	return Frame{}, false
}

func (a *analysis) program(f Frame) bool {
	if generated(f.File) {
		return false
	}
	if strings.HasPrefix(f.Function, "main.") {
		return true
	}
	if a.r.Module == "quern.dev" { // its own examples and tests
		return strings.HasPrefix(f.Function, "quern.dev/examples/") || strings.HasSuffix(f.File, "_test.go")
	}
	return a.r.Module != "" && (strings.HasPrefix(f.Function, a.r.Module+".") || strings.HasPrefix(f.Function, a.r.Module+"/"))
}

// generated reports whether a file was written by quern gen.
func generated(file string) bool { return strings.HasSuffix(file, "quern_gen.go") }

// machinery reports whether a function belongs to package gpu, to Quern's internal packages, or
// to the runtime.
func machinery(function string) bool {
	for _, prefix := range []string{"quern.dev/gpu.", "quern.dev/gpu/", "quern.dev/internal/", "runtime.", "runtime/", "internal/", "sync.", "sync/", "syscall."} {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return false
}

func (a *analysis) title() string {
	name := a.r.Program
	if len(a.r.Args) > 0 {
		name = a.r.Args[0]
	}
	return name[strings.LastIndexAny(name, `/\`)+1:]
}

func (a *analysis) totals() Totals {
	var t Totals
	add := func(kind trace.Kind, onDevice, waits bool, count, duration, bytes int64) {
		switch {
		case onDevice && kind <= trace.Graph:
			t.Kernels += duration
		case onDevice && kind <= trace.Fill:
			t.Copies += duration
		case !onDevice && kind <= trace.Graph:
			t.Launches += count
		case !onDevice && kind <= trace.CopyPeer:
			t.Copied += bytes
		}
		if waits {
			t.Waiting += duration
		}
	}
	for i := range a.r.Events {
		e := &a.r.Events[i]
		add(e.Kind, e.OnDevice, e.Waits, e.Weight, e.Duration*e.Weight, e.Bytes*e.Weight)
	}
	for _, s := range a.r.Sums {
		add(s.Kind, s.OnDevice, s.Kind == trace.Wait, s.Count, s.Duration, s.Bytes)
	}
	for _, s := range a.CPU {
		t.CPU += s.Nanoseconds
	}
	return t
}

func (a *analysis) notes(rep *Report) []string {
	var list []string
	if a.r.Note != "" {
		list = append(list, a.r.Note)
	}
	if a.r.Removed > 0 {
		list = append(list, count(a.r.Removed)+" earlier events were removed to bound the size of the recording; totals include them, the timeline does not")
	}
	if a.r.Lost > 0 {
		list = append(list, count(a.r.Lost)+" events were lost because there was no room; nothing includes them")
	}
	if a.r.Cut {
		list = append(list, "the recording ends within an event: the program was killed; the last 0.1 seconds may be missing")
	}
	if a.CPUNote != "" {
		list = append(list, a.CPUNote)
	}
	if a.CountNote != "" {
		list = append(list, a.CountNote)
	}
	if rep.Timeline.Merged > 0 {
		list = append(list, count(uint64(rep.Timeline.Merged))+" short events of the timeline are drawn together with their neighbours")
	}
	return list
}
