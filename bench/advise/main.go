// Advise judges profile.Advise: it predicts for the kernels of bench/parity at several sizes
// whether the GPU or the CPU is faster, copies included, and then measures both.
//
//	bench-advise               # where the GPU is; some minutes
//	bench-advise -run nbody -sizes 0.5,1
//	bench-advise -device none  # without a GPU: only the times of the CPU are judged
//
// A size is one of package suite's: 0 is small, 1 is for CPUs, 2 for GPUs, and numbers between
// them are between. Up to 1, the work is a power of the size, as it is of the number of elements
// in a program; at 1 the power changes, which no smaller size can tell.
//
// Two predictions are judged: one from the cards of the devices alone, and one that is corrected
// by runs of the kernel at other sizes, which are not judged.
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
	sizes := flag.String("sizes", "0.2,0.7,1", "`list` of the sizes that are judged")
	device := flag.String("device", "cuda", "the `device` that is compared with cpu, or none")
	limit := flag.Duration("limit", 5*time.Minute, "no further kernel begins after this `time`")
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
	ctx      context.Context
	only     *regexp.Regexp
	sizes    []suite.Size
	limit    time.Duration
	gpu, cpu *gpu.Device // gpu is nil if only the CPU is judged
	gpuCard  *profile.Card
	cpuCard  *profile.Card
	table    *tabwriter.Writer
	right    [methods]tally
	onGPU    [methods]errorsOf
	onCPU    [methods]errorsOf
	wrong    []string
}

// The methods that are judged.
const (
	cards = iota
	calibrated
	methods
)

var methodNames = [methods]string{"cards alone", "with calibration runs"}

// tally counts right predictions of the faster side.
type tally struct {
	cases, right           int
	clearCases, clearRight int // in which one side is at least 1.1 times as fast
}

// errorsOf are the logarithms of predicted to measured times.
type errorsOf []float64

func (e *errorsOf) add(predicted, measured float64) { *e = append(*e, math.Log(predicted/measured)) }

// String describes the distribution.
func (e errorsOf) String() string {
	squares, within := 0.0, [3]int{}
	factors := [3]float64{1.1, 1.3, 2}
	for _, x := range e {
		squares += x * x
		for i, f := range factors {
			if math.Abs(x) <= math.Log(f) {
				within[i]++
			}
		}
	}
	n := float64(len(e))
	sorted := slices.Sorted(slices.Values(e))
	at := func(q float64) float64 { return math.Exp(sorted[int(q*(n-1))]) }
	text := fmt.Sprintf("predicted / measured: %.2f to %.2f, quartiles %.2f, %.2f, %.2f; off by a factor of %.2f (root of mean square);", at(0), at(1), at(0.25), at(0.5), at(0.75), math.Exp(math.Sqrt(squares/n)))
	for i, f := range factors {
		text += fmt.Sprintf(" %.0f %% within %.1f", 100*float64(within[i])/n, f)
		if i+1 < len(factors) {
			text += ","
		}
	}
	return text
}

// goal is the share of right predictions.
const goal = 0.95

func (j *judge) run(device string, w io.Writer) (err error) {
	for _, d := range []struct {
		id   string
		dev  **gpu.Device
		card **profile.Card
	}{{"cpu", &j.cpu, &j.cpuCard}, {device, &j.gpu, &j.gpuCard}} {
		if d.id == "none" {
			j.gpuCard = j.cpuCard // predictions need one
			continue
		}
		if *d.dev, err = gpu.Open(gpu.Config{Device: d.id}); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, (*d.dev).Close()) }()
		if *d.card, err = profile.MeasureCard(j.ctx, (*d.dev).DefaultStream(), nil); err != nil {
			return err
		}
	}
	j.table = tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	if j.gpu == nil {
		fmt.Fprintf(w, "%s\n\n", j.cpu.Name())
		fmt.Fprintln(j.table, "kernel\tsize\tCPU ms\tcards\tcalibrated\tbound\t")
	} else {
		fmt.Fprintf(w, "%s or %s\n\n", j.gpu.Name(), j.cpu.Name())
		fmt.Fprintln(j.table, "kernel\tsize\tGPU ms\tcards\tcalibrated\tCPU ms\tcards\tcalibrated\tfaster\tcards\tcalibrated\tbound\t")
	}
	begin := time.Now()
	for _, entry := range suite.All {
		if !j.only.MatchString(entry.Name) {
			continue
		}
		if time.Since(begin) > j.limit {
			j.wrong = append(j.wrong, fmt.Sprintf("%s: not judged, because %v have passed (-limit)", entry.Name, j.limit))
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
	if len(j.onCPU[cards]) == 0 {
		return errors.Join(errors.New("no case was judged"), errors.New(strings.Join(j.wrong, "\n")))
	}
	for i, name := range methodNames {
		fmt.Fprintf(w, "\n%s\n", name)
		if t := &j.right[i]; j.gpu != nil {
			fmt.Fprintf(w, "  faster side: %d of %d right (%.1f %%, goal %.0f %%); %d of the %d in which one side is 1.1 times as fast, %d of the %d others\n",
				t.right, t.cases, 100*float64(t.right)/float64(t.cases), 100*goal, t.clearRight, t.clearCases, t.right-t.clearRight, t.cases-t.clearCases)
			fmt.Fprintf(w, "  GPU, %v\n", j.onGPU[i])
		}
		fmt.Fprintf(w, "  CPU, %v\n", j.onCPU[i])
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
	config.Calibrate = []*gpu.Device{j.cpu}
	if j.gpu != nil {
		config.Calibrate = append(config.Calibrate, j.gpu)
	}
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
	at := slices.IndexFunc(a.Predictions, func(p profile.Prediction) bool { return p.Size == encode(z) })
	p := &a.Predictions[at]
	onCPU, err := j.measure(c, j.cpu, false)
	if err != nil {
		return err
	}
	j.onCPU[cards].add(p.CPU.Model, onCPU)
	j.onCPU[calibrated].add(p.CPU.Total, onCPU)
	if j.gpu == nil {
		fmt.Fprintf(j.table, "%s\t%.1f\t%.4g\t%.4g\t%.4g\t%s\t\n", entry.Name, float64(z), 1e3*onCPU, 1e3*p.CPU.Model, 1e3*p.CPU.Total, p.CPU.Bound)
		return nil
	}
	onGPU, err := j.measure(c, j.gpu, true)
	if err != nil {
		return err
	}
	j.onGPU[cards].add(p.GPU.Model, onGPU)
	j.onGPU[calibrated].add(p.GPU.Total, onGPU)
	faster := func(gpu, cpu float64) string {
		if gpu < cpu {
			return "gpu"
		}
		return "cpu"
	}
	truth := faster(onGPU, onCPU)
	said := [methods]string{faster(p.GPU.Model, p.CPU.Model), faster(p.GPU.Total, p.CPU.Total)}
	for i := range said {
		t := &j.right[i]
		right := said[i] == truth
		t.cases++
		if right {
			t.right++
		} else {
			said[i] += " WRONG"
		}
		if max(onCPU/onGPU, onGPU/onCPU) > 1.1 {
			t.clearCases++
			if right {
				t.clearRight++
			}
		}
	}
	fmt.Fprintf(j.table, "%s\t%.1f\t%.4g\t%.4g\t%.4g\t%.4g\t%.4g\t%.4g\t%s\t%s\t%s\t%s, %s\t\n", entry.Name, float64(z),
		1e3*onGPU, 1e3*p.GPU.Model, 1e3*p.GPU.Total, 1e3*onCPU, 1e3*p.CPU.Model, 1e3*p.CPU.Total, truth, said[cards], said[calibrated], p.GPU.Bound, p.CPU.Bound)
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

// measure returns the time in seconds of the launch, and with transfers of the copies: the lower
// quartile of several runs.
func (j *judge) measure(c *suite.Case, d *gpu.Device, transfers bool) (seconds float64, err error) {
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
	return list[len(list)/4], nil
}
