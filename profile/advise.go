package profile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"quern.dev/gpu"
)

// AdviseConfig configures [Advise].
type AdviseConfig struct {
	GPU, CPU *Card // of the two devices; see MeasureCard and SavedCard
	Sizes    []int // for which predictions are made; at least one

	// Calibrate are devices on which the workload runs for some milliseconds at several sizes,
	// which corrects the model. Without any, the predictions use only the cards and counted
	// instructions.
	Calibrate []*gpu.Device
	// CalibrateSizes are the sizes at which it may run; those of Sizes and smaller ones if it is
	// empty.
	CalibrateSizes []int

	Pinned   bool // the data is in page-locked memory
	Resident bool // the data stays on the GPU
	Launches int  // runs of the kernels for each transfer; 1 if zero
}

// Advice says on which device a workload is faster.
type Advice struct {
	Name string `json:"name"`
	GPU  string `json:"gpu"`
	CPU  string `json:"cpu"`
	// Source says where the numbers of instructions and bytes are from.
	Source string `json:"source"`
	// Predictions are in the order of sizes.
	Predictions []Prediction `json:"predictions"`
	// Crossover is the size from which the GPU is faster, up to the largest size of
	// Predictions; 0 if there is none.
	Crossover int `json:"crossover"`
	// Moves say how changes would move the crossover.
	Moves []Move `json:"moves"`
}

// Prediction has the times of one size.
type Prediction struct {
	Size int   `json:"size"`
	GPU  Times `json:"gpu"`
	CPU  Times `json:"cpu"`
	Work Work  `json:"work"`
	// Counted: the simulator has run this size. Otherwise Work is extrapolated.
	Counted bool `json:"counted"`
}

// Times are times in seconds.
type Times struct {
	In     float64 `json:"in"`     // copies to the device
	Kernel float64 `json:"kernel"` // of all launches
	Out    float64 `json:"out"`    // copies from the device
	Total  float64 `json:"total"`  // with launches and waiting
	Model  float64 `json:"model"`  // Total by the cards alone, without calibration runs
	Bound  string  `json:"bound"`  // what determines the time of the kernel
}

// Faster returns "gpu" or "cpu".
func (p *Prediction) Faster() string {
	if p.GPU.Total < p.CPU.Total {
		return "gpu"
	}
	return "cpu"
}

// Move says where the crossover would be after a change; 0 if the GPU would be faster for no
// size.
type Move struct {
	Change    string `json:"change"`
	Crossover int    `json:"crossover"`
	// Speedup of the GPU at the largest size.
	Speedup float64 `json:"speedup"`
}

// Advise predicts the times of a workload on a GPU and on the CPU, with transfers. Neither
// device is needed: the work is counted by running the compiled PTX of some of the blocks in
// the simulator, and the times follow from the cards of the devices.
//
//	a, err := profile.Advise(ctx, w, profile.AdviseConfig{GPU: card, CPU: host, Sizes: []int{1e4, 1e6, 1e8}})
//	err = a.WriteMarkdown(os.Stdout)
func Advise(ctx context.Context, w Workload, c AdviseConfig) (*Advice, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	a, err := advise(ctx, w, c)
	if err != nil {
		return nil, fmt.Errorf("profile: advise %s: %w", w.Name, err)
	}
	return a, nil
}

func (c *AdviseConfig) check() error {
	if c.GPU == nil || c.CPU == nil {
		return errors.New("AdviseConfig.GPU or CPU is nil; use SavedCard or MeasureCard")
	}
	if err := c.GPU.check(); err != nil {
		return fmt.Errorf("card of the GPU: %w", err)
	}
	if err := c.CPU.check(); err != nil {
		return fmt.Errorf("card of the CPU: %w", err)
	}
	if len(c.Sizes) == 0 {
		return errors.New("AdviseConfig.Sizes is empty")
	}
	if slices.Min(c.Sizes) < 1 {
		return fmt.Errorf("size %d: want at least 1", slices.Min(c.Sizes))
	}
	if c.Launches < 0 {
		return fmt.Errorf("AdviseConfig.Launches is %d; want at least 0", c.Launches)
	}
	return nil
}

func advise(ctx context.Context, w Workload, c AdviseConfig) (*Advice, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	sizes := slices.Compact(slices.Sorted(slices.Values(c.Sizes)))
	counts, err := countLadder(ctx, w, sizes)
	if err != nil {
		return nil, err
	}
	a := &Advice{Name: w.Name, GPU: c.GPU.Device, CPU: c.CPU.Device}
	a.Source = fmt.Sprintf("instructions and bytes: compiled PTX, run for up to %d blocks in the simulator at size %s", countBlocks, list(sizesOf(counts)))
	p := &predictor{AdviseConfig: c, counts: counts}
	for _, d := range c.Calibrate {
		at, err := p.calibrate(ctx, w, d)
		if err != nil {
			return nil, fmt.Errorf("calibrate on %s: %w", d.ID(), err)
		}
		a.Source += fmt.Sprintf("; corrected by runs on %s at size %s", d.ID(), list(at))
	}
	for _, n := range sizes {
		a.Predictions = append(a.Predictions, p.predict(n))
	}
	a.Crossover = p.crossover(sizes)
	a.Moves = p.moves(sizes)
	return a, nil
}

func sizesOf(counts []countedSize) (sizes []int) {
	for _, c := range counts {
		sizes = append(sizes, c.n)
	}
	return sizes
}

// list returns the numbers with commas.
func list(numbers []int) string {
	var text []string
	for _, n := range numbers {
		text = append(text, strconv.Itoa(n))
	}
	return strings.Join(text, ", ")
}

// predictor predicts from counts.
type predictor struct {
	AdviseConfig
	counts   []countedSize
	gpu, cpu correction
	overlap  bool // copies and kernels run at the same time
}

func (p *predictor) predict(n int) Prediction {
	c := at(p.counts, n)
	return Prediction{
		Size: n, Work: c.work, Counted: slices.Contains(sizesOf(p.counts), n),
		GPU: p.times(p.GPU, p.gpu, &c), CPU: p.times(p.CPU, p.cpu, &c),
	}
}

// times predicts the times of a size on the device of a card.
func (p *predictor) times(card *Card, by correction, c *countedSize) Times {
	t := p.add(card, factors{1, 1}, c)
	model := t.Total
	if len(by) > 0 {
		t = p.add(card, by.at(c.n), c)
	}
	t.Model = model
	return t
}

// add adds up the parts of the time of a size.
func (p *predictor) add(card *Card, by factors, c *countedSize) (t Times) {
	k := card.kernel(&c.work)
	t.Kernel, t.Bound = by.kernel*float64(max(1, p.Launches))*k.seconds, k.bound
	if !p.Resident {
		t.In, t.Out = card.transfers(c.in, c.out, p.Pinned)
		t.In, t.Out = by.copies*t.In, by.copies*t.Out
	}
	// The device waits if it runs kernels faster than the host submits them.
	run := max(t.Kernel, p.submission(card, c))
	t.Total = t.In + run + t.Out
	if p.overlap {
		t.Total = max(t.In, run, t.Out)
	}
	switch {
	case card.Backend != "cuda": // the kernel's time has it
	case t.Out > 0: // the copy from the device waits
		t.Total += by.copies * card.Latency.Launch
	default:
		t.Total += card.Latency.Wait
	}
	return t
}

// submission is the time in which the host submits the launches to a GPU, except for the last one.
func (p *predictor) submission(card *Card, c *countedSize) float64 {
	if card.Backend != "cuda" {
		return 0
	}
	return max(0, float64(max(1, p.Launches))*c.work.Launches-1) * card.Latency.Launch
}

// crossover returns the size from which the GPU is faster up to the largest size.
func (p *predictor) crossover(sizes []int) int {
	last := sizes[len(sizes)-1]
	gpuFaster := func(n int) bool { q := p.predict(n); return q.Faster() == "gpu" }
	if !gpuFaster(last) {
		return 0
	}
	lo, hi := 0, last // the GPU is slower at lo, and faster at hi
	for _, n := range slices.Backward(sizes) {
		if !gpuFaster(n) {
			lo = n
			break
		}
		hi = n
	}
	if lo == 0 {
		return hi
	}
	for hi-lo > max(1, hi/64) {
		if mid := lo + (hi-lo)/2; gpuFaster(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// moves predicts what changes would do.
func (p *predictor) moves(sizes []int) []Move {
	last := sizes[len(sizes)-1]
	var list []Move
	add := func(change string, apply func(q *predictor)) {
		q := *p
		apply(&q)
		r := q.predict(last)
		list = append(list, Move{change, q.crossover(sizes), r.CPU.Total / r.GPU.Total})
	}
	if !p.Pinned && !p.Resident {
		add("page-locked memory (gpu.AllocHost)", func(q *predictor) { q.Pinned = true })
	}
	if !p.Resident {
		add("copies that overlap with kernels (gpu.Overlap)", func(q *predictor) { q.overlap = true })
		add("ten launches per transfer", func(q *predictor) { q.Launches = 10 * max(1, q.Launches) })
		add("data that stays on the GPU", func(q *predictor) { q.Resident = true })
	}
	return list
}

// WriteJSON writes the advice as JSON.
func (a *Advice) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "\t")
	if err := enc.Encode(a); err != nil {
		return fmt.Errorf("profile: write advice: %w", err)
	}
	return nil
}

// WriteMarkdown writes a table of the sizes and what follows from it.
func (a *Advice) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %s or %s?\n\n", a.Name, a.GPU, a.CPU)
	rows := [][]string{{"size", "faster", "GPU", "to GPU", "kernel", "from GPU", "bound by", "CPU", "CPU bound by"}}
	for i := range a.Predictions {
		p := &a.Predictions[i]
		times, slower := p.GPU.Total/p.CPU.Total, "CPU"
		if p.Faster() == "gpu" {
			times, slower = 1/times, "GPU"
		}
		rows = append(rows, []string{
			strconv.Itoa(p.Size), fmt.Sprintf("%s, %s times", slower, digits(times)), seconds(p.GPU.Total), seconds(p.GPU.In), seconds(p.GPU.Kernel), seconds(p.GPU.Out), p.GPU.Bound,
			seconds(p.CPU.Total), p.CPU.Bound,
		})
	}
	b.WriteString(markdown(rows))
	fmt.Fprintf(&b, "\n%s\n\n", a.verdict())
	if len(a.Moves) > 0 {
		rows = [][]string{{"with", "GPU is faster", "speed of the GPU at the largest size"}}
		for _, m := range a.Moves {
			at := "for none of the sizes"
			if m.Crossover > 0 {
				at = "from size " + strconv.Itoa(m.Crossover)
			}
			rows = append(rows, []string{m.Change, at, digits(m.Speedup) + " x CPU"})
		}
		b.WriteString(markdown(rows) + "\n")
	}
	fmt.Fprintf(&b, "Predicted from the cards of the devices. %s.\n", strings.ToUpper(a.Source[:1])+a.Source[1:])
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("profile: write advice: %w", err)
	}
	return nil
}

func seconds(s float64) string {
	if s == 0 {
		return ""
	}
	return duration(s * 1e9)
}

// verdict says in a sentence where the crossover lies.
func (a *Advice) verdict() string {
	first := a.Predictions[0].Size
	switch {
	case a.Crossover == 0:
		return "The CPU is faster at the largest size."
	case a.Crossover <= first:
		return "The GPU is faster for all of these sizes."
	default:
		return fmt.Sprintf("The GPU is faster from about size %d.", a.Crossover)
	}
}
