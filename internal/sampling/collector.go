package sampling

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"quern.dev/internal/cupti"
	"quern.dev/internal/wholefile"
)

// Variable is the environment variable that names the file of the samples.
const Variable = "QUERN_SAMPLES"

// Samples is the content of the file.
type Samples struct {
	Total   uint64   `json:"total"` // with those of other libraries' kernels
	Lost    uint64   `json:"lost"`
	Kernels []Kernel `json:"kernels"` // that with the most samples first
}

// Kernel has the samples of a kernel.
type Kernel struct {
	Name  string `json:"name"` // with the path of its package
	Lines []Line `json:"lines"`
}

// Line has the samples of a line of source, by what the warps did.
type Line struct {
	File    string            `json:"file"` // as the compiler of kernels names it
	Line    int               `json:"line"` // 0 is code that belongs to no line
	Reasons map[string]uint64 `json:"reasons"`
}

// Total returns the number of samples of a line.
func (l *Line) Total() (n uint64) {
	for _, samples := range l.Reasons {
		n += samples
	}
	return n
}

// Total returns the number of samples of a kernel.
func (k *Kernel) Total() (n uint64) {
	for i := range k.Lines {
		n += k.Lines[i].Total()
	}
	return n
}

// interval is the time between two versions of the file.
const interval = 500 * time.Millisecond

// Collector samples contexts into a file, which is replaced a few times per second, so that there
// is always a complete one, also if the process is killed. Its methods are safe for concurrent use.
type Collector struct {
	file string
	lib  cupti.Library

	mu       sync.Mutex
	contexts map[uintptr]*sampled
	modules  map[uint64]*module // by checksum
	found    map[place]map[string]uint64
	total    uint64
	lost     uint64
	changed  bool
	stop     chan struct{} // ends the goroutine that reads; nil without contexts
	ended    chan struct{}
}

type sampled struct {
	sampler    *cupti.Sampler
	names      []string // of what a warp may do, by index; empty for what is not counted
	references int
}

// module is the code of a kernel.
type module struct {
	label string
	files []string // of the source, as the compiler of kernels names them
	code  *cupti.Code
	lines map[instruction]position
}

type instruction struct {
	function string
	offset   uint64
}

type position struct {
	file string
	line int
}

// place is a line of a kernel.
type place struct {
	label string
	position
}

var (
	collectors = map[string]*Collector{}
	mu         sync.Mutex // guards collectors
	open       = cupti.Open
)

// SetLibrary replaces CUPTI for tests, and returns a function that undoes it.
func SetLibrary(f func() (cupti.Library, error)) (restore func()) {
	old := open
	open = f
	return func() { open = old }
}

// Into returns the collector of a file, one per process.
func Into(file string) (*Collector, error) {
	mu.Lock()
	defer mu.Unlock()
	if c := collectors[file]; c != nil {
		return c, nil
	}
	lib, err := open()
	if err != nil {
		return nil, wrap(err)
	}
	c := &Collector{file: file, lib: lib, contexts: map[uintptr]*sampled{}, modules: map[uint64]*module{}, found: map[place]map[string]uint64{}}
	if err := c.write(); err != nil {
		return nil, err
	}
	collectors[file] = c
	return c, nil
}

func wrap(err error) error { return fmt.Errorf("%s: sample the GPU: %w", Variable, err) }

// Begin samples a context, until as many calls of End as of Begin.
func (c *Collector) Begin(context uintptr) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.contexts[context]; s != nil {
		s.references++
		return nil
	}
	sampler, err := cupti.StartSampler(c.lib, context)
	if err != nil {
		return wrap(err)
	}
	s := &sampled{sampler: sampler, references: 1}
	for _, name := range sampler.Reasons() {
		s.names = append(s.names, reasonOf(name))
	}
	c.contexts[context] = s
	if c.stop == nil {
		c.stop, c.ended = make(chan struct{}), make(chan struct{})
		go c.keepReading(c.stop, c.ended)
	}
	return nil
}

// reasonOf shortens CUPTI's name of a reason. A reason whose samples are among those of another
// one has none: those of cycles in which the scheduler issued no instruction.
func reasonOf(name string) string {
	if strings.HasSuffix(name, "_not_issued") {
		return ""
	}
	if _, reason, ok := strings.Cut(name, "_issue_stalled_"); ok {
		return reason
	}
	return name
}

// keepReading reads the samples until stop is closed.
func (c *Collector) keepReading(stop, ended chan struct{}) {
	defer close(ended)
	for {
		select {
		case <-stop:
			return
		case <-time.After(interval):
		}
		c.mu.Lock()
		for _, s := range c.contexts {
			_ = s.sampler.Read(func(p *cupti.PCSamples) { c.add(s, p) }) // End reports an error that lasts
		}
		if c.changed {
			_ = c.write()
		}
		c.mu.Unlock()
	}
}

// End ends the sampling of a context, and writes the file.
func (c *Collector) End(context uintptr) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.contexts[context]
	if s == nil {
		return nil
	}
	if s.references--; s.references > 0 {
		return nil
	}
	delete(c.contexts, context)
	err := s.sampler.Stop(func(p *cupti.PCSamples) { c.add(s, p) })
	c.count(s)
	if err != nil {
		err = wrap(err)
	}
	if len(c.contexts) == 0 {
		close(c.stop)
		ended := c.ended
		c.stop = nil
		c.mu.Unlock()
		<-ended
		c.mu.Lock()
	}
	return errors.Join(err, c.write())
}

// Code says that a kernel was loaded. label is what reports call it, ptx its text and code what the
// driver has made of it, with the lines of its source.
func (c *Collector) Code(label, ptx string, code []byte) error {
	m := &module{label: label, files: filesOf(ptx), lines: map[instruction]position{}}
	var err error
	if m.code, err = cupti.NewCode(c.lib, code); err != nil {
		return wrap(err)
	}
	sum, err := m.code.Checksum()
	if err != nil {
		return wrap(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.modules[sum] = m
	return nil
}

// filesOf returns the names of the source files of PTX.
func filesOf(ptx string) (list []string) {
	for line := range strings.Lines(ptx) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), ".file ")
		if !ok {
			continue
		}
		if at := strings.IndexByte(rest, '"'); at >= 0 {
			if quoted, err := strconv.QuotedPrefix(rest[at:]); err == nil {
				name, _ := strconv.Unquote(quoted)
				list = append(list, name)
			}
		}
	}
	return list
}

// add adds the samples of an instruction.
func (c *Collector) add(s *sampled, p *cupti.PCSamples) {
	at := place{label: p.Function}
	if m := c.modules[p.Code]; m != nil {
		at = place{m.label, m.position(p.Function, p.Offset)}
	}
	sum := c.found[at]
	if sum == nil {
		sum = map[string]uint64{}
		c.found[at] = sum
	}
	for _, r := range p.Reasons {
		if int(r.Reason) < len(s.names) && s.names[r.Reason] != "" && r.Samples > 0 {
			sum[s.names[r.Reason]] += uint64(r.Samples)
			c.changed = true
		}
	}
}

// count takes over the sums of a sampler that has ended.
func (c *Collector) count(s *sampled) {
	total, lost := s.sampler.Total()
	c.total += total
	c.lost += lost
}

// position returns the line of an instruction.
func (m *module) position(function string, offset uint64) position {
	at := instruction{function, offset}
	p, known := m.lines[at]
	if !known {
		if file, line, err := m.code.Line(function, offset); err == nil {
			p = position{m.file(file), line}
		}
		m.lines[at] = p
	}
	return p
}

// file returns the name that the compiler of kernels gave a file. The driver's compiler puts the
// working directory before it.
func (m *module) file(name string) string {
	best := ""
	for _, f := range m.files {
		if (f == name || strings.HasSuffix(name, "/"+f)) && len(f) > len(best) {
			best = f
		}
	}
	return cmp.Or(best, name)
}

// samples returns what the file has.
func (c *Collector) samples() Samples {
	kernels := map[string]*Kernel{}
	for at, reasons := range c.found {
		k := kernels[at.label]
		if k == nil {
			k = &Kernel{Name: at.label}
			kernels[at.label] = k
		}
		k.Lines = append(k.Lines, Line{at.file, at.line, maps.Clone(reasons)})
	}
	s := Samples{Total: c.total, Lost: c.lost}
	for _, open := range c.contexts {
		total, lost := open.sampler.Total()
		s.Total += total
		s.Lost += lost
	}
	for _, k := range kernels {
		slices.SortFunc(k.Lines, func(a, b Line) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
		s.Kernels = append(s.Kernels, *k)
	}
	slices.SortFunc(s.Kernels, func(a, b Kernel) int { return cmp.Or(cmp.Compare(b.Total(), a.Total()), cmp.Compare(a.Name, b.Name)) })
	return s
}

// write replaces the file.
func (c *Collector) write() error {
	c.changed = false
	err := wholefile.Write(c.file, func(w io.Writer) error { return json.NewEncoder(w).Encode(c.samples()) })
	if err != nil {
		return wrap(err)
	}
	return nil
}
