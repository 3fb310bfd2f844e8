// Package workers runs tasks on a pool of goroutines, one per processor.
package workers

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Pool runs tasks on one worker per processor, not counting blocked workers. Workers are
// kept, because a new goroutine would have to grow its stack first. The zero Pool is
// ready to use.
//
// Each worker has its own queue, from which idle workers steal, and one task that it
// runs next: the first one that its last task added. Two tasks that add each other
// therefore stay on one processor, and busy workers share nothing. Tasks that other
// goroutines add go through the pool's queue.
type Pool struct {
	mu        sync.Mutex // guards changes of the fields below
	idle      []*Worker
	idleCount atomic.Int32              // len(idle)
	working   atomic.Int32              // workers that are not blocked
	limit     atomic.Int32              // maximum of working: GOMAXPROCS when a worker last had nothing to do
	workers   atomic.Pointer[[]*Worker] // the list is replaced, never changed
	closed    bool

	shared queue
}

// Task is a function to run. It is in at most one queue at a time.
type Task struct {
	Run  func(*Worker) // called by a worker
	next *Task         // in a queue
}

// Worker is a goroutine of a pool.
type Worker struct {
	pool *Pool
	wake chan struct{}

	next  *Task // used by the worker only
	runs  int   // consecutive runs of next
	queue queue // others steal from it
	turns int   // tasks run so far

	yields bool // let other goroutines run
	from   int  // worker to steal from first
}

// queue is a FIFO queue of tasks.
type queue struct {
	mu          sync.Mutex
	first, last *Task
	length      atomic.Int32
}

func (q *queue) push(t *Task) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.last == nil {
		q.first = t
	} else {
		q.last.next = t
	}
	q.last = t
	q.length.Add(1)
}

// pop removes and returns the oldest task, or nil.
func (q *queue) pop() *Task {
	if q.length.Load() == 0 {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	t := q.first
	if t == nil {
		return nil
	}
	if q.first = t.next; q.first == nil {
		q.last = nil
	}
	t.next = nil
	q.length.Add(-1)
	return t
}

// Fairness: a worker runs its next task at most mostNext times in a row before it
// takes the oldest task of its queue. Every sharedTurns tasks it polls the pool's
// queue first.
const (
	mostNext    = 64
	sharedTurns = 61
)

// Add runs a task on a worker. by is the calling worker, or nil for other goroutines.
func (p *Pool) Add(t *Task, by *Worker) {
	switch {
	case by == nil:
		p.shared.push(t)
	case by.next == nil:
		by.next = t
		return
	default:
		by.queue.push(t)
	}
	p.wakeOne()
}

// Again runs the worker's current task once more, after its other tasks. The task may
// be waiting for other goroutines, so these run first.
func (w *Worker) Again(t *Task) {
	w.queue.push(t)
	w.yields = true
	if w.next != nil || w.queue.length.Load() > 1 {
		w.pool.wakeOne()
	}
}

// wakeOne makes another worker search for tasks, if one is available. A worker counts
// as idle before its last poll and its sleep, so either it sees the task or it is seen
// here.
func (p *Pool) wakeOne() {
	if p.idleCount.Load() == 0 && p.working.Load() >= max(1, p.limit.Load()) {
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
		p.idleCount.Add(-1)
		w.wake <- struct{}{}
	case p.working.Load() < p.limit.Load():
		p.start()
	}
}

// start adds a worker. The caller holds p.mu.
func (p *Pool) start() {
	w := &Worker{pool: p, wake: make(chan struct{}, 1)}
	p.working.Add(1)
	p.replace(func(list []*Worker) []*Worker { return append(list, w) })
	go w.serve()
}

// replace replaces the list of workers, which others may be reading. The caller holds p.mu.
func (p *Pool) replace(change func([]*Worker) []*Worker) {
	var list []*Worker
	if old := p.workers.Load(); old != nil {
		list = append(list, *old...)
	}
	list = change(list)
	p.workers.Store(&list)
}

// serve runs tasks until the worker retires.
func (w *Worker) serve() {
	for {
		t := w.take()
		if t == nil {
			if t = w.sleep(); t == nil {
				return
			}
		}
		t.Run(w)
		if w.yields {
			w.yields = false
			runtime.Gosched()
		}
		if p := w.pool; p.working.Load() > p.limit.Load() && w.retire() {
			return
		}
	}
}

// take returns the task to run now, or nil.
func (w *Worker) take() *Task {
	w.turns++
	if w.turns%sharedTurns == 0 {
		if t := w.pool.shared.pop(); t != nil {
			return t
		}
	}
	if t := w.next; t != nil {
		w.next = nil
		if w.runs++; w.runs <= mostNext {
			return t
		}
		w.queue.push(t)
	}
	w.runs = 0
	if t := w.queue.pop(); t != nil {
		return t
	}
	if t := w.pool.shared.pop(); t != nil {
		return t
	}
	return w.steal()
}

// steal takes a task from another worker.
func (w *Worker) steal() *Task {
	list := *w.pool.workers.Load()
	for range list {
		w.from++
		if victim := list[w.from%len(list)]; victim != w {
			if t := victim.queue.pop(); t != nil {
				return t
			}
		}
	}
	return nil
}

// sleep waits for a task and returns it, or nil if the worker must end.
func (w *Worker) sleep() *Task {
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
		p.idleCount.Add(1)
		p.mu.Unlock()
		t := w.take() // in case a task was added before this worker counted as idle
		if t != nil && p.unidle(w) {
			return t
		}
		<-w.wake
		if t != nil {
			p.wakeOne() // instead of this worker, which is busy now
			return t
		}
		if t = w.take(); t != nil {
			return t
		}
	}
}

// unidle removes a worker from the idle list. It returns false if the worker is
// already being woken.
func (p *Pool) unidle(w *Worker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.idle, w)
	if i < 0 {
		return false
	}
	p.idle = slices.Delete(p.idle, i, i+1)
	p.idleCount.Add(-1)
	return true
}

// retire ends a worker if there are too many or the pool is closed, and hands its tasks
// to others. It reports whether it did.
func (w *Worker) retire() bool {
	p := w.pool
	p.mu.Lock()
	if !p.closed && p.working.Load() <= p.limit.Load() {
		p.mu.Unlock()
		return false
	}
	p.working.Add(-1)
	p.replace(func(list []*Worker) []*Worker {
		return slices.DeleteFunc(list, func(other *Worker) bool { return other == w })
	})
	p.mu.Unlock()
	if t := w.next; t != nil {
		w.next = nil
		p.shared.push(t)
	}
	for t := w.queue.pop(); t != nil; t = w.queue.pop() {
		p.shared.push(t)
	}
	p.wakeOne()
	return true
}

// Blocked records that the task of a worker does not return. Another worker replaces
// it.
func (p *Pool) Blocked() {
	p.mu.Lock()
	p.working.Add(-1)
	if !p.closed && len(p.idle) == 0 {
		p.start()
	}
	p.mu.Unlock()
	p.wakeOne()
}

// Unblocked records that the task of a blocked worker has returned.
func (p *Pool) Unblocked() { p.working.Add(1) }

// Close ends idle workers now and busy ones after their task.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, w := range p.idle {
		w.wake <- struct{}{}
	}
	p.idle = nil
	p.idleCount.Store(0)
}
