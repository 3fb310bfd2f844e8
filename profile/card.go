package profile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"quern.dev/gpu"
	"quern.dev/internal/wholefile"
)

// Card has what was measured of a device: its bandwidths, latencies and rates. [Advise]
// predicts times from the cards of two devices. See [MeasureCard].
type Card struct {
	Version         int       `json:"version"` // of the format; see cardVersion
	Device          string    `json:"device"`
	Backend         string    `json:"backend"`
	Driver          string    `json:"driver,omitempty"`
	Compute         string    `json:"compute,omitempty"` // "9.0"; empty if it is not a GPU
	Multiprocessors int       `json:"multiprocessors"`   // or cores
	ClockRate       int       `json:"clockRate"`         // kHz, 0 if unknown
	L2Size          int       `json:"l2Size"`            // bytes, 0 if unknown
	Measured        time.Time `json:"measured"`

	Machine  Machine  `json:"machine"`
	Rates    Rates    `json:"rates"`
	Latency  Latency  `json:"latency"`
	Transfer Transfer `json:"transfer"`
	// Caches are the bandwidths of repeated reads by the size of what is read, in the order of
	// sizes.
	Caches []CacheRate `json:"caches"`

	Patterns []Pattern `json:"patterns"`
}

// Rates are operations per second of a whole device that is busy with nothing else.
type Rates struct {
	Memory    float64 `json:"memory"`    // bytes per second of global memory, by BabelStream's triad
	Integers  float64 `json:"integers"`  // multiplications, shifts, logic
	Roots     float64 `json:"roots"`     // float32 square roots and divisions
	Functions float64 `json:"functions"` // float32 exponentials and logarithms
	Shared    float64 `json:"shared"`    // reads of 4 bytes of shared memory without bank conflicts
	Cached    float64 `json:"cached"`    // reads of 4 bytes of global memory that are in the cache: of a core, or a GPU's L2
	Scattered float64 `json:"scattered"` // reads of 4 bytes at random addresses
	Atomics   float64 `json:"atomics"`   // additions to spread addresses
	Contended float64 `json:"contended"` // additions to one address
	Threads   float64 `json:"threads"`   // threads that do next to nothing
	Barriers  float64 `json:"barriers"`  // threads at a barrier
}

// Latency are times in seconds.
type Latency struct {
	Launch float64 `json:"launch"` // of the host, per launch, while the device is busy
	Wait   float64 `json:"wait"`   // from a launch to the end of the wait for an empty kernel
	Kernel float64 `json:"kernel"` // of an empty kernel on the device
	Memory float64 `json:"memory"` // of one dependent read
}

// Transfer describes copies between host and device. Times are in seconds, rates in bytes
// per second.
type Transfer struct {
	PinnedIn    Rate `json:"pinnedIn"`
	PinnedOut   Rate `json:"pinnedOut"`
	PageableIn  Rate `json:"pageableIn"`
	PageableOut Rate `json:"pageableOut"`
}

// Rate is the cost of a copy: a fixed time, and bytes per second for large copies.
type Rate struct {
	Fixed     float64 `json:"fixed"` // seconds
	Bandwidth float64 `json:"bandwidth"`
	// Points are the measurements, in the order of their sizes.
	Points []Point `json:"points,omitempty"`
}

// CacheRate is the bandwidth of repeated reads of so many bytes, in bytes per second.
type CacheRate struct {
	Bytes     float64 `json:"bytes"`
	Bandwidth float64 `json:"bandwidth"`
	// Miss is how many seconds a read at a random address takes longer here than in the smallest
	// working set, divided by the number of reads that the cores do at the same time. It is 0 for a
	// GPU, where other threads run meanwhile.
	Miss float64 `json:"miss,omitempty"`
}

// miss returns CacheRate.Miss for a working set, interpolated by its logarithm.
func (c *Card) miss(bytes float64) float64 {
	for i, r := range c.Caches {
		if bytes > r.Bytes {
			continue
		}
		if i == 0 {
			return r.Miss
		}
		smaller := c.Caches[i-1]
		share := math.Log(bytes/smaller.Bytes) / math.Log(r.Bytes/smaller.Bytes)
		return smaller.Miss + share*(r.Miss-smaller.Miss)
	}
	if n := len(c.Caches); n > 0 {
		return c.Caches[n-1].Miss
	}
	return 0
}

// bandwidth returns the bandwidth of accesses to so many bytes, which a cache may hold.
func (c *Card) bandwidth(bytes float64) float64 {
	for _, r := range c.Caches {
		if r.Bytes >= bytes {
			return max(r.Bandwidth, c.Rates.Memory)
		}
	}
	return c.Rates.Memory
}

// Point is the measured time of a copy.
type Point struct {
	Bytes   float64 `json:"bytes"`
	Seconds float64 `json:"seconds"`
}

// Seconds returns the time of a copy, interpolated between the measured sizes.
func (r Rate) Seconds(bytes float64) float64 {
	p := r.Points
	switch {
	case bytes <= 0:
		return 0
	case len(p) == 0:
		if r.Bandwidth == 0 {
			return r.Fixed
		}
		return r.Fixed + bytes/r.Bandwidth
	case bytes <= p[0].Bytes:
		return p[0].Seconds
	}
	for i := 1; i < len(p); i++ {
		if bytes <= p[i].Bytes {
			share := (bytes - p[i-1].Bytes) / (p[i].Bytes - p[i-1].Bytes)
			return p[i-1].Seconds + share*(p[i].Seconds-p[i-1].Seconds)
		}
	}
	last := p[len(p)-1]
	return last.Seconds * bytes / last.Bytes
}

// Pattern is a table of measurements under one heading, which can be plotted.
type Pattern struct {
	Name   string   `json:"name"` // for files: "strided"
	Title  string   `json:"title"`
	Axis   string   `json:"axis"` // what the labels are
	Unit   string   `json:"unit"` // "B/s", "op/s" or "s"
	Labels []string `json:"labels"`
	Lines  []Line   `json:"lines"`
}

// Line is a row of a pattern, with one value per label; 0 if it was not measured.
type Line struct {
	Name   string    `json:"name"`
	Values []float64 `json:"values"`
}

// cardVersion is the version of the format and of the measurements. Cards of other versions
// are measured again.
const cardVersion = 4

// ErrNoCard means that the device has not been measured on this machine.
var ErrNoCard = errors.New("the device has not been measured; run quern bench device, or use profile.MeasureCard")

// SavedCard returns the card that [Card.Save] wrote for the device and its current driver. If
// there is none, the error matches [ErrNoCard].
func SavedCard(d *gpu.Device) (*Card, error) {
	if d == nil {
		return nil, errors.New("profile: card: device is nil")
	}
	path, err := cardPath(newCard(d))
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("profile: card: %s: %w", d.Name(), ErrNoCard)
	}
	if err != nil {
		return nil, fmt.Errorf("profile: card: %w", err)
	}
	defer f.Close()
	c, err := ReadCard(f)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrNoCard, path, err)
	}
	return c, nil
}

// ReadCard reads what [Card.WriteJSON] has written.
func ReadCard(r io.Reader) (*Card, error) {
	c := new(Card)
	if err := json.NewDecoder(r).Decode(c); err != nil {
		return nil, fmt.Errorf("profile: read card: %w", err)
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("profile: read card: %w", err)
	}
	return c, nil
}

// check reports whether predictions can be made from the card.
func (c *Card) check() error {
	if c.Version != cardVersion {
		return fmt.Errorf("the card has version %d, this program uses %d; measure again with quern bench device", c.Version, cardVersion)
	}
	for name, v := range map[string]float64{
		"machine.copyBandwidth": c.Machine.CopyBandwidth, "machine.flops32": c.Machine.Flops32, "machine.flops64": c.Machine.Flops64,
		"rates.memory": c.Rates.Memory, "rates.integers": c.Rates.Integers, "rates.roots": c.Rates.Roots, "rates.functions": c.Rates.Functions, "rates.shared": c.Rates.Shared, "rates.cached": c.Rates.Cached,
		"rates.scattered": c.Rates.Scattered, "rates.atomics": c.Rates.Atomics, "rates.contended": c.Rates.Contended,
		"rates.threads": c.Rates.Threads, "rates.barriers": c.Rates.Barriers, "latency.wait": c.Latency.Wait,
	} {
		if !(v > 0) || math.IsInf(v, 0) {
			return fmt.Errorf("%s is %v; want more than 0", name, v)
		}
	}
	for _, p := range c.Patterns {
		for _, l := range p.Lines {
			if len(l.Values) != len(p.Labels) {
				return fmt.Errorf("pattern %s: line %s has %d values for %d labels", p.Name, l.Name, len(l.Values), len(p.Labels))
			}
		}
	}
	return nil
}

// WriteJSON writes the card for [ReadCard].
func (c *Card) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "\t")
	if err := enc.Encode(c); err != nil {
		return fmt.Errorf("profile: write card: %w", err)
	}
	return nil
}

// Save writes the card to the user's cache directory, for [SavedCard], and returns the name of
// the file. A reader never sees part of it.
func (c *Card) Save() (path string, err error) {
	if path, err = cardPath(c); err != nil {
		return "", err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("profile: save card: %w", err)
	}
	if err := wholefile.Write(path, c.WriteJSON); err != nil {
		return "", fmt.Errorf("profile: save card: %w", err)
	}
	return path, nil
}

// cardPath returns the file of the card of a device. Its name has what the measurements depend
// on.
func cardPath(c *Card) (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("profile: card: %w; set HOME or XDG_CACHE_HOME", err)
	}
	name := strings.Join([]string{c.Backend, c.Device, c.Driver, strconv.Itoa(c.Multiprocessors)}, " ")
	plain := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-':
			return r
		}
		return '_'
	}, name)
	return filepath.Join(dir, "quern", "cards", plain+".json"), nil
}

// newCard returns a card without measurements.
func newCard(d *gpu.Device) *Card {
	a := d.Attributes()
	c := &Card{
		Version: cardVersion, Device: d.Name(), Backend: string(d.Backend()), Driver: d.DriverVersion(),
		Multiprocessors: max(1, a.Multiprocessors), ClockRate: a.ClockRate, L2Size: a.L2Size,
	}
	if major, minor := d.ComputeCapability(); major > 0 {
		c.Compute = fmt.Sprintf("%d.%d", major, minor)
	}
	return c
}

// MeasureCard measures a device, in some seconds. progress is called before each step; it may
// be nil. Cancelling ctx ends the measurement with the cause. On the simulator, whose times
// mean nothing, MeasureCard returns an error that matches [errors.ErrUnsupported].
//
// The stream must not be in use otherwise, and the device should not be. Arrays take at most
// a quarter of its free memory.
func MeasureCard(ctx context.Context, s *gpu.Stream, progress func(step, steps int, what string)) (*Card, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	d := s.Device()
	switch {
	case d == nil:
		return nil, errors.New("profile: measure card: stream is nil")
	case d.Backend() == gpu.Sim:
		return nil, fmt.Errorf("profile: measure card: sim: the times of a simulator mean nothing; use device cpu or cuda (%w)", errors.ErrUnsupported)
	}
	return measureCard(&measurer{ctx: ctx, s: s, d: d, c: newCard(d), gpu: d.Backend() == gpu.CUDA, span: cardTime}, progress)
}

func measureCard(m *measurer, progress func(step, steps int, what string)) (*Card, error) {
	for i, step := range cardSteps {
		if progress != nil {
			progress(i+1, len(cardSteps), step.what)
		}
		if err := step.do(m); err != nil {
			return nil, fmt.Errorf("profile: measure card: %s: %w", step.what, err)
		}
	}
	m.c.Measured = time.Now().UTC().Truncate(time.Second)
	return m.c, nil
}

// cardSteps are the parts of a measurement.
var cardSteps = []struct {
	what string
	do   func(m *measurer) error
}{
	{"limits", (*measurer).limits},
	{"streams", (*measurer).streams},
	{"strides", (*measurer).strides},
	{"working sets", (*measurer).workingSets},
	{"shared memory", (*measurer).sharedMemory},
	{"atomics", (*measurer).atomics},
	{"transfers", (*measurer).transfers},
	{"peers", (*measurer).peers},
	{"latencies", (*measurer).latencies},
	{"rates", (*measurer).rates},
}

// Pattern returns the pattern with the given name, or nil.
func (c *Card) Pattern(name string) *Pattern {
	for i := range c.Patterns {
		if c.Patterns[i].Name == name {
			return &c.Patterns[i]
		}
	}
	return nil
}

// value returns a value of the pattern, 0 if it has none.
func (p *Pattern) value(line, label string) float64 {
	if p == nil {
		return 0
	}
	for _, l := range p.Lines {
		for i, v := range l.Values {
			if l.Name == line && p.Labels[i] == label {
				return v
			}
		}
	}
	return 0
}

// WriteMarkdown writes the limits and a table for each pattern.
func (c *Card) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", c.Device)
	if c.Driver != "" {
		fmt.Fprintf(&b, "Driver %s, ", c.Driver)
	}
	fmt.Fprintf(&b, "%d multiprocessors or cores, measured %s\n\n", c.Multiprocessors, c.Measured.Format("2006-01-02 15:04"))
	b.WriteString(markdown([][]string{
		{"limit", "value"},
		{"copy within the device", rate(c.Machine.CopyBandwidth, "B/s")},
		{"float32", rate(c.Machine.Flops32, "FLOP/s")},
		{"float64", rate(c.Machine.Flops64, "FLOP/s")},
		{"integer operations", rate(c.Rates.Integers, "op/s")},
		{"float32 roots and divisions", rate(c.Rates.Roots, "op/s")},
		{"float32 exponentials and logarithms", rate(c.Rates.Functions, "op/s")},
		{"threads", rate(c.Rates.Threads, "/s")},
		{"threads at barriers", rate(c.Rates.Barriers, "/s")},
		{"launch, time of the host", duration(c.Latency.Launch * 1e9)},
		{"launch and wait", duration(c.Latency.Wait * 1e9)},
		{"empty kernel on the device", duration(c.Latency.Kernel * 1e9)},
		{"dependent read of memory", duration(c.Latency.Memory * 1e9)},
	}))
	for _, p := range c.Patterns {
		fmt.Fprintf(&b, "\n## %s\n\n%s", p.Title, markdown(p.rows()))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("profile: write card: %w", err)
	}
	return nil
}

// rows returns the pattern as a table with a row per label.
func (p *Pattern) rows() [][]string {
	head := []string{p.Axis}
	for _, l := range p.Lines {
		head = append(head, l.Name)
	}
	rows := [][]string{head}
	for i, label := range p.Labels {
		row := []string{label}
		for _, l := range p.Lines {
			row = append(row, p.text(l.Values[i]))
		}
		rows = append(rows, row)
	}
	return rows
}

// text formats a value of the pattern, "" if it was not measured.
func (p *Pattern) text(v float64) string {
	switch {
	case v == 0:
		return ""
	case p.Unit == "s":
		return duration(v * 1e9)
	}
	return rate(v, p.Unit)
}
