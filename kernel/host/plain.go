package host

import (
	"runtime"
	"sync"

	"quern.dev/kernel"
)

// Plain runs every block that r supplies by calling body for each thread, as
// kernel.Each does. body calls the kernel function itself, which is slower than
// the compiled form.
//
//	func quernPlainScale(r *host.Run) {
//		a, x := host.Value[float32](r, 0), host.Slice[float32](r, 1)
//		host.Plain(r, func(t kernel.Thread) { scale(t, a, x) })
//	}
func Plain(r *Run, body func(t kernel.Thread)) { r.runPlain(body, r.Next) }

// PlainBlock is Plain for the current block of r.
func PlainBlock(r *Run, body func(t kernel.Thread)) {
	left := true
	r.runPlain(body, func() bool {
		more := left
		left = false
		return more
	})
}

// runPlain runs the blocks to which next moves.
func (r *Run) runPlain(body func(t kernel.Thread), next func() bool) {
	if o := r.launch.output; o != nil {
		printing.enter(o)
		defer printing.leave()
	}
	blocks := r.blocks()
	defer func() {
		if r.plain == nil { // a block has failed, or was abandoned
			blocks.Stop()
		}
	}()
	blocks.Begin(r.GridDim, r.BlockDim, r.launch.dynamic, body)
	if r.member != nil {
		r.member.join(blocks)
	}
	for next() {
		blocks.Run(r.BlockIdx, r.SyncGrid, r.SyncCluster)
	}
	blocks.End()
	r.plain = blocks
}

// blocks returns the kernel.Blocks that runs plain blocks. It reuses that of an
// earlier launch unless it has failed. It is stopped when the Run becomes
// unreachable.
func (r *Run) blocks() *kernel.Blocks {
	if b := r.plain; b != nil {
		r.plain = nil
		return b
	}
	b := kernel.NewBlocks()
	runtime.AddCleanup(r, (*kernel.Blocks).Stop, b)
	return b
}

// join registers what runs the member's blocks. When all members of the team have
// joined, which is before their first block begins, their blocks form clusters.
func (m *member) join(blocks *kernel.Blocks) {
	m.team.mu.Lock()
	defer m.team.mu.Unlock()
	if m.team.plain == nil {
		m.team.plain = make([]*kernel.Blocks, len(m.members))
	}
	m.team.plain[m.rank] = blocks
	if m.team.joined++; m.team.joined == len(m.members) {
		kernel.Join(m.cluster, m.team.plain)
	}
}

// printing is the destination of kernel.Printf while plain kernels run. Printf
// cannot tell which launch its thread belongs to, so only one launch at a time
// may print; the others wait.
var printing printers

type printers struct {
	mu      sync.Mutex
	changed sync.Cond
	output  *Output
	workers int // running workers of its launch
}

// enter waits until o is the destination of kernel.Printf.
func (p *printers) enter(o *Output) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changed.L == nil {
		p.changed.L = &p.mu
	}
	for p.output != nil && p.output != o {
		p.changed.Wait()
	}
	if p.output == nil {
		p.output = o
		kernel.SetPrinter(o.add)
	}
	p.workers++
}

func (p *printers) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.workers--; p.workers == 0 {
		p.output = nil
		kernel.SetPrinter(nil)
		p.changed.Broadcast()
	}
}
