package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"quern.dev/gpu"
	"quern.dev/profile"
)

// Variable is the environment variable that has the request in JSON.
const Variable = "QUERN_PROBE"

// Request is what quern asks for.
type Request struct {
	Command string            `json:"command"` // "bench", "advise", "analyze" or "validate"
	Kernel  string            `json:"kernel"`
	Sizes   []int             `json:"sizes"`
	Args    map[string]string `json:"args,omitempty"` // see profile.Call
	Threads string            `json:"threads,omitempty"`
	Block   int               `json:"block,omitempty"`
	Device  string            `json:"device,omitempty"`
	GPUCard string            `json:"gpuCard,omitempty"` // file of the card of a GPU that is not here
	Pinned  bool              `json:"pinned,omitempty"`
	JSON    bool              `json:"json,omitempty"`
}

// Main answers the request in the environment and returns the exit code.
func Main(kernels ...*gpu.Kernel) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var r Request
	err := json.Unmarshal([]byte(os.Getenv(Variable)), &r)
	if err == nil {
		err = r.Run(ctx, os.Stdout, os.Stderr, kernels)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "quern: %v\n", err)
		return 1
	}
	return 0
}

// Run answers the request.
func (r *Request) Run(ctx context.Context, w, messages io.Writer, kernels []*gpu.Kernel) error {
	at := slices.IndexFunc(kernels, func(k *gpu.Kernel) bool { return k.Name() == r.Kernel })
	if at < 0 {
		var names []string
		for _, k := range kernels {
			names = append(names, k.Name())
		}
		return fmt.Errorf("the package has no kernel %s; it has %s", r.Kernel, strings.Join(names, ", "))
	}
	if len(r.Sizes) == 0 {
		return errors.New("no sizes")
	}
	call := profile.Call{Kernel: kernels[at], Args: r.Args, Threads: r.Threads, Block: r.Block}
	p := &probe{Request: r, ctx: ctx, w: w, messages: messages, call: call}
	commands := map[string]func() error{"bench": p.bench, "advise": p.advise, "analyze": p.analyze, "validate": p.validate}
	run := commands[r.Command]
	if run == nil {
		return fmt.Errorf("there is no command %q", r.Command)
	}
	err := run()
	if failed := (*gpu.KernelError)(nil); errors.As(err, &failed) {
		return fmt.Errorf("%w\n%s", err, madeUp)
	}
	return err
}

// madeUp explains a kernel that fails with arguments that do not fit it.
const madeUp = `The arguments are made up: slices have n elements, integers are n, floats 1.5, and there are n threads.
If the kernel needs others, name them, such as --arg w=512 --arg h=n/512 --threads 512,n/512 for a plane.`

// probe answers a request.
type probe struct {
	*Request
	ctx         context.Context
	w, messages io.Writer
	call        profile.Call
}

// writer is a result that can be written in both forms.
type writer interface {
	WriteJSON(w io.Writer) error
	WriteMarkdown(w io.Writer) error
}

func (p *probe) write(r writer) error {
	if p.JSON {
		return r.WriteJSON(p.w)
	}
	return r.WriteMarkdown(p.w)
}

// with opens a device.
func (p *probe) with(device string, f func(d *gpu.Device) error) (err error) {
	d, err := gpu.Open(gpu.Config{Device: device})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return f(d)
}

// card returns the saved card of a device, or measures and saves it.
func (p *probe) card(d *gpu.Device) (*profile.Card, error) {
	c, err := profile.SavedCard(d)
	if !errors.Is(err, profile.ErrNoCard) {
		return c, err
	}
	fmt.Fprintf(p.messages, "measuring %s, once for this machine and driver\n", d.ID())
	if c, err = profile.MeasureCard(p.ctx, d.DefaultStream(), nil); err != nil {
		return nil, err
	}
	if path, err := c.Save(); err != nil {
		fmt.Fprintf(p.messages, "the card was not saved: %v\n", err)
	} else {
		fmt.Fprintf(p.messages, "saved %s\n", path)
	}
	return c, nil
}

func (p *probe) bench() error {
	return p.with(p.Device, func(d *gpu.Device) error {
		var list profile.Results
		machine, err := profile.Measure(p.ctx, d.DefaultStream())
		if err != nil {
			return err
		}
		for _, n := range p.Sizes {
			r, err := p.benchSize(d, n)
			if err != nil {
				return err
			}
			if !r.Converged {
				fmt.Fprintf(p.messages, "%s: still noisy after the longest measurement; do other programs use the device?\n", r.Name)
			}
			r.Machine = machine
			list = append(list, r)
		}
		return p.write(list)
	})
}

// benchSize measures the kernel at a size. Bytes and operations are counted.
func (p *probe) benchSize(d *gpu.Device, n int) (r profile.Result, err error) {
	w := p.call.Workload()
	c := profile.BenchmarkConfig{Name: fmt.Sprintf("%s/n=%d", w.Name, n), Elements: int64(n)}
	if work, err := profile.Count(p.ctx, w, n); err == nil {
		c.Bytes, c.Flops = int64(work.ReadBytes+work.WrittenBytes), int64(work.Flops32)
		if work.Flops64 > work.Flops32 {
			c.Flops, c.Double = int64(work.Flops64), true
		}
	}
	i, err := w.Prepare(d.DefaultStream(), n)
	if err != nil {
		return r, fmt.Errorf("size %d: %w", n, err)
	}
	defer func() { err = errors.Join(err, i.Close()) }()
	return profile.Benchmark(p.ctx, d.DefaultStream(), c, i.Launch)
}

func (p *probe) advise() error {
	c := profile.AdviseConfig{Sizes: p.Sizes, Pinned: p.Pinned}
	if p.GPUCard != "" {
		var err error
		if c.GPU, err = readGPUCard(p.GPUCard); err != nil {
			return err
		}
	}
	return p.with("cpu", func(cpu *gpu.Device) (err error) {
		if c.CPU, err = p.card(cpu); err != nil {
			return err
		}
		c.Calibrate = append(c.Calibrate, cpu)
		advise := func() error {
			a, err := profile.Advise(p.ctx, p.call.Workload(), c)
			if err != nil {
				return err
			}
			return p.write(a)
		}
		if c.GPU != nil {
			return advise()
		}
		device := p.Device
		if device == "" {
			device = "cuda"
		}
		err = p.with(device, func(d *gpu.Device) (err error) {
			if d.Backend() != gpu.CUDA {
				return fmt.Errorf("%s is no GPU; advise compares a GPU with the CPU", d.ID())
			}
			if c.GPU, err = p.card(d); err != nil {
				return err
			}
			c.Calibrate = append(c.Calibrate, d)
			return advise()
		})
		if errors.Is(err, gpu.ErrNoDevice) {
			return fmt.Errorf("%w; without a GPU, name the card of one with --gpu-card (quern bench device --json writes it)", err)
		}
		return err
	})
}

// readGPUCard reads the card of a GPU from a file.
func readGPUCard(name string) (*profile.Card, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c, err := profile.ReadCard(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if c.Backend != string(gpu.CUDA) {
		return nil, fmt.Errorf("%s is the card of %s, which is no GPU; advise compares a GPU with the CPU", name, c.Device)
	}
	return c, nil
}

func (p *probe) analyze() error {
	return p.with("cpu", func(cpu *gpu.Device) error {
		host, err := p.card(cpu)
		if err != nil {
			return err
		}
		return p.with(p.Device, func(d *gpu.Device) error {
			card, err := p.card(d)
			if err != nil {
				return err
			}
			for _, n := range p.Sizes {
				a, err := profile.Analyze(p.ctx, p.call, n, d, cpu, card, host)
				if err != nil {
					return err
				}
				if err := p.write(a); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func (p *probe) validate() error {
	return p.with(p.Device, func(d *gpu.Device) error {
		other := "cpu"
		if d.Backend() == gpu.CPU {
			other = "sim" // which runs the GPU's code
		}
		return p.with(other, func(o *gpu.Device) error {
			v, err := profile.Validate(p.ctx, p.call, d, o, p.Sizes)
			if err != nil {
				return err
			}
			return p.write(v)
		})
	})
}
