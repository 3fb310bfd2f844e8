package ring

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// workerPool runs the blocks of local actors: one worker per processor, not counting
// workers in handlers that do not return. Workers are kept, because a new goroutine
// would have to grow its stack first.
//
// Each worker has a queue of its own, from which idle workers steal, and one block that
// it runs next: the first that the last block sent a message to. So two actors that
// answer each other stay on one processor, and nothing is shared between workers that
// have work. What others than workers ask for goes through the pool's queue.
type workerPool struct {
	mu      sync.Mutex // held while what follows is changed
	idle    []*worker
	idlers  atomic.Int32              // len(idle)
	working atomic.Int32              // workers, without those that are stuck
	limit   atomic.Int32              // of working: GOMAXPROCS when a worker last had nothing to do
	workers atomic.Pointer[[]*worker] // a list is never changed
	closed  bool

	shared blockQueue
}

// worker is a goroutine of a pool.
type worker struct {
	pool *workerPool
	wake chan struct{}

	next  *local     // only the worker itself looks at it
	runs  int        // of next in succession
	queue blockQueue // others steal from it
	turns int        // runs so far

	yields bool // other goroutines are to have their turn
	from   int  // worker to steal from first
}

// blockQueue is blocks in the order in which they came. Each is in at most one queue.
type blockQueue struct {
	mu          sync.Mutex
	first, last *local
	length      atomic.Int32
}

func (q *blockQueue) push(l *local) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.last == nil {
		q.first = l
	} else {
		q.last.next = l
	}
	q.last = l
	q.length.Add(1)
}

// pop returns the oldest block, nil if there is none.
func (q *blockQueue) pop() *local {
	if q.length.Load() == 0 {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.first
	if l == nil {
		return nil
	}
	if q.first = l.next; q.first == nil {
		q.last = nil
	}
	l.next = nil
	q.length.Add(-1)
	return l
}

// Fairness: a worker runs so many blocks in succession before it takes the oldest of its
// queue, and looks at the pool's queue first once in so many turns.
const (
	mostNext    = 64
	sharedTurns = 61
)

// add has a worker run l. w is the worker that asks for it, nil for other goroutines.
func (p *workerPool) add(l *local, w *worker) {
	switch {
	case w == nil:
		p.shared.push(l)
	case w.next == nil:
		w.next = l
		return
	default:
		w.queue.push(l)
	}
	p.wakeOne()
}

// again has the worker that has just run l run it once more, after what else it has.
// The block may wait for others, such as the handler of a host actor whose mailbox is
// full: they get the processor first.
func (w *worker) again(l *local) {
	w.queue.push(l)
	w.yields = true
	if w.next != nil || w.queue.length.Load() > 1 {
		w.pool.wakeOne()
	}
}

// wakeOne has one more worker look for blocks, if there can be one more. A worker
// that is about to sleep is among the idlers before it looks for the last time, so
// either it sees the block or it is seen here.
func (p *workerPool) wakeOne() {
	if p.idlers.Load() == 0 && p.working.Load() >= max(1, p.limit.Load()) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limit.Store(int32(runtime.GOMAXPROCS(0)))
	switch n := len(p.idle); {
	case p.closed:
	case n > 0:
		w := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.idlers.Add(-1)
		w.wake <- struct{}{}
	case p.working.Load() < p.limit.Load():
		p.start()
	}
}

// start begins a worker. p.mu is held.
func (p *workerPool) start() {
	w := &worker{pool: p, wake: make(chan struct{}, 1)}
	p.working.Add(1)
	p.replace(func(list []*worker) []*worker { return append(list, w) })
	go w.serve()
}

// replace changes the list of workers, which others read. p.mu is held.
func (p *workerPool) replace(change func([]*worker) []*worker) {
	var list []*worker
	if old := p.workers.Load(); old != nil {
		list = append(list, *old...)
	}
	list = change(list)
	p.workers.Store(&list)
}

// serve is the life of a worker.
func (w *worker) serve() {
	for {
		l := w.take()
		if l == nil {
			if l = w.sleep(); l == nil {
				return
			}
		}
		l.serve(w)
		if w.yields {
			w.yields = false
			runtime.Gosched()
		}
		if p := w.pool; p.working.Load() > p.limit.Load() && w.retire() {
			return
		}
	}
}

// take returns the block to run now, nil if there is none.
func (w *worker) take() *local {
	w.turns++
	if w.turns%sharedTurns == 0 {
		if l := w.pool.shared.pop(); l != nil {
			return l
		}
	}
	if l := w.next; l != nil {
		w.next = nil
		if w.runs++; w.runs <= mostNext {
			return l
		}
		w.queue.push(l)
	}
	w.runs = 0
	if l := w.queue.pop(); l != nil {
		return l
	}
	if l := w.pool.shared.pop(); l != nil {
		return l
	}
	return w.steal()
}

// steal takes a block of another worker.
func (w *worker) steal() *local {
	list := *w.pool.workers.Load()
	for range list {
		w.from++
		if victim := list[w.from%len(list)]; victim != w {
			if l := victim.queue.pop(); l != nil {
				return l
			}
		}
	}
	return nil
}

// sleep waits until there is a block, and returns it, or nil if the worker is to end.
func (w *worker) sleep() *local {
	p := w.pool
	for {
		p.mu.Lock()
		p.limit.Store(int32(runtime.GOMAXPROCS(0)))
		if p.closed {
			p.mu.Unlock()
			w.retire()
			return nil
		}
		p.idle = append(p.idle, w)
		p.idlers.Add(1)
		p.mu.Unlock()
		l := w.take() // what came before anybody could see that this worker is idle
		if l != nil && p.unidle(w) {
			return l
		}
		<-w.wake
		if l != nil {
			p.wakeOne() // in place of this worker, which has something else to do
			return l
		}
		if l = w.take(); l != nil {
			return l
		}
	}
}

// unidle takes a worker off the idle ones, and reports false if somebody is waking it.
func (p *workerPool) unidle(w *worker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, other := range p.idle {
		if other == w {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			p.idlers.Add(-1)
			return true
		}
	}
	return false
}

// retire ends a worker if there are too many, or the pool is closed, and leaves its
// blocks to others. It reports whether it did.
func (w *worker) retire() bool {
	p := w.pool
	p.mu.Lock()
	if !p.closed && p.working.Load() <= p.limit.Load() {
		p.mu.Unlock()
		return false
	}
	p.working.Add(-1)
	p.replace(func(list []*worker) []*worker {
		for i, other := range list {
			if other == w {
				return append(list[:i], list[i+1:]...)
			}
		}
		return list
	})
	p.mu.Unlock()
	if l := w.next; l != nil {
		w.next = nil
		p.shared.push(l)
	}
	for l := w.queue.pop(); l != nil; l = w.queue.pop() {
		p.shared.push(l)
	}
	p.wakeOne()
	return true
}

// lose notes that a worker is in a handler that does not return: another one takes its
// place.
func (p *workerPool) lose() {
	p.mu.Lock()
	p.working.Add(-1)
	if !p.closed && len(p.idle) == 0 {
		p.start()
	}
	p.mu.Unlock()
	p.wakeOne()
}

// find notes that a worker that was lost has returned.
func (p *workerPool) find() { p.working.Add(1) }

// close ends the workers that are idle, and the others when they are done.
func (p *workerPool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, w := range p.idle {
		w.wake <- struct{}{}
	}
	p.idle = nil
	p.idlers.Store(0)
}
