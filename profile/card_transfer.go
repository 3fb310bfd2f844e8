package profile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"quern.dev/gpu"
	"quern.dev/profile/internal/kernels"
)

// Samples of a measurement by the host's clock.
const (
	hostFewest = 5
	hostMost   = 200
)

// host returns the median time of f in seconds, by the clock of the host.
func (m *measurer) host(f func() error) (float64, error) {
	if err := f(); err != nil {
		return 0, err
	}
	var list []float64
	for begin := time.Now(); len(list) < hostFewest || len(list) < hostMost && time.Since(begin) < m.span; {
		if err := context.Cause(m.ctx); err != nil {
			return 0, err
		}
		at := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		list = append(list, time.Since(at).Seconds())
	}
	slices.Sort(list)
	return max(quantile(list, 0.5), 1e-9), nil
}

// transferSizes are the sizes of copies between host and device in bytes.
func (m *measurer) transferSizes() []int {
	most := m.bounded(16<<20, 1)
	if m.gpu {
		most = m.bounded(256<<20, 1)
	}
	var list []int
	for n := 4 << 10; n <= most; n *= 4 {
		list = append(list, n)
	}
	return list
}

// transfers measures copies between host and device, from the call to the end of the wait.
func (m *measurer) transfers() (err error) {
	sizes := m.transferSizes()
	most := slices.Max(sizes)
	device, err := gpu.Alloc[byte](m.d, most)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, device.Close()) }()
	pinned, err := gpu.AllocHost[byte](m.d, most)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pinned.Close()) }()
	pageable := make([]byte, most)
	for i := range pageable {
		pageable[i] = byte(i)
	}
	if err := gpu.CopyIn(m.s, device, pageable); err != nil {
		return err
	}
	p := Pattern{Name: "transfer", Title: "Copies between host and device", Axis: "size", Unit: "B/s"}
	for _, n := range sizes {
		p.Labels = append(p.Labels, size(n))
	}
	t := &m.c.Transfer
	for _, kind := range []struct {
		name string
		to   *Rate
		copy func(n int) error
	}{
		{"pinned to device", &t.PinnedIn, func(n int) error { return gpu.CopyInAsync(m.s, device.Slice(0, n), pinned.Slice(0, n)) }},
		{"pinned from device", &t.PinnedOut, func(n int) error { return gpu.CopyOutAsync(m.s, pinned.Slice(0, n), device.Slice(0, n)) }},
		{"pageable to device", &t.PageableIn, func(n int) error { return gpu.CopyIn(m.s, device.Slice(0, n), pageable[:n]) }},
		{"pageable from device", &t.PageableOut, func(n int) error { return gpu.Download(m.ctx, m.s, pageable[:n], device.Slice(0, n)) }},
	} {
		line := Line{Name: kind.name}
		for _, n := range sizes {
			seconds, err := m.host(func() error {
				if err := kind.copy(n); err != nil {
					return err
				}
				return m.s.Synchronize(m.ctx)
			})
			if err != nil {
				return fmt.Errorf("%s: %w", kind.name, err)
			}
			line.Values = append(line.Values, float64(n)/seconds)
			kind.to.Points = append(kind.to.Points, Point{float64(n), seconds})
		}
		kind.to.Fixed = kind.to.Points[0].Seconds
		kind.to.Bandwidth = line.Values[len(line.Values)-1]
		p.Lines = append(p.Lines, line)
	}
	m.c.Patterns = append(m.c.Patterns, p)
	return nil
}

// peerBytes is the size of a copy between two GPUs.
const peerBytes = 256 << 20

// peers measures copies to and from each other GPU. With one GPU, it does nothing.
func (m *measurer) peers() error {
	if !m.gpu {
		return nil
	}
	p := Pattern{Name: "peer", Title: "Copies between " + m.d.ID() + " and other GPUs, " + size(peerBytes), Axis: "other GPU", Unit: "B/s", Lines: []Line{{Name: "to"}, {Name: "from"}}}
	for _, i := range gpu.Devices() {
		if i.Backend != gpu.CUDA || i.Err != nil || i.ID == m.d.ID() {
			continue
		}
		to, from, linked, err := m.peer(i.ID)
		if err != nil {
			return fmt.Errorf("%s: %w", i.ID, err)
		}
		label := i.ID
		if !linked {
			label += " through the host"
		}
		p.Labels = append(p.Labels, label)
		p.Lines[0].Values = append(p.Lines[0].Values, to)
		p.Lines[1].Values = append(p.Lines[1].Values, from)
	}
	if len(p.Labels) > 0 {
		m.c.Patterns = append(m.c.Patterns, p)
	}
	return nil
}

// peer measures copies to and from another GPU in bytes per second.
func (m *measurer) peer(id string) (to, from float64, linked bool, err error) {
	other, err := gpu.Open(gpu.Config{Device: id})
	if err != nil {
		return 0, 0, false, err
	}
	defer func() { err = errors.Join(err, other.Close()) }()
	here, err := gpu.Alloc[byte](m.d, peerBytes)
	if err != nil {
		return 0, 0, false, err
	}
	defer func() { err = errors.Join(err, here.Close()) }()
	there, err := gpu.Alloc[byte](other, peerBytes)
	if err != nil {
		return 0, 0, false, err
	}
	defer func() { err = errors.Join(err, there.Close()) }()
	measure := func(dst, src *gpu.Buffer[byte]) (float64, error) {
		t, err := m.host(func() error {
			if err := gpu.CopyPeer(m.s, dst, src); err != nil {
				return err
			}
			return m.s.Synchronize(m.ctx)
		})
		return peerBytes / t, err
	}
	if to, err = measure(there, here); err != nil {
		return 0, 0, false, err
	}
	from, err = measure(here, there)
	return to, from, m.d.Linked(other), err
}

// launchesInARow is the number of launches over which the time of the host is averaged.
const launchesInARow = 200

// latencies measures launches, waits and a dependent read.
func (m *measurer) latencies() error {
	one := gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 32})
	var err error
	l := &m.c.Latency
	if l.Launch, err = m.launchTime(one); err != nil {
		return err
	}
	all := one
	if !m.gpu { // so that all cores take part
		all = gpu.Blocks(gpu.Dim3{X: 4 * m.c.Multiprocessors}, gpu.Dim3{X: 32})
	}
	if l.Wait, err = m.host(func() error {
		if err := kernels.LaunchEmpty(m.s, all); err != nil {
			return err
		}
		return m.s.Synchronize(m.ctx)
	}); err != nil {
		return err
	}
	if l.Kernel, err = m.least(m.config(0, true), func(s *gpu.Stream) error { return kernels.LaunchEmpty(s, one) }); err != nil {
		return err
	}
	if l.Memory, err = m.memoryLatency(); err != nil {
		return err
	}
	m.c.Patterns = append(m.c.Patterns, Pattern{
		Name: "latency", Title: "Latencies", Axis: "operation", Unit: "s",
		Labels: []string{"launch (host)", "launch and wait", "empty kernel", "read of memory", "4 KiB to device", "4 KiB from device"},
		Lines:  []Line{{Name: "time", Values: []float64{l.Launch, l.Wait, l.Kernel, l.Memory, m.c.Transfer.PinnedIn.Fixed, m.c.Transfer.PinnedOut.Fixed}}},
	})
	return nil
}

// launchTime returns the time of the host per launch.
func (m *measurer) launchTime(g gpu.Grid) (float64, error) {
	var list []float64
	for range hostFewest {
		at := time.Now()
		for range launchesInARow {
			if err := kernels.LaunchEmpty(m.s, g); err != nil {
				return 0, err
			}
		}
		list = append(list, time.Since(at).Seconds()/launchesInARow)
		if err := m.s.Synchronize(m.ctx); err != nil {
			return 0, err
		}
	}
	slices.Sort(list)
	return list[len(list)/2], nil
}

// memoryLatency returns the time of a read whose address is the result of the one before, in
// an array that is larger than the caches.
func (m *measurer) memoryLatency() (float64, error) {
	n, steps := m.bounded(1<<22, 4), 1<<12
	if m.gpu {
		n = m.bounded(1<<26, 4)
	}
	// A cycle through all elements with steps of about a golden section of the array.
	next := make([]int32, n)
	step := int(float64(n)*0.618) | 1
	for i := range next {
		next[i] = int32((i + step) & (n - 1))
	}
	chain, err := gpu.Upload(m.s, next)
	if err != nil {
		return 0, err
	}
	defer chain.Close()
	var t float64
	err = arrays(m, int32(0), func(l []*gpu.Buffer[int32]) error {
		t, err = m.least(m.config(0, false), func(s *gpu.Stream) error {
			return kernels.LaunchChase(s, gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 1}), steps, chain, l[0])
		})
		return err
	}, 1)
	return t / float64(steps), err
}

// rates measures what is left of Rates.
func (m *measurer) rates() error {
	g, threads := m.full()
	r := &m.c.Rates
	return arrays(m, uint32(0), func(l []*gpu.Buffer[uint32]) error {
		integers, err := m.opRate(func(steps int) error { return kernels.LaunchIntegers(m.s, g, steps, 3, l[0]) })
		if err != nil {
			return err
		}
		r.Integers = integers * float64(threads) * kernels.IntegerOperations
		floats, err := gpu.Alloc[float32](m.d, 1)
		if err != nil {
			return err
		}
		defer floats.Close()
		roots, err := m.opRate(func(steps int) error { return kernels.LaunchRoots(m.s, g, steps, 2, floats) })
		if err != nil {
			return err
		}
		r.Roots = roots * float64(threads) * kernels.Specials
		functions, err := m.opRate(func(steps int) error { return kernels.LaunchFunctions(m.s, g, steps, 2, floats) })
		if err != nil {
			return err
		}
		r.Functions = functions * float64(threads) * kernels.Specials
		marks, err := gpu.Alloc[int32](m.d, 1)
		if err != nil {
			return err
		}
		defer marks.Close()
		barriers, err := m.opRate(func(steps int) error { return kernels.LaunchBarriers(m.s, g, steps, marks) })
		if err != nil {
			return err
		}
		r.Barriers = barriers * float64(threads)
		// Each thread has a byte of its own: cores that write to the same lines wait for each other.
		many := 64 * threads
		bytes, err := gpu.Alloc[uint8](m.d, many)
		if err != nil {
			return err
		}
		defer bytes.Close()
		t, err := m.least(m.config(0, true), func(s *gpu.Stream) error { return kernels.LaunchTouch(s, grid(many), bytes) })
		r.Threads = float64(many) / t
		return err
	}, 1)
}

// opRate returns the steps per second of a launch whose number of steps is large enough.
func (m *measurer) opRate(launch func(steps int) error) (float64, error) {
	for steps := 4; ; steps *= 4 {
		c := m.config(0, true)
		c.MinTime, c.MaxTime = 1, 1
		t, err := m.least(c, func(*gpu.Stream) error { return launch(steps) })
		if err != nil {
			return 0, err
		}
		if t < m.span.Seconds()/20 && steps < 1<<16 {
			continue
		}
		t, err = m.least(m.config(0, true), func(*gpu.Stream) error { return launch(steps) })
		return float64(steps) / t, err
	}
}
