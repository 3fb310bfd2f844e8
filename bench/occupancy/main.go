// Occupancy launches kernels of bench/parity once and prints what package profile says of
// each: the block, the registers and the shared memory of the form that runs, and the
// theoretical occupancy, calculated and by the driver. Nsight Compute says the same of the
// launches:
//
//	ncu --csv --metrics sm__maximum_warps_per_active_cycle_pct,launch__registers_per_thread \
//		bench-occupancy
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"os"
	"strings"

	"quern.dev/bench/parity/suite"
	"quern.dev/gpu"
	"quern.dev/profile"
)

// cases are kernels whose occupancy is limited by different resources.
var cases = []string{"saxpy", "transpose", "reduce", "histogram", "stencil", "convolve", "nbody", "mandelbrot", "tile_matmul", "register_matmul", "sha256", "lu4", "gemm64", "black_scholes"}

func main() {
	log.SetFlags(0)
	log.SetPrefix("occupancy: ")
	if err := run(context.Background()); err != nil {
		log.Print(err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	dev, err := gpu.Open(gpu.Config{Device: os.Getenv("DEVICE")})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	fmt.Println("kernel,block,shared,registers by variant,driver %,calculated % by variant")
	for _, entry := range suite.All {
		for _, name := range cases {
			if entry.Name != name {
				continue
			}
			if err := show(ctx, dev, entry.New(suite.CPU)); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

func show(ctx context.Context, dev *gpu.Device, c *suite.Case) error {
	s := dev.DefaultStream()
	b, err := c.Bind(s)
	if err != nil {
		return err
	}
	k := c.Kernel.Checked
	err = errors.Join(b.Reset(), b.Launch(k), s.Synchronize(ctx), b.Close())
	if err != nil {
		return err
	}
	_, block, err := k.Layout(dev, c.Grid)
	if err != nil {
		return err
	}
	threads := block.X * max(1, block.Y) * max(1, block.Z)
	driver, err := k.Occupancy(dev, block, 0)
	if err != nil {
		return err
	}
	all, err := k.Resources(dev)
	if err != nil {
		return err
	}
	major, minor := dev.ComputeCapability()
	var registers, shares []string
	for _, r := range all {
		registers = append(registers, fmt.Sprintf("%s=%d", r.Variant, r.Registers))
		table, err := profile.OccupancyFor(fmt.Sprintf("sm_%d%d", major, minor), profile.KernelResources{Registers: r.Registers, Shared: r.Shared})
		if err != nil {
			return err
		}
		row := table.Rows[(threads+31)/32-1]
		shares = append(shares, fmt.Sprintf("%.2f", 100*math.Min(1, table.Ratio(row))))
	}
	fmt.Printf("%s,%d,%d,%s,%.2f,%s\n", c.Name, threads, all[0].Shared, strings.Join(registers, " "), 100*driver.Ratio(), strings.Join(shares, " "))
	return nil
}
