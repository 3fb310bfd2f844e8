package profile

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"quern.dev/gpu"
	"quern.dev/internal/driver"
)

// OccupancyRow is the occupancy of a multiprocessor for one block size.
type OccupancyRow struct {
	Block   int // threads per block
	Blocks  int // resident blocks; 0 if such a block does not fit
	Threads int // resident threads, in whole warps
	// Limit is what limits the number of blocks: "threads", "blocks", "registers" or "shared
	// memory".
	Limit string
}

// OccupancyTable is the theoretical occupancy of a kernel for each block size: how many
// threads are resident on a multiprocessor at once, if there are enough blocks. Many resident
// threads hide the latency of memory; a kernel that is fast with few is as good.
type OccupancyTable struct {
	Kernel       string // "" if only its resources were given
	Architecture string // "sm_90", or the name of a device that is not an NVIDIA GPU
	Resources    KernelResources
	Most         int // resident threads of a multiprocessor
	Rows         []OccupancyRow
}

// KernelResources are the resources that determine the occupancy.
type KernelResources struct {
	Registers int // per thread
	Shared    int // bytes of shared memory per block, static and dynamic
}

// Ratio returns the share of the possible threads that are resident.
func (t *OccupancyTable) Ratio(r OccupancyRow) float64 {
	if t.Most == 0 {
		return 0
	}
	return float64(r.Threads) / float64(t.Most)
}

// blockStep is the difference between two block sizes: a warp.
const blockStep = 32

// Occupancy returns the occupancy of the kernel on a device, with dynamic bytes of dynamic
// shared memory per block. On a GPU the driver computes it. The CPU and the
// simulator answer for a GPU of compute capability 9.0, and ignore registers. A kernel that
// declares a block has one row.
func Occupancy(k *gpu.Kernel, d *gpu.Device, dynamic int) (OccupancyTable, error) {
	t, err := occupancy(k, d, dynamic)
	if err != nil {
		return OccupancyTable{}, fmt.Errorf("profile: occupancy: %w", err)
	}
	return t, nil
}

func occupancy(k *gpu.Kernel, d *gpu.Device, dynamic int) (t OccupancyTable, err error) {
	all, err := k.Resources(d)
	if err != nil {
		return t, err
	}
	if len(all) == 0 {
		return t, errors.New("the kernel has no code")
	}
	a := d.Attributes()
	t = OccupancyTable{Kernel: k.Name(), Architecture: d.Name(), Most: a.ThreadsPerMultiprocessor}
	if major, minor := d.ComputeCapability(); major > 0 {
		t.Architecture = fmt.Sprintf("sm_%d%d", major, minor)
	}
	// Launches choose their block for the first variant of the general form whose threads
	// each run one thread of the kernel.
	base := slices.IndexFunc(all, func(r gpu.Resources) bool { return r.Variant != "coarse" && !strings.Contains(r.Variant, " ") })
	r := all[max(0, base)]
	t.Resources = KernelResources{Registers: r.Registers, Shared: r.Shared + dynamic}
	var first error
	for n := blockStep; n <= a.ThreadsPerBlock; n += blockStep {
		o, err := k.Occupancy(d, gpu.Dim3{X: n}, dynamic)
		if err != nil {
			first = errors.Join(first, err)
			continue
		}
		t.Rows = append(t.Rows, OccupancyRow{Block: n, Blocks: o.Blocks, Threads: o.Threads, Limit: o.Limit})
	}
	if len(t.Rows) > 0 {
		return t, nil
	}
	// The kernel declares a block of its own.
	_, block, err := k.Layout(d, gpu.Linear(1))
	if err != nil {
		return t, first
	}
	o, err := k.Occupancy(d, block, dynamic)
	if err != nil {
		return t, err
	}
	t.Rows = []OccupancyRow{{Block: block.X * block.Y * block.Z, Blocks: o.Blocks, Threads: o.Threads, Limit: o.Limit}}
	return t, nil
}

// OccupancyFor returns the occupancy of a kernel with the given resources on an architecture,
// "sm_75" to "sm_121", without a GPU. quern vet -perf prints the registers of a kernel.
func OccupancyFor(architecture string, r KernelResources) (OccupancyTable, error) {
	list := driver.Architectures()
	at := slices.IndexFunc(list, func(i driver.Info) bool { return nameOf(&i) == architecture })
	if at < 0 {
		var names []string
		for i := range list {
			names = append(names, nameOf(&list[i]))
		}
		return OccupancyTable{}, fmt.Errorf("profile: occupancy: there is no architecture %q; use %s", architecture, strings.Join(names, ", "))
	}
	i := &list[at]
	const mostRegisters = 255
	switch {
	case r.Registers < 0 || r.Registers > mostRegisters:
		return OccupancyTable{}, fmt.Errorf("profile: occupancy: %d registers; want 0 to %d", r.Registers, mostRegisters)
	case r.Shared < 0 || r.Shared > i.Limits.SharedPerBlock:
		return OccupancyTable{}, fmt.Errorf("profile: occupancy: %d bytes of shared memory; want 0 to %d", r.Shared, i.Limits.SharedPerBlock)
	}
	t := OccupancyTable{Architecture: architecture, Resources: r, Most: i.Limits.ThreadsPerMultiprocessor}
	for n := blockStep; n <= i.Limits.ThreadsPerBlock; n += blockStep {
		blocks, limit := i.ResidentBlocks(r.Registers, n, r.Shared)
		t.Rows = append(t.Rows, OccupancyRow{Block: n, Blocks: blocks, Threads: blocks * n, Limit: limit})
	}
	return t, nil
}

func nameOf(i *driver.Info) string { return fmt.Sprintf("sm_%d%d", i.Major, i.Minor) }

// title names the table.
func (t *OccupancyTable) title() string {
	if t.Kernel != "" {
		return "Occupancy of " + t.Kernel + " on " + t.Architecture
	}
	return "Occupancy on " + t.Architecture
}

// describe lists the resources that are known.
func (r KernelResources) describe() string {
	var parts []string
	if r.Registers > 0 {
		parts = append(parts, fmt.Sprintf("%d registers per thread", r.Registers))
	}
	if r.Shared > 0 {
		parts = append(parts, fmt.Sprintf("%d bytes of shared memory per block", r.Shared))
	}
	return strings.Join(parts, ", ")
}

// WriteMarkdown writes a table.
func (t *OccupancyTable) WriteMarkdown(w io.Writer) error {
	rows := [][]string{{"block", "blocks", "threads", "occupancy", "limit"}}
	for _, r := range t.Rows {
		rows = append(rows, []string{
			strconv.Itoa(r.Block), strconv.Itoa(r.Blocks), strconv.Itoa(r.Threads), strconv.FormatFloat(100*t.Ratio(r), 'f', 1, 64) + " %", r.Limit,
		})
	}
	if _, err := io.WriteString(w, markdown(rows)); err != nil {
		return fmt.Errorf("profile: write occupancy: %w", err)
	}
	return nil
}
