// Advise judges profile.Advise: it predicts for the kernels of bench/parity at several sizes
// whether the GPU or the CPU is faster, copies included, and then measures both.
//
//	bench-advise             # where the GPU is; half a minute
//	bench-advise -run nbody -sizes 0.5,1
//
// A size is one of package suite's: 0 is small, 1 is for CPUs, 2 for GPUs, and numbers between
// them are between. Two predictions are judged: one from the cards of the devices alone, and
// one that is corrected by a run of the kernel at a small size, which is not judged.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"quern.dev/bench/parity/suite"
	"quern.dev/gpu"
	"quern.dev/profile"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("advise: ")
	only := flag.String("run", "", "`regular expression` of the kernels")
	sizes := flag.String("sizes", "0.2,0.7,1.1", "`list` of the sizes that are judged")
	device := flag.String("device", "cuda", "the `device` that is compared with cpu")
	limit := flag.Duration("limit", 60*time.Second, "no further kernel begins after this `time`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	j := &judge{ctx: ctx, limit: *limit}
	var err error
	if j.only, err = regexp.Compile(*only); err == nil {
		for _, text := range strings.Split(*sizes, ",") {
			z, bad := strconv.ParseFloat(text, 64)
			err = errors.Join(err, bad)
			j.sizes = append(j.sizes, suite.Size(z))
		}
	}
	if err == nil {
		err = j.run(*device, os.Stdout)
	}
	if err != nil {
		log.Print(err)
		os.Exit(1)
	}
}

// judge compares predictions with measurements.
type judge struct {
	ctx        context.Context
	only       *regexp.Regexp
	sizes      []suite.Size
	limit      time.Duration
	gpu, cpu   *gpu.Device
	gpuCard    *profile.Card
	cpuCard    *profile.Card
	table      *tabwriter.Writer
	cases      int
	right      [2]int     // without and with calibration
	logs       [2]float64 // squares of the logarithms of predicted to measured ratio
	wrong      []string
	clear      int // cases in which one side is at least 1.1 times as fast
	clearRight [2]int
}

// goal is the share of right predictions.
const goal = 0.95

func (j *judge) run(device string, w io.Writer) (err error) {
	for _, d := range []struct {
		id   string
		dev  **gpu.Device
		card **profile.Card
	}{{device, &j.gpu, &j.gpuCard}, {"cpu", &j.cpu, &j.cpuCard}} {
		if *d.dev, err = gpu.Open(gpu.Config{Device: d.id}); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, (*d.dev).Close()) }()
		if *d.card, err = profile.MeasureCard(j.ctx, (*d.dev).DefaultStream(), nil); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "%s or %s\n\n", j.gpu.Name(), j.cpu.Name())
	j.table = tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(j.table, "kernel\tsize\tGPU ms\tpredicted\tcalibrated\tCPU ms\tpredicted\tcalibrated\tmeasured\tpredicted\tcalibrated\tbound\t")
	begin := time.Now()
	for _, entry := range suite.All {
		if !j.only.MatchString(entry.Name) || time.Since(begin) > j.limit {
			continue
		}
		if err := j.kernel(entry); err != nil {
			j.wrong = append(j.wrong, fmt.Sprintf("%s: %v", entry.Name, err))
		}
	}
	if err := j.table.Flush(); err != nil {
		return err
	}
	return j.print(w)
}

func (j *judge) print(w io.Writer) error {
	if j.cases == 0 {
		return errors.New("no case was judged")
	}
	for i, name := range []string{"cards alone", "with a calibration run"} {
		n := float64(j.cases)
		fmt.Fprintf(w, "%s: %d of %d right (%.1f %%, goal %.0f %%); of %d in which one side is 1.1 times as fast: %d; ratio of the two sides off by a factor of %.2f (geometric standard deviation)\n",
			name, j.right[i], j.cases, 100*float64(j.right[i])/n, 100*goal, j.clear, j.clearRight[i], math.Exp(math.Sqrt(j.logs[i]/n)))
	}
	for _, line := range j.wrong {
		fmt.Fprintln(w, line)
	}
	return nil
}

// perSize is the number of steps between two sizes that Advise, whose sizes are whole numbers,
// can tell apart. Work that grows with a power of a kernel's dimensions grows with a power of
// encoded sizes.
const perSize = 1e4

// encode returns a whole number that grows exponentially with the size.
func encode(z suite.Size) int { return int(math.Round(perSize * math.Exp(4*float64(z)))) }

func decode(n int) suite.Size { return suite.Size(math.Log(float64(n)/perSize) / 4) }

// counted are the sizes at which the simulator counts, besides those that are judged.
var counted = []suite.Size{0, 0.35, 0.5, 0.9}

// workload returns the case as profile has it.
func workload(entry suite.Entry) profile.Workload {
	return profile.Workload{Name: entry.Name, Prepare: func(s *gpu.Stream, n int) (*profile.Instance, error) {
		c := entry.New(decode(n))
		b, err := c.Bind(s)
		if err != nil {
			return nil, err
		}
		in, out := c.Transfers()
		return &profile.Instance{
			Launch: func(*gpu.Stream) error { return b.Launch(c.Kernel.Checked) },
			In:     in, Out: out,
			Close: b.Close,
		}, b.Reset()
	}}
}

func (j *judge) kernel(entry suite.Entry) error {
	w := workload(entry)
	config := profile.AdviseConfig{GPU: j.gpuCard, CPU: j.cpuCard}
	for _, z := range append(slices.Clone(counted), j.sizes...) {
		config.Sizes = append(config.Sizes, encode(z))
	}
	// What is judged is not what the calibration runs at.
	config.Calibrate = []*gpu.Device{j.gpu, j.cpu}
	for _, z := range counted {
		config.CalibrateSizes = append(config.CalibrateSizes, encode(z))
	}
	a, err := profile.Advise(j.ctx, w, config)
	if err != nil {
		return err
	}
	for _, z := range j.sizes {
		if err := j.judge(entry, z, a); err != nil {
			return err
		}
	}
	return nil
}

// judge measures a case and compares.
func (j *judge) judge(entry suite.Entry, z suite.Size, a *profile.Advice) error {
	c := entry.New(z)
	onGPU, err := j.measure(c, j.gpu, true)
	if err != nil {
		return err
	}
	onCPU, err := j.measure(c, j.cpu, false)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(a.Predictions, func(p profile.Prediction) bool { return p.Size == encode(z) })
	p := [2]profile.Prediction{a.Predictions[at], a.Predictions[at]}
	p[0].GPU.Total += p[0].GPU.Kernel * (1/a.CorrectionGPU - 1)
	p[0].CPU.Total += p[0].CPU.Kernel * (1/a.CorrectionCPU - 1)
	faster := "cpu"
	if onGPU < onCPU {
		faster = "gpu"
	}
	ratio := onCPU / onGPU
	isClear := max(ratio, 1/ratio) > 1.1
	if isClear {
		j.clear++
	}
	j.cases++
	for i := range p {
		off := math.Log(p[i].CPU.Total / p[i].GPU.Total / ratio)
		j.logs[i] += off * off
		if p[i].Faster() == faster {
			j.right[i]++
			if isClear {
				j.clearRight[i]++
			}
		}
	}
	mark := func(p profile.Prediction) string {
		if p.Faster() != faster {
			return p.Faster() + " WRONG"
		}
		return p.Faster()
	}
	fmt.Fprintf(j.table, "%s\t%.1f\t%.4g\t%.4g\t%.4g\t%.4g\t%.4g\t%.4g\t%s\t%s\t%s\t%s, %s\t\n", entry.Name, float64(z),
		1e3*onGPU, 1e3*p[0].GPU.Total, 1e3*p[1].GPU.Total, 1e3*onCPU, 1e3*p[0].CPU.Total, 1e3*p[1].CPU.Total, faster, mark(p[0]), mark(p[1]), p[0].GPU.Bound, p[0].CPU.Bound)
	return nil
}

// Bounds of a measurement. The runs before warm are not counted: after a pause, the first
// wake up cores that sleep.
const (
	warm    = 10 * time.Millisecond
	fewest  = 3
	most    = 200
	longest = 60 * time.Millisecond
)

// measure returns the median time in seconds of the launch, and with transfers of the copies.
func (j *judge) measure(c *suite.Case, d *gpu.Device, transfers bool) (median float64, err error) {
	b, err := c.Bind(d.DefaultStream())
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if err := b.Reset(); err != nil {
		return 0, err
	}
	once := func() error {
		if transfers {
			if err := b.Send(); err != nil {
				return err
			}
		}
		if err := b.Launch(c.Kernel.Checked); err != nil {
			return err
		}
		if transfers {
			return b.Receive(j.ctx)
		}
		return d.DefaultStream().Synchronize(j.ctx)
	}
	for begin := time.Now(); time.Since(begin) < warm; {
		if err := once(); err != nil {
			return 0, err
		}
	}
	var list []float64
	for begin := time.Now(); len(list) < fewest || len(list) < most && time.Since(begin) < longest; {
		at := time.Now()
		if err := once(); err != nil {
			return 0, err
		}
		list = append(list, time.Since(at).Seconds())
	}
	slices.Sort(list)
	return list[len(list)/2], nil
}
