package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"quern.dev/gpu"
)

func init() { register("copy", measureCopies) }

// Copies move copySize bytes. Figures are medians of copyTimes copies.
const (
	copySize  = 512 << 20
	copyTimes = 15
)

// copies holds the memory that the section copies.
type copies struct {
	*run
	in, out              *gpu.Stream
	device, second       *gpu.Buffer[byte]
	pinned, secondPinned *gpu.HostBuffer[byte]
	pageable             []byte
	pinnedIn, pinnedOut  float64 // GB/s
}

func measureCopies(r *run) error {
	torch, err := r.peer("copy.py", strconv.Itoa(copySize), strconv.Itoa(copyTimes))
	if err != nil {
		fmt.Printf("  torch is not measured: %v\n", err)
	}
	c := &copies{run: r, in: r.dev.DefaultStream(), pageable: make([]byte, copySize)}
	for i := range c.pageable {
		c.pageable[i] = byte(i >> 12)
	}
	defer c.close()
	for _, step := range []func() error{
		c.open,
		func() error { return c.measurePinned(torch) },
		c.measureBothWays,
		func() error { return c.measurePageable(torch) },
		c.measureMapped,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (c *copies) open() error {
	var err error
	if c.out, err = c.dev.NewStream(c.ctx); err != nil {
		return err
	}
	for _, b := range []**gpu.Buffer[byte]{&c.device, &c.second} {
		if *b, err = gpu.Alloc[byte](c.dev, copySize); err != nil {
			return err
		}
	}
	for _, h := range []**gpu.HostBuffer[byte]{&c.pinned, &c.secondPinned} {
		if *h, err = gpu.AllocHost[byte](c.dev, copySize); err != nil {
			return err
		}
		copy((*h).Data(), c.pageable)
	}
	return nil
}

func (c *copies) close() {
	c.device.Close()
	c.second.Close()
	c.pinned.Close()
	c.secondPinned.Close()
	c.out.Close()
}

// rate returns the rate in GB/s at which f, including the wait for it, moves n bytes.
func (c *copies) rate(n float64, f func() error) (float64, error) {
	took, err := median(copyTimes, func() error {
		if err := f(); err != nil {
			return err
		}
		return c.dev.Synchronize(c.ctx)
	})
	return n / took.Seconds() / 1e9, err
}

func (c *copies) measurePinned(torch map[string]float64) error {
	var err error
	if c.pinnedIn, err = c.rate(copySize, func() error { return gpu.CopyInAsync(c.in, c.device, c.pinned) }); err != nil {
		return err
	}
	if c.pinnedOut, err = c.rate(copySize, func() error { return gpu.CopyOutAsync(c.in, c.pinned, c.device) }); err != nil {
		return err
	}
	c.show("pinned to the device", c.pinnedIn, "GB/s")
	c.show("device to pinned", c.pinnedOut, "GB/s")
	if torch != nil {
		c.show("torch: pinned to the device", torch["pinned in"], "GB/s")
		c.show("torch: device to pinned", torch["pinned out"], "GB/s")
		c.atLeast("pinned to the device, of torch", c.pinnedIn/torch["pinned in"], 0.98, "")
		c.atLeast("device to pinned, of torch", c.pinnedOut/torch["pinned out"], 0.98, "")
	}
	return nil
}

func (c *copies) measureBothWays() error {
	both, err := c.rate(2*copySize, func() error {
		if err := gpu.CopyInAsync(c.in, c.device, c.pinned); err != nil {
			return err
		}
		return gpu.CopyOutAsync(c.out, c.secondPinned, c.second)
	})
	if err != nil {
		return err
	}
	c.show("both ways at once", both, "GB/s")
	c.atLeast("both ways at once, of the faster way", both/max(c.pinnedIn, c.pinnedOut), 1.7, "")
	return nil
}

func (c *copies) measurePageable(torch map[string]float64) error {
	in, err := c.rate(copySize, func() error { return gpu.CopyIn(c.in, c.device, c.pageable) })
	if err != nil {
		return err
	}
	out, err := c.rate(copySize, func() error { return gpu.Download(c.ctx, c.in, c.pageable, c.device) })
	if err != nil {
		return err
	}
	c.show("Go slice to the device", in, "GB/s")
	c.show("device to Go slice", out, "GB/s")
	if torch != nil {
		c.show("torch: pageable to the device", torch["pageable in"], "GB/s")
		c.show("torch: device to pageable", torch["pageable out"], "GB/s")
	}
	c.atLeast("Go slice to the device, of pinned", in/c.pinnedIn, 0.80, "")
	c.atLeast("device to Go slice, of pinned", out/c.pinnedOut, 0.80, "")
	return nil
}

// measureMapped maps and copies a file that was just written, with a new mapping each
// time.
func (c *copies) measureMapped() error {
	dir, err := os.MkdirTemp("", "quern")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "data")
	if err := os.WriteFile(path, c.pageable, 0o600); err != nil {
		return err
	}
	rate, err := c.rate(copySize, func() error {
		m, err := gpu.OpenMapped[byte](path)
		if err != nil {
			return err
		}
		defer m.Close()
		return gpu.CopyIn(c.in, c.device, m.Data())
	})
	if err != nil {
		return err
	}
	c.show("mapped file to the device", rate, "GB/s")
	c.atLeast("mapped file to the device, of pinned", rate/c.pinnedIn, 0.5, "")
	return nil
}
