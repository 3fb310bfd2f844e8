package profile_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"quern.dev/gpu"
	"quern.dev/profile"
)

// scaleSource is a kernel for examples. Programs use kernels that quern gen has compiled.
const scaleSource = `package kernels

import "quern.dev/kernel"

//quern:kernel
func scale(t kernel.Thread, a float32, x, y []float32) {
	if i := t.Global(); i < len(y) {
		y[i] = a * x[i]
	}
}
`

// scaleCall compiles the kernel of scaleSource on a device.
func scaleCall(d *gpu.Device) profile.Call {
	k, err := d.Compile(context.Background(), scaleSource, "scale")
	if err != nil {
		log.Fatal(err)
	}
	return profile.Call{Kernel: k, Args: map[string]string{"a": "3"}}
}

func ExampleCount() {
	d, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	w, err := profile.Count(context.Background(), scaleCall(d).Workload(), 1<<16)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.0f bytes read, %.0f written, %.0f operations\n", w.ReadBytes, w.WrittenBytes, w.Flops32)
	// Output: 262144 bytes read, 262144 written, 65536 operations
}

func ExampleValidate() {
	cpu, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer cpu.Close()
	sim, err := gpu.Open(gpu.Config{Device: "sim"})
	if err != nil {
		log.Fatal(err)
	}
	defer sim.Close()
	v, err := profile.Validate(context.Background(), scaleCall(cpu), cpu, sim, []int{1000})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range v.Rows {
		fmt.Printf("%s: %d of %d numbers differ\n", r.Input, r.Different, r.Numbers)
	}
	// Output:
	// random: 0 of 1000 numbers differ
	// zeros: 0 of 1000 numbers differ
	// edges: 0 of 1000 numbers differ
}

// The cards of both devices are measured once per machine and driver.
func ExampleAdvise() {
	ctx := context.Background()
	card := func(device string) (*gpu.Device, *profile.Card) {
		d, err := gpu.Open(gpu.Config{Device: device})
		if err != nil {
			log.Fatal(err)
		}
		c, err := profile.SavedCard(d)
		if err != nil {
			if c, err = profile.MeasureCard(ctx, d.DefaultStream(), nil); err != nil {
				log.Fatal(err)
			}
		}
		return d, c
	}
	d, onGPU := card("cuda")
	defer d.Close()
	cpu, onCPU := card("cpu")
	defer cpu.Close()
	a, err := profile.Advise(ctx, scaleCall(d).Workload(), profile.AdviseConfig{
		GPU: onGPU, CPU: onCPU, Sizes: []int{1e3, 1e6, 1e8}, Calibrate: []*gpu.Device{d, cpu},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := a.WriteMarkdown(os.Stdout); err != nil {
		log.Fatal(err)
	}
}
