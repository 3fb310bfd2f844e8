package host

import (
	"runtime"
	"slices"
	"sync"
	"time"

	"quern.dev/kernel"
)

// Launch is the grid, arguments and options of one execution of a kernel.
type Launch struct {
	Grid, Block   kernel.Dim3 // a Y or Z of zero counts as one
	DynamicShared int         // bytes
	Args          *Args
	Workers       int     // maximum; 0 means GOMAXPROCS
	Output        *Output // destination of Printf; nil means standard output

	// Interrupt can cancel the launch. It may be nil.
	Interrupt *Interrupt

	// Cooperative runs all blocks at the same time, so that they can synchronize
	// in SyncGrid.
	Cooperative bool
	Cluster     kernel.Dim3 // extent of a cluster, in blocks; X is zero without clusters
}

const (
	// smallLaunch is the number of threads and slice elements below which a
	// launch starts on the caller alone.
	smallLaunch = 1 << 13

	// recruitDelay is how long a small launch may take before other workers join.
	// It is several times the cost of waking them.
	recruitDelay = 10 * time.Microsecond

	// chunksPerWorker is a compromise: more chunks balance workers of different
	// speeds better, but each chunk costs a ticket.
	chunksPerWorker = 8
)

// Execute runs f for every block of the grid and waits until all are done. It
// returns nil on success. It is safe for concurrent use; l and its arguments must
// not change during the call.
func Execute(f Func, l *Launch) *Failure {
	blocks := l.Grid.Count()
	if blocks <= 0 || l.Block.Count() <= 0 {
		return nil
	}
	if l.Cooperative || l.Cluster.X > 0 {
		return executeTogether(f, l, blocks)
	}
	r := workers.acquire()
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
	return workers.finish(r)
}

func filled(d kernel.Dim3) kernel.Dim3 {
	return kernel.Dim3{X: d.X, Y: max(d.Y, 1), Z: max(d.Z, 1)}
}

// workers serves all launches of the process.
var workers = newPool()

// pool is a worker pool and the launches that its workers can join.
type pool struct {
	mu       sync.Mutex
	started  int
	launches []*launch // open to workers, oldest first
	added    sync.Cond // a launch was added
	drained  sync.Cond // the last helper has left a launch
	idle     []*Run    // for callers of Execute
}

func newPool() *pool {
	p := new(pool)
	p.added.L, p.drained.L = &p.mu, &p.mu
	return p
}

// acquire returns a Run for a goroutine that calls Execute.
func (p *pool) acquire() *Run {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		r := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return r
	}
	return new(Run)
}

// finish waits until every worker has left r's own launch. It returns r to the
// pool, and the launch's result.
func (p *pool) finish(r *Run) *Failure {
	l := &r.own
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.launches, l); i >= 0 {
		p.launches = slices.Delete(p.launches, i, i+1)
	}
	for l.helpers > 0 {
		p.drained.Wait()
	}
	l.kernel, l.args, l.output = nil, nil, nil
	p.idle = append(p.idle, r)
	return l.result()
}

// release returns the Runs of a finished launch to the pool. The pool keeps at
// most one Run per core.
func (p *pool) release(list []*Run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := runtime.GOMAXPROCS(0) - len(p.idle); n > 0 {
		p.idle = append(p.idle, list[:min(n, len(list))]...)
	}
}

// recruit opens l to other workers and wakes them.
func (p *pool) recruit(l *launch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for ; p.started < l.workers-1; p.started++ {
		go p.serve()
	}
	p.launches = append(p.launches, l)
	for range l.workers - 1 {
		p.added.Signal()
	}
}

// serve is the loop of a worker.
func (p *pool) serve() {
	r := new(Run)
	p.mu.Lock()
	for {
		l := p.open()
		if l == nil {
			p.added.Wait()
			continue
		}
		l.helpers++
		p.mu.Unlock()
		r.work(l)
		p.mu.Lock()
		if l.helpers--; l.helpers == 0 {
			p.drained.Broadcast()
		}
	}
}

// open returns the oldest launch that a worker can join, or nil.
func (p *pool) open() *launch {
	for _, l := range p.launches {
		if l.helpers < l.workers-1 && !l.finished() {
			return l
		}
	}
	return nil
}
