package top

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"quern.dev/monitor"
)

// The smallest terminal that a View can be drawn on.
const (
	MinColumns = 80
	MinRows    = 24
)

// View is what is shown.
type View struct {
	Look     Look
	Interval time.Duration

	snapshot *monitor.Snapshot
	selected int // index of a GPU
	gpuOrder int // in gpuOrders
	order    int // in processOrders
	filter   string
	editing  bool // the filter
	paused   bool
	help     bool
	quit     bool
	suspend  bool
}

// Update shows a snapshot, unless the view is paused.
func (v *View) Update(s *monitor.Snapshot) {
	if v.paused && v.snapshot != nil {
		return
	}
	v.snapshot = s
	v.selected = min(v.selected, max(len(s.GPUs)-1, 0))
}

// screen is a frame under construction.
type screen struct {
	look          Look
	columns, rows int
	lines         []string
}

func (s *screen) line(put func(l *line)) {
	l := line{look: s.look, room: s.columns}
	if put != nil {
		put(&l)
	}
	s.lines = append(s.lines, l.b.String())
}

func (s *screen) text(st style, format string, args ...any) {
	s.line(func(l *line) { l.putf(st, format, args...) })
}

// left returns the number of lines that are left, above the last one.
func (s *screen) left() int { return s.rows - 1 - len(s.lines) }

// Frame returns the lines of a screen. All are drawn, so there are as many as rows.
func (v *View) Frame(columns, rows int) []string {
	s := &screen{look: v.Look, columns: columns, rows: rows}
	switch {
	case columns < MinColumns || rows < MinRows:
		s.text(bold, "The terminal is %dx%d.", columns, rows)
		s.text(plain, "quern top needs %dx%d.", MinColumns, MinRows)
		s.text(plain, "Enlarge it, or press q.")
		return slices.Concat(s.lines, make([]string, max(rows, 3)-3))[:max(rows, 1)]
	case v.snapshot == nil:
		s.text(bold, "quern top")
		s.text(plain, "Reading the state of the GPUs ...")
	case v.help:
		v.drawHeader(s)
		v.drawHelp(s)
	case len(v.snapshot.GPUs) == 0:
		v.drawHeader(s)
		v.drawCPU(s)
	default:
		v.drawHeader(s)
		v.drawGPUs(s)
		v.drawHistory(s)
		v.drawProcesses(s)
	}
	for s.left() > 0 {
		s.line(nil)
	}
	s.lines = s.lines[:rows-1]
	v.drawFooter(s)
	return s.lines
}

func (v *View) drawHeader(s *screen) {
	n := v.snapshot
	s.line(func(l *line) {
		l.put(bold, "quern top")
		if n.Host != "" {
			l.put(plain, "  "+n.Host)
		}
		if n.DriverVersion != "" {
			l.put(dim, "  driver "+n.DriverVersion)
		}
		if n.CUDAVersion != "" {
			l.put(dim, "  CUDA "+n.CUDAVersion)
		}
		state := n.Time.Format(time.TimeOnly) + "  every " + v.Interval.String()
		if v.paused {
			state = "PAUSED at " + n.Time.Format(time.TimeOnly)
		}
		if gap := l.room - len(state); gap >= 2 {
			l.put(plain, strings.Repeat(" ", gap))
			l.put(plain, state)
		}
	})
	s.line(func(l *line) {
		if len(n.GPUs) > 0 {
			var busy, used, total, power, limit float64
			for i := range n.GPUs {
				g := &n.GPUs[i]
				busy += g.UtilizationPercent.Or(0)
				used, total = used+float(g.MemoryUsedBytes).Or(0), total+float(g.MemoryTotalBytes).Or(0)
				power, limit = power+g.PowerWatts.Or(0), limit+g.PowerLimitWatts.Or(0)
			}
			l.putf(plain, "%s: %.0f%% busy, %s/%s GiB, %.0f/%.0f W", plural(len(n.GPUs), "GPU", "GPUs"), busy/float64(len(n.GPUs)), inGiB(used), inGiB(total), power, limit)
			l.put(dim, "   ")
		}
		l.putf(dim, "CPU: %s of %d cores, %s GiB", show(n.CPU.LoadPercent, percent), len(n.CPU.Cores),
			pair(float(n.CPU.MemoryUsedBytes()), float(n.CPU.MemoryTotalBytes), inGiB))
	})
}

// column is a column of the table of GPUs.
type column struct {
	title string
	width int
	right bool
	cell  func(g *monitor.GPU) (style, string)
}

func text(of func(g *monitor.GPU) string) func(g *monitor.GPU) (style, string) {
	return func(g *monitor.GPU) (style, string) { return plain, of(g) }
}

// columns has those that always fit, and then those that fit on wider terminals.
var columns = []column{
	{"GPU", 3, true, text(func(g *monitor.GPU) string { return strconv.Itoa(g.Index) })},
	{"NAME", 12, false, text(func(g *monitor.GPU) string { return strings.TrimPrefix(g.Name, "NVIDIA ") })},
	{"BUSY", 4, true, func(g *monitor.GPU) (style, string) {
		return load(g.UtilizationPercent), show(g.UtilizationPercent, percent)
	}},
	{"MEMORY GiB", 11, true, func(g *monitor.GPU) (style, string) {
		f, _ := fraction(float(g.MemoryUsedBytes), float(g.MemoryTotalBytes))
		return level(f, 0.9, 0.98), pair(float(g.MemoryUsedBytes), float(g.MemoryTotalBytes), inGiB)
	}},
	{"POWER W", 7, true, func(g *monitor.GPU) (style, string) {
		f, _ := fraction(g.PowerWatts, g.PowerLimitWatts)
		return level(f, 0.95, 1.02), pair(g.PowerWatts, g.PowerLimitWatts, whole)
	}},
	{"TEMP", 4, true, func(g *monitor.GPU) (style, string) {
		return level(g.TemperatureCelsius.Or(0), 80, 88), show(g.TemperatureCelsius, celsius)
	}},
	{"MHz", 4, true, text(func(g *monitor.GPU) string { return show(g.SMClockMHz, whole) })},
	{"PCIe GB/s", 9, true, text(func(g *monitor.GPU) string {
		return pair(g.PCIeReceiveBytesPerSecond, g.PCIeTransmitBytesPerSecond, inGB)
	})},
	{"NVLink GB/s", 11, true, text(func(g *monitor.GPU) string {
		return pair(g.NVLinkReceiveBytesPerSecond, g.NVLinkTransmitBytesPerSecond, inGB)
	})},
	{"MEM BUSY", 8, true, text(func(g *monitor.GPU) string { return show(g.MemoryBusyPercent, percent) })},
	{"MEM TEMP", 8, true, func(g *monitor.GPU) (style, string) {
		return level(g.MemoryTemperatureCelsius.Or(0), 90, 100), show(g.MemoryTemperatureCelsius, celsius)
	}},
	{"MEM MHz", 7, true, text(func(g *monitor.GPU) string { return show(g.MemoryClockMHz, whole) })},
	{"ENC", 4, true, text(func(g *monitor.GPU) string { return show(g.EncoderPercent, percent) })},
	{"DEC", 4, true, text(func(g *monitor.GPU) string { return show(g.DecoderPercent, percent) })},
	{"FAN", 4, true, text(func(g *monitor.GPU) string { return show(g.FanPercent, percent) })},
	{"LINK", 8, true, text(func(g *monitor.GPU) string {
		if g.PCIeGeneration.IsZero() {
			return "-"
		}
		return fmt.Sprintf("gen%v x%v", g.PCIeGeneration, g.PCIeLanes)
	})},
	{"ECC", 5, true, func(g *monitor.GPU) (style, string) {
		return level(float(g.ECCUncorrected).Or(0), 1, 1), g.ECCUncorrected.String()
	}},
	{"XID", 4, true, func(g *monitor.GPU) (style, string) {
		return level(float(g.LastXID).Or(0), 1, 1), g.LastXID.String()
	}},
	{"LIMITED BY", 18, false, text(func(g *monitor.GPU) string { return strings.Join(g.ClockLimits, ", ") })},
}

// alwaysShown is how many columns fit on the narrowest terminal. The bar takes what is left.
const alwaysShown, barColumn, smallestBar = 9, 2, 4

// level returns the color of a value.
func level(v, high, tooHigh float64) style {
	switch {
	case v >= tooHigh:
		return red
	case v >= high:
		return yellow
	}
	return plain
}

func load(o monitor.Optional[float64]) style {
	switch v := o.Or(0); {
	case o.IsZero():
		return dim
	case v >= 90:
		return green
	case v >= 10:
		return cyan
	}
	return plain
}

// visible returns the columns that fit, and the width of the bar.
func visible(width int) (list []column, bar int) {
	left := width - smallestBar - 1
	for i, c := range columns {
		if left < c.width+1 && i >= alwaysShown {
			break
		}
		left -= c.width + 1
		list = append(list, c)
	}
	return list, smallestBar + min(max(left, 0), 40)
}

// gpuOrders are the orders of the table of GPUs.
var gpuOrders = []struct {
	name string
	key  func(g *monitor.GPU) float64 // descending
}{
	{"index", func(g *monitor.GPU) float64 { return -float64(g.Index) }},
	{"busy", func(g *monitor.GPU) float64 { return g.UtilizationPercent.Or(-1) }},
	{"memory", func(g *monitor.GPU) float64 { return float(g.MemoryUsedBytes).Or(-1) }},
	{"power", func(g *monitor.GPU) float64 { return g.PowerWatts.Or(-1) }},
	{"temperature", func(g *monitor.GPU) float64 { return g.TemperatureCelsius.Or(-1) }},
}

// sorted returns the indices of the GPUs in the chosen order.
func (v *View) sorted() []int {
	list := make([]int, len(v.snapshot.GPUs))
	for i := range list {
		list[i] = i
	}
	key := gpuOrders[v.gpuOrder].key
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(key(&v.snapshot.GPUs[b]), key(&v.snapshot.GPUs[a])) })
	return list
}

func (v *View) drawGPUs(s *screen) {
	shown, bar := visible(s.columns)
	s.line(func(l *line) {
		for i, c := range shown {
			if i > 0 {
				l.put(dim, " ")
			}
			l.put(dim, fit(c.title, c.width, c.right))
			if i == barColumn {
				l.put(dim, " "+fit("", bar, false))
			}
		}
	})
	list := v.sorted()
	// Ten lines are for the history and the processes.
	room := max(s.left()-10, 3)
	first := 0
	if len(list) > room {
		first = min(max(slices.Index(list, v.selected)-room/2, 0), len(list)-room)
		list = list[first : first+room]
	}
	for _, index := range list {
		g := &v.snapshot.GPUs[index]
		s.line(func(l *line) {
			name := plain
			if index == v.selected && len(v.snapshot.GPUs) > 1 {
				name = reverse
			}
			for i, c := range shown {
				st, cell := c.cell(g)
				if i > 0 {
					l.put(plain, " ")
				}
				if i < barColumn {
					st = name
				}
				if i == barColumn && g.Problem != "" {
					l.put(red, g.Problem)
					return
				}
				l.put(st, fit(cell, c.width, c.right))
				if i == barColumn {
					l.put(plain, " ")
					l.put(load(g.UtilizationPercent), v.Look.bar(g.UtilizationPercent.Or(0)/100, bar))
				}
			}
		})
	}
}

// curve is a chart in the history.
type curve struct {
	name   string
	series func(n int) monitor.Series
	now    string
	format func(float64) string
	most   float64 // at the top of the chart; 0 means the largest value
}

func (v *View) gpuCurves() []curve {
	g, h := &v.snapshot.GPUs[v.selected], v.snapshot.History
	of := func(name string, m monitor.Metric, now monitor.Optional[float64], format func(float64) string, most float64) curve {
		return curve{name, func(n int) monitor.Series { return h.LastGPU(g.Index, m, n) }, show(now, format), format, most}
	}
	list := []curve{
		of("busy", monitor.Utilization, g.UtilizationPercent, percent, 100),
		of("memory GiB", monitor.MemoryUsed, float(g.MemoryUsedBytes), inGiB, float(g.MemoryTotalBytes).Or(0)),
		of("power W", monitor.Power, g.PowerWatts, whole, g.PowerLimitWatts.Or(0)),
		of("temp", monitor.Temperature, g.TemperatureCelsius, celsius, 100),
		of("SM MHz", monitor.SMClock, g.SMClockMHz, whole, g.SMClockMaxMHz.Or(0)),
		of("PCIe in", monitor.PCIeReceive, g.PCIeReceiveBytesPerSecond, inGB, 0),
		of("PCIe out", monitor.PCIeTransmit, g.PCIeTransmitBytesPerSecond, inGB, 0),
		of("NVLink in", monitor.NVLinkReceive, g.NVLinkReceiveBytesPerSecond, inGB, 0),
		of("NVLink out", monitor.NVLinkTransmit, g.NVLinkTransmitBytesPerSecond, inGB, 0),
		of("mem busy", monitor.MemoryBusy, g.MemoryBusyPercent, percent, 100),
	}
	return list
}

func (v *View) drawHistory(s *screen) {
	g := &v.snapshot.GPUs[v.selected]
	title := fmt.Sprintf("GPU %d %s", g.Index, g.Name)
	if len(g.ClockLimits) > 0 {
		title += ": clocks limited by " + strings.Join(g.ClockLimits, ", ")
	}
	curves := v.gpuCurves()
	// A third of what is left is for processes, and at least three of them.
	room := max(min(s.left()*2/3-1, s.left()-7), 3)
	curves = curves[:min(len(curves), max(room, 1))]
	height := min(max(room/len(curves), 1), 3)
	v.drawCurves(s, title, curves, height)
}

// labelColumns is the width of the text before a chart.
const labelColumns = 39

func (v *View) drawCurves(s *screen, title string, curves []curve, height int) {
	width := s.columns - labelColumns
	s.line(func(l *line) {
		since := "  last " + (time.Duration(width) * v.Interval).Round(time.Millisecond).String()
		l.put(bold, fit(title, s.columns-len(since), false))
		l.put(dim, since)
	})
	for _, c := range curves {
		series := c.series(width)
		values := make([]float64, len(series.Timeline))
		most := c.most
		for i, p := range series.Timeline {
			values[i] = p.Value
			if c.most == 0 && p.Value > most { // not if the value is absent
				most = p.Value
			}
		}
		average, largest := "-", "-"
		if series.Count > 0 {
			average, largest = c.format(series.Average), c.format(series.Max)
		}
		for row, cells := range v.Look.chart(values, most, width, height) {
			s.line(func(l *line) {
				label := ""
				if row == height-1 {
					label = fmt.Sprintf("%-10s %6s avg %6s max %6s", c.name, c.now, average, largest)
				}
				l.put(plain, fit(label, labelColumns, false))
				l.put(cyan, cells)
			})
		}
	}
}

// process is a process on a GPU.
type process struct {
	*monitor.Process
	gpu int
}

// name returns what is known of the process's name.
func (p process) name() string {
	switch {
	case p.Command != "":
		return p.Command
	case p.Name != "":
		return p.Name
	}
	return "-"
}

// processOrders are the orders of the table of processes.
var processOrders = []struct {
	name    string
	compare func(a, b process) int
}{
	{"memory", func(a, b process) int { return cmp.Compare(b.MemoryBytes.Or(-1), a.MemoryBytes.Or(-1)) }},
	{"busy", func(a, b process) int { return cmp.Compare(b.SMPercent.Or(-1), a.SMPercent.Or(-1)) }},
	{"pid", func(a, b process) int { return cmp.Compare(a.PID, b.PID) }},
	{"gpu", func(a, b process) int { return cmp.Compare(a.gpu, b.gpu) }},
	{"command", func(a, b process) int { return cmp.Compare(a.name(), b.name()) }},
}

// processes returns the processes that match the filter, in the chosen order.
func (v *View) processes() (list []process, all int) {
	for i := range v.snapshot.GPUs {
		g := &v.snapshot.GPUs[i]
		for k := range g.Processes {
			p := process{&g.Processes[k], g.Index}
			all++
			if p.matches(v.filter) {
				list = append(list, p)
			}
		}
	}
	compare := processOrders[v.order].compare
	slices.SortStableFunc(list, func(a, b process) int { return cmp.Or(compare(a, b), cmp.Compare(a.PID, b.PID)) })
	return list, all
}

// matches reports whether a filter is part of the command, the user or the number.
func (p process) matches(filter string) bool {
	text := strings.ToLower(p.name() + "\n" + p.Name + "\n" + p.User + "\n" + strconv.Itoa(p.PID))
	return strings.Contains(text, strings.ToLower(filter))
}

func (v *View) drawProcesses(s *screen) {
	list, all := v.processes()
	s.line(func(l *line) {
		l.put(bold, plural(all, "process", "processes"))
		if v.filter != "" || v.editing {
			l.putf(yellow, "  %d match %q", len(list), v.filter)
		}
		if v.snapshot.ForeignPIDs && all > 0 {
			l.put(yellow, "  PIDs are the host's; names are not visible in this container")
		}
	})
	if all == 0 {
		return
	}
	s.text(dim, "%8s %-10s %3s %-4s %5s %9s  %s", "PID", "USER", "GPU", "TYPE", "BUSY", "GiB", "COMMAND")
	for i, p := range list {
		if s.left() == 1 && i < len(list)-1 {
			s.text(dim, "%8s %d more", "", len(list)-i)
			return
		}
		if s.left() <= 0 {
			return
		}
		kind := "C"
		if p.Graphics {
			kind = "G"
		}
		user := p.User
		if user == "" {
			user = "-"
		}
		s.text(plain, "%8d %-10s %3d %-4s %5s %9s  %s", p.PID, fit(user, min(len([]rune(user)), 10), false), p.gpu, kind,
			show(p.SMPercent, percent), show(float(p.MemoryBytes), inGiB), p.name())
	}
}

func (v *View) drawCPU(s *screen) {
	n := v.snapshot
	reason := strings.TrimPrefix(n.Unavailable, "monitor: ")
	if reason == "" {
		reason = "no NVIDIA GPU"
	}
	for _, l := range wrap(strings.ToUpper(reason[:1])+reason[1:]+".", s.columns, 3) {
		s.text(yellow, "%s", l)
	}
	s.text(plain, "This is the CPU, which runs kernels as device cpu. quern doctor says more.")
	s.line(nil)
	s.text(bold, "%s", n.CPU.Name)
	used, total := float(n.CPU.MemoryUsedBytes()), float(n.CPU.MemoryTotalBytes)
	v.drawBar(s, "load", n.CPU.LoadPercent.Or(0)/100, show(n.CPU.LoadPercent, percent))
	f, _ := fraction(used, total)
	v.drawBar(s, "memory", f, pair(used, total, inGiB)+" GiB")
	s.line(nil)
	v.drawCores(s, max(s.left()-7, 1))
	h := n.History
	v.drawCurves(s, "History", []curve{
		{"load", h.CPULoad, show(n.CPU.LoadPercent, percent), percent, 100},
		{"memory GiB", h.CPUMemory, show(used, inGiB), inGiB, total.Or(0)},
	}, min(max(s.left()/2-1, 1), 3))
}

func (v *View) drawBar(s *screen, name string, part float64, value string) {
	s.line(func(l *line) {
		l.put(plain, fit(name, 8, false))
		l.put(cyan, v.Look.bar(part, s.columns-8-20))
		l.put(plain, " "+fit(value, 19, true))
	})
}

// drawCores draws the load of each core in at most so many lines.
func (v *View) drawCores(s *screen, lines int) {
	const cell = 20 // number, bar and percentage
	across := s.columns / cell
	cores := v.snapshot.CPU.Cores
	hidden := 0
	if most := across * lines; len(cores) > most {
		hidden = len(cores) - (most - across)
		cores = cores[:most-across]
	}
	for row := range slices.Chunk(cores, across) {
		s.line(func(l *line) {
			for _, c := range row {
				l.putf(dim, "%4d ", c.Index)
				l.put(load(c.LoadPercent), v.Look.bar(c.LoadPercent.Or(0)/100, cell-11))
				l.put(plain, fit(show(c.LoadPercent, percent), 5, true)+" ")
			}
		})
	}
	if hidden > 0 {
		s.text(dim, "     %d more cores", hidden)
	}
}

// wrap breaks text at spaces into at most n lines.
func wrap(s string, columns, n int) (list []string) {
	for len(list) < n-1 && len(s) > columns {
		at := strings.LastIndexByte(s[:columns+1], ' ')
		if at <= 0 {
			break
		}
		list = append(list, s[:at])
		s = s[at+1:]
	}
	return append(list, s)
}

func (v *View) drawHelp(s *screen) {
	s.line(nil)
	for _, k := range keys {
		s.line(func(l *line) {
			l.put(bold, fit("  "+k.name, 14, false))
			l.put(plain, k.help)
		})
	}
	s.line(nil)
	s.text(dim, "BUSY is the time with a resident kernel. PCIe and NVLink are to/from the GPU.")
	s.text(dim, "A dash is a value that the driver or the GPU does not report.")
}

func (v *View) drawFooter(s *screen) {
	s.line(func(l *line) {
		switch {
		case v.editing:
			l.put(reverse, " filter: "+v.filter+"_ ")
			l.put(dim, "  Enter keeps it, Esc clears it")
		case v.snapshot == nil || len(v.snapshot.GPUs) == 0:
			l.put(dim, "q quit  space pause  h help")
		default:
			l.put(dim, "q quit  up/down GPU  g sort GPUs:")
			l.put(bold, gpuOrders[v.gpuOrder].name)
			l.put(dim, "  s sort:")
			l.put(bold, processOrders[v.order].name)
			l.put(dim, "  / filter  h help")
		}
	})
}
