package report

import (
	"cmp"
	"fmt"
	"slices"

	"quern.dev/internal/driver"
	"quern.dev/internal/ptxvm"
	"quern.dev/internal/trace"
)

// Kernel is what a kernel cost, and what limits it.
type Kernel struct {
	Name   string `json:"name"`
	Source string `json:"source"` // "filters/saxpy.go:14"
	Graph  bool   `json:"graph"`  // it is a graph, measured as a whole
	Calls  int64  `json:"calls"`
	Total  int64  `json:"total"`
	Min    int64  `json:"min"`
	Median int64  `json:"median"`
	Max    int64  `json:"max"`

	Grid      [3]int32 `json:"grid"` // of most launches
	Block     [3]int32 `json:"block"`
	Registers int32    `json:"registers"`
	Shared    int32    `json:"shared"`

	Occupancy float64 `json:"occupancy"` // theoretical, 0 to 1; 0 if unknown
	Limit     string  `json:"limit"`     // what limits it
	Waves     float64 `json:"waves"`     // how often the grid fills the device; 0 if unknown

	// Bytes and Operations are of a launch: counted on the simulator, or, if Counted is not set,
	// Bytes are those of the slices that were passed, which is the least that the kernel moves
	// if it uses all of them.
	Bytes      float64  `json:"bytes"`
	Operations float64  `json:"operations"`
	Counted    bool     `json:"counted"`
	Note       string   `json:"note"`      // why it was not counted, if other kernels were
	Bandwidth  float64  `json:"bandwidth"` // bytes per second
	Flops      float64  `json:"flops"`     // operations per second
	Places     []string `json:"places"`    // lines that launched it
	Advice     []string `json:"advice"`

	process string
	listing *ptxvm.KernelCount
}

const mostKernels = 100

// measured gathers the launches of a kernel.
type measured struct {
	Kernel
	times  []int64
	shapes map[int32]int
	places map[int32]int
	read   float64
}

func (a *analysis) kernels() []Kernel {
	type key struct {
		label   int32
		process string
	}
	byLabel := map[key]*measured{}
	of := func(label, track int32, graph bool) *measured {
		k := key{label, a.r.Tracks[track].Process}
		m := byLabel[k]
		if m == nil {
			l := a.r.Labels[label]
			m = &measured{Kernel: Kernel{Name: l.Name, Graph: graph, process: k.process}, shapes: map[int32]int{}, places: map[int32]int{}}
			if l.File != "" {
				m.Source = fmt.Sprintf("%s:%d", l.File, l.Line)
				m.listing = a.countsOf(l.kernel())
			}
			byLabel[k] = m
		}
		return m
	}
	for i := range a.r.Events {
		e := &a.r.Events[i]
		if !e.OnDevice || e.Kind > trace.Graph {
			continue
		}
		m := of(e.Label, e.Track, e.Kind == trace.Graph)
		m.Calls += e.Weight
		m.Total += e.Duration * e.Weight
		m.times = append(m.times, e.Duration)
		shape := a.shapes[e.Op]
		if shape == 0 {
			shape = e.Shape
		}
		if shape > 0 {
			m.shapes[shape]++
			s := &a.r.Shapes[shape]
			m.read += float64(s.Read + s.Write)
		}
		m.places[a.places[e.Stack]]++
	}
	for _, s := range a.r.Sums {
		if s.OnDevice && s.Kind <= trace.Graph {
			m := of(s.Label, s.Track, s.Kind == trace.Graph)
			m.Calls += s.Count
			m.Total += s.Duration
		}
	}
	var list []Kernel
	for _, m := range byLabel {
		list = append(list, a.finish(m))
	}
	slices.SortFunc(list, func(x, y Kernel) int { return cmp.Or(cmp.Compare(y.Total, x.Total), cmp.Compare(x.Name, y.Name)) })
	return list[:min(len(list), mostKernels)]
}

// countsOf returns what was counted of a kernel, or nil.
func (a *analysis) countsOf(name string) *ptxvm.KernelCount {
	for i := range a.Counts {
		if a.Counts[i].Name == name {
			return &a.Counts[i]
		}
	}
	return nil
}

func (a *analysis) finish(m *measured) Kernel {
	k := m.Kernel
	if n := len(m.times); n > 0 {
		slices.Sort(m.times)
		k.Min, k.Median, k.Max = m.times[0], m.times[n/2], m.times[n-1]
		k.Bytes = m.read / float64(n)
	}
	if shape := mostOften(m.shapes); shape > 0 {
		s := &a.r.Shapes[shape]
		k.Grid, k.Block, k.Registers, k.Shared = s.Grid, s.Block, s.Registers, s.Shared
	}
	if k.Note = a.uncounted(&k); k.Note == "" && k.listing != nil {
		c, sum := k.listing, Total(k.listing)
		k.Counted = true
		k.Bytes = float64(sum.Sectors) * 32 / float64(c.Launches)
		k.Operations = float64(sum.Operations) / float64(c.Launches)
	}
	if k.Calls > 0 && k.Total > 0 {
		seconds := float64(k.Total) / float64(k.Calls) / 1e9
		k.Bandwidth, k.Flops = k.Bytes/seconds, k.Operations/seconds
	}
	delete(m.places, 0)
	for len(m.places) > 0 && len(k.Places) < 5 {
		p := mostOften(m.places)
		k.Places = append(k.Places, a.placeList[p].String())
		delete(m.places, p)
	}
	i := a.device(k.process)
	resident := 0
	if i != nil && k.Block[0] > 0 {
		threads := int(k.Block[0] * k.Block[1] * k.Block[2])
		resident, k.Limit = i.ResidentBlocks(int(k.Registers), threads, int(k.Shared))
		k.Occupancy = float64(resident*threads) / float64(i.Limits.ThreadsPerMultiprocessor)
		if all := resident * i.Limits.Multiprocessors; all > 0 {
			k.Waves = float64(k.Grid[0]) * float64(k.Grid[1]) * float64(k.Grid[2]) / float64(all)
		}
	}
	k.Advice = a.advise(&k, i)
	return k
}

// work is what the launches of a kernel had to do.
type work struct {
	launches, bytes, threads float64 // bytes of the slices that were passed
}

// works returns the work of each kernel, by Label.kernel.
func (r *Recording) works() map[string]work {
	list := map[string]work{}
	if r == nil {
		return list
	}
	for i := range r.Events {
		e := &r.Events[i]
		if e.Kind != trace.Launch || e.Shape == 0 || e.OnDevice {
			continue
		}
		s, name := &r.Shapes[e.Shape], r.Labels[e.Label].kernel()
		w := list[name]
		w.launches++
		w.bytes += float64(s.Read + s.Write)
		w.threads += float64(s.Grid[0]) * float64(s.Grid[1]) * float64(s.Grid[2]) * float64(s.Block[0]) * float64(s.Block[1]) * float64(s.Block[2])
		list[name] = w
	}
	return list
}

// alike is the ratio of the work of two launches up to which the counts of one are taken for the
// other's.
const alike = 1.25

// uncounted returns why the counts of the simulator say nothing about a kernel, or "". Many
// programs take a smaller problem there, and libraries have kernels of their own for CPUs.
func (a *analysis) uncounted(k *Kernel) string {
	switch {
	case len(a.Counts) == 0 || k.Graph:
		return ""
	case k.Source == "":
		return "Not counted: the simulator runs kernels of Quern only."
	case k.listing == nil || k.listing.Launches == 0:
		return "Not counted: the program did not launch this kernel on the simulator. Libraries have kernels for CPUs that GPUs and the simulator do not run; what ran instead is among the lines of kernels below."
	}
	here, there := a.works[k.listing.Name], a.simulated[k.listing.Name]
	if here.launches == 0 || there.launches == 0 {
		return ""
	}
	x, y, of := here.bytes/here.launches, there.bytes/there.launches, func(n float64) string { return byteText(int64(n)) + " of slices" }
	if x == 0 || y == 0 {
		x, y, of = here.threads/here.launches, there.threads/there.launches, func(n float64) string { return plural(int64(n), "thread", "threads") }
	}
	if x > alike*y || y > alike*x {
		return fmt.Sprintf("Counted at another size, so the counts are not used here: %s per launch on the simulator, %s on this device. Give the program the same input on both.", of(y), of(x))
	}
	return ""
}

// mostOften returns the key with the largest number; of equal ones, the smallest key.
func mostOften(m map[int32]int) int32 {
	best := int32(0)
	for k, n := range m {
		if n > m[best] || n == m[best] && k < best {
			best = k
		}
	}
	return best
}

// device returns the limits of an NVIDIA GPU, or nil.
func (a *analysis) device(process string) *driver.Info {
	for _, d := range a.r.Devices {
		if d.Process != process || d.Architecture == "" {
			continue
		}
		for _, i := range driver.Architectures() {
			if fmt.Sprintf("sm_%d%d", i.Major, i.Minor) == d.Architecture {
				i.Limits.Multiprocessors = d.Multiprocessors
				return &i
			}
		}
	}
	return nil
}

// advise says what would make a kernel faster.
func (a *analysis) advise(k *Kernel, i *driver.Info) []string {
	var list []string
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	mean := int64(0)
	if k.Calls > 0 {
		mean = k.Total / k.Calls
	}
	if i != nil {
		threads := k.Block[0] * k.Block[1] * k.Block[2]
		switch {
		case threads%32 != 0:
			say("A block of %d threads leaves lanes of its last warp idle. Use a multiple of 32.", threads)
		case k.Occupancy > 0 && k.Occupancy < 0.4:
			say("Few threads are resident (%.0f %%), limited by %s. Use less of it, or another block size, if the kernel waits for memory.", 100*k.Occupancy, k.Limit)
		}
		switch {
		case k.Waves > 0 && k.Waves < 0.5:
			say("The grid fills only %.0f %% of the GPU. Give each launch more work, or launch on several streams.", 100*k.Waves)
		case k.Waves > 1 && k.Waves < 4 && k.Waves-float64(int(k.Waves)) > 0 && k.Waves-float64(int(k.Waves)) < 0.3:
			say("The last of %.1f waves of blocks is nearly empty. Another block size, or a loop over a smaller grid, avoids it.", k.Waves)
		}
		if mean > 0 && mean < 10_000 && k.Calls >= 1000 {
			say("Launches of %.1f us are hardly longer than the pause between them. Put them in a graph, or do the work of several in one.", float64(mean)/1e3)
		}
	}
	if m := a.Machine; m != nil && m.CopyBandwidth > 0 && k.Bandwidth > 0 {
		switch share := k.Bandwidth / m.CopyBandwidth; {
		case share > 0.75:
			say("It moves data at %.0f %% of the speed of a copy. Only moving fewer bytes makes it faster: fuse it with its neighbours, or use smaller types.", 100*share)
		case k.Counted && share < 0.25 && m.Flops32 > 0 && k.Flops < 0.25*m.Flops32 && mean > 20_000:
			say("It reaches %.0f %% of the bandwidth and %.0f %% of the operations that the GPU can do: it waits, for memory or for other threads. More independent loads per thread or more resident threads hide the latency.", 100*share, 100*k.Flops/m.Flops32)
		}
	}
	return append(list, lineAdvice(k.listing)...)
}
