package host

import (
	"runtime"
	"slices"
	"sync"
	"time"

	"quern.dev/kernel"
)

// Launch is what Execute runs a kernel on.
type Launch struct {
	Grid, Block   kernel.Dim3 // a Y or Z of zero counts as one
	DynamicShared int         // bytes
	Args          *Args
	Workers       int     // at most; 0 is GOMAXPROCS
	Output        *Output // where kernels print; nil: to standard output

	// Interrupt gives the launch up, or is nil.
	Interrupt *Interrupt

	// Cooperative: all blocks run at the same time, so that they can wait for each
	// other in SyncGrid.
	Cooperative bool
	Cluster     kernel.Dim3 // blocks that run at the same time; X is zero if each runs alone
}

const (
	// A launch with fewer threads and slice elements than this starts on the
	// caller alone.
	smallLaunch = 1 << 13

	// patience is how long a launch that looked small may take before the other
	// workers are called in: some times what waking them costs.
	patience = 10 * time.Microsecond

	// chunksPerWorker balances workers that differ in speed against the cost of
	// drawing a ticket.
	chunksPerWorker = 8
)

// Execute runs f for every block of the grid and waits until all are done. It
// returns nil on success. It may be called from several goroutines at once; l
// and its arguments must not change meanwhile.
func Execute(f Func, l *Launch) *Failure {
	blocks := l.Grid.Count()
	if blocks <= 0 || l.Block.Count() <= 0 {
		return nil
	}
	if l.Cooperative || l.Cluster.X > 0 {
		return executeTogether(f, l, blocks)
	}
	r := workers.borrow()
	own := &r.own
	own.kernel, own.args = f, l.Args
	own.grid, own.block = filled(l.Grid), filled(l.Block)
	own.blocks, own.dynamic = blocks, l.DynamicShared
	own.output = l.Output
	own.workers = l.Workers
	if own.workers <= 0 {
		own.workers = runtime.GOMAXPROCS(0)
	}
	own.workers = min(own.workers, blocks)
	own.chunk = max(1, blocks/(own.workers*chunksPerWorker))
	own.reset()
	l.Interrupt.begin(own)

	r.canRecruit = own.workers > 1
	if r.canRecruit {
		if blocks*l.Block.Count()+l.Args.elements() < smallLaunch {
			r.began = time.Now()
		} else {
			r.canRecruit = false
			workers.recruit(own)
		}
	}
	r.work(own)
	l.Interrupt.end(own)
	return workers.giveBack(r)
}

func filled(d kernel.Dim3) kernel.Dim3 {
	return kernel.Dim3{X: d.X, Y: max(d.Y, 1), Z: max(d.Z, 1)}
}

// workers serves all launches of the process.
var workers = newPool()

// pool is worker goroutines and the launches that they can join.
type pool struct {
	mu       sync.Mutex
	started  int
	launches []*launch // that have recruited, oldest first
	wanted   sync.Cond // a launch has been added
	quiet    sync.Cond // a launch has lost its last helper
	idle     []*Run    // for callers of Execute
}

func newPool() *pool {
	p := new(pool)
	p.wanted.L, p.quiet.L = &p.mu, &p.mu
	return p
}

// borrow returns a Run for a goroutine that calls Execute.
func (p *pool) borrow() *Run {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		r := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return r
	}
	return new(Run)
}

// giveBack waits until every worker has left r's own launch, and returns how it
// ended.
func (p *pool) giveBack(r *Run) *Failure {
	l := &r.own
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.launches, l); i >= 0 {
		p.launches = slices.Delete(p.launches, i, i+1)
	}
	for l.helpers > 0 {
		p.quiet.Wait()
	}
	l.kernel, l.args, l.output = nil, nil, nil
	p.idle = append(p.idle, r)
	return l.result()
}

// keep takes back the Runs of a launch that has ended; more than there are cores
// are let go.
func (p *pool) keep(list []*Run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := runtime.GOMAXPROCS(0) - len(p.idle); n > 0 {
		p.idle = append(p.idle, list[:min(n, len(list))]...)
	}
}

// recruit calls other workers into l.
func (p *pool) recruit(l *launch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for ; p.started < l.workers-1; p.started++ {
		go p.serve()
	}
	p.launches = append(p.launches, l)
	for range l.workers - 1 {
		p.wanted.Signal()
	}
}

// serve is the life of a worker.
func (p *pool) serve() {
	r := new(Run)
	p.mu.Lock()
	for {
		l := p.open()
		if l == nil {
			p.wanted.Wait()
			continue
		}
		l.helpers++
		p.mu.Unlock()
		r.work(l)
		p.mu.Lock()
		if l.helpers--; l.helpers == 0 {
			p.quiet.Broadcast()
		}
	}
}

// open returns the oldest launch that a worker can join, nil if there is none.
func (p *pool) open() *launch {
	for _, l := range p.launches {
		if l.helpers < l.workers-1 && !l.finished() {
			return l
		}
	}
	return nil
}
