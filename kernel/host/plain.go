package host

import (
	"runtime"
	"sync"

	"quern.dev/kernel"
)

// Plain runs every block that r hands out by calling body for each of its
// threads, as kernel.Each does. body calls the kernel's function itself: that is
// slower than what the compiler makes of it, and the function is what runs.
//
//	func quernPlainScale(r *host.Run) {
//		a, x := host.Value[float32](r, 0), host.Slice[float32](r, 1)
//		host.Plain(r, func(t kernel.Thread) { scale(t, a, x) })
//	}
func Plain(r *Run, body func(t kernel.Thread)) { r.plainly(body, r.Next) }

// PlainBlock is Plain for the block that r is at.
func PlainBlock(r *Run, body func(t kernel.Thread)) {
	left := true
	r.plainly(body, func() bool {
		more := left
		left = false
		return more
	})
}

// plainly runs the blocks that next moves to.
func (r *Run) plainly(body func(t kernel.Thread), next func() bool) {
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

// blocks returns what runs plain blocks: that of an earlier launch, unless it has
// failed. It is stopped when nothing refers to the Run any more.
func (r *Run) blocks() *kernel.Blocks {
	if b := r.plain; b != nil {
		r.plain = nil
		return b
	}
	b := kernel.NewBlocks()
	runtime.AddCleanup(r, (*kernel.Blocks).Stop, b)
	return b
}

// join notes what runs the member's blocks. Once all members of the team have
// done so, which is before the first of their blocks begins, they are clusters.
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

// printing is where kernel.Printf prints while plain kernels run. It has no
// thread that would tell the launch, so the workers of one launch print at a
// time, and others that print wait.
var printing printers

type printers struct {
	mu      sync.Mutex
	changed sync.Cond
	output  *Output
	workers int // of its launch
}

// enter waits until o is where kernel.Printf prints.
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
