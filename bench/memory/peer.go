package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"time"

	"quern.dev/gpu"
)

func init() { register("peer", measurePeer) }

// peerBytes is the size of a copy between GPUs. It is so large that the link dominates the
// time.
const peerBytes = 1 << 30

// measurePeer measures copies between all pairs of GPUs, compared with CuPy's.
func measurePeer(r *run) error {
	devs, err := gpu.OpenAll(gpu.Config{Device: string(r.dev.Backend())})
	if err != nil {
		return err
	}
	err = copyBetween(r, devs, peerBytes)
	return errors.Join(err, gpu.CloseAll(devs))
}

func copyBetween(r *run, devs []*gpu.Device, bytes int) error {
	if len(devs) < 2 {
		fmt.Println("  one device: nothing to copy to")
		return nil
	}
	links := make([]float64, len(devs))
	for i, d := range devs {
		var n int
		if n, links[i] = linkSpeed(r.ctx, d); n > 0 {
			r.show(fmt.Sprintf("%s: speed of its %d links, each way", d.ID(), n), links[i], "GB/s")
		}
	}
	cupy, err := r.peer("peer.py", strconv.Itoa(len(devs)), strconv.Itoa(bytes))
	if err != nil {
		fmt.Printf("  without CuPy: %v\n", err)
	}
	p, err := newPairs(devs, bytes)
	if err != nil {
		return errors.Join(err, p.close())
	}
	for i := range devs {
		for j := range devs {
			if i == j {
				continue
			}
			speed, err := p.speed(r.ctx, [][2]int{{i, j}})
			if err != nil {
				return errors.Join(err, p.close())
			}
			name := fmt.Sprintf("%d to %d", i, j)
			how := "through host memory"
			if devs[i].Linked(devs[j]) {
				how = "linked"
			}
			r.show(fmt.Sprintf("%s (%s)", name, how), speed, "GB/s")
			if links[i] > 0 {
				r.show(name+" / speed of the links", speed/links[i], "")
			}
			if peer := cupy[name]; peer > 0 {
				r.atLeast(name+" / CuPy", speed/peer, 0.98, "")
			}
		}
	}
	both, err := p.speed(r.ctx, [][2]int{{0, 1}, {1, 0}})
	if err != nil {
		return errors.Join(err, p.close())
	}
	r.show("0 and 1, both ways at once", both, "GB/s")
	var ring [][2]int
	for i := range devs {
		ring = append(ring, [2]int{i, (i + 1) % len(devs)})
	}
	all, err := p.speed(r.ctx, ring)
	if err != nil {
		return errors.Join(err, p.close())
	}
	r.show(fmt.Sprintf("all %d, each to the next, together", len(devs)), all, "GB/s")
	return p.close()
}

// pairs holds a source and a destination on each device.
type pairs struct {
	devs     []*gpu.Device
	src, dst []*gpu.Buffer[uint32]
}

func newPairs(devs []*gpu.Device, bytes int) (*pairs, error) {
	p := &pairs{devs: devs}
	for i, d := range devs {
		for _, to := range []*[]*gpu.Buffer[uint32]{&p.src, &p.dst} {
			b, err := gpu.Alloc[uint32](d, bytes/4)
			if err != nil {
				return p, err
			}
			*to = append(*to, b)
		}
		s := d.DefaultStream()
		if err := errors.Join(gpu.Fill(s, p.src[i], uint32(i+1)), s.Synchronize(context.Background())); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (p *pairs) close() error {
	var errs []error
	for _, list := range [][]*gpu.Buffer[uint32]{p.src, p.dst} {
		for _, b := range list {
			errs = append(errs, b.Close())
		}
	}
	return errors.Join(errs...)
}

// copiesInRow is the number of copies between two waits.
const copiesInRow = 8

// speed measures concurrent copies from the first device of each pair to the second, and
// returns their total in GB/s. It checks the copied data.
func (p *pairs) speed(ctx context.Context, copies [][2]int) (float64, error) {
	for _, c := range copies {
		s := p.devs[c[1]].DefaultStream()
		if err := errors.Join(gpu.Zero(s, p.dst[c[1]]), s.Synchronize(ctx)); err != nil {
			return 0, err
		}
	}
	took, err := median(5, func() error {
		for range copiesInRow {
			for _, c := range copies {
				if err := gpu.CopyPeer(p.devs[c[0]].DefaultStream(), p.dst[c[1]], p.src[c[0]]); err != nil {
					return err
				}
			}
		}
		for _, c := range copies {
			if err := p.devs[c[0]].DefaultStream().Synchronize(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for _, c := range copies {
		if err := p.check(ctx, c[0], c[1]); err != nil {
			return 0, err
		}
	}
	bytes := float64(len(copies)*copiesInRow) * 4 * float64(p.src[0].Len())
	return bytes / took.Seconds() / 1e9, nil
}

// check compares elements at the start, in the middle and at the end.
func (p *pairs) check(ctx context.Context, from, to int) error {
	const some = 1024
	n := p.dst[to].Len()
	got := make([]uint32, some)
	for _, at := range []int{0, n/2 - some/2, n - some} {
		if err := gpu.Download(ctx, p.devs[to].DefaultStream(), got, p.dst[to].Slice(at, at+some)); err != nil {
			return err
		}
		for i, v := range got {
			if v != uint32(from+1) {
				return fmt.Errorf("%d to %d: element %d is %d", from, to, at+i, v)
			}
		}
	}
	return nil
}

var linkLine = regexp.MustCompile(`Link \d+: ([0-9.]+) GB/s`)

// linkSpeed runs nvidia-smi and returns the number of a device's links to other GPUs and
// their total speed.
func linkSpeed(ctx context.Context, d *gpu.Device) (links int, speed float64) {
	if d.Backend() != gpu.CUDA {
		return 0, 0
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "nvidia-smi", "nvlink", "--status", "-i", d.ID()[len("cuda:"):]).Output()
	if err != nil {
		return 0, 0
	}
	for _, m := range linkLine.FindAllStringSubmatch(string(out), -1) {
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			continue
		}
		links, speed = links+1, speed+v
	}
	return links, speed
}
