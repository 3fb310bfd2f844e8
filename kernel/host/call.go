package host

import "sync"

// Call runs one block of a kernel in the calling goroutine, again and again with
// the same arguments: for kernels that take less time than the start of a launch
// does. It is used by one goroutine at a time.
type Call struct{ launch launch }

// NewCall prepares calls of f. The values of the arguments may be changed where
// they lie between calls; Grid, Workers, Cooperative and Cluster are ignored.
func NewCall(f Func, l *Launch) *Call {
	c := new(Call)
	own := &c.launch
	own.kernel, own.args = f, l.Args
	own.grid, own.block = filled(l.Grid), filled(l.Block)
	own.grid.X, own.grid.Y, own.grid.Z = 1, 1, 1
	own.blocks, own.chunk, own.workers = 1, 1, 1
	own.dynamic, own.output = l.DynamicShared, l.Output
	return c
}

// callRuns are Runs for calls, which share their memory.
var callRuns = sync.Pool{New: func() any { return new(Run) }}

// Run runs the block. It returns nil on success.
func (c *Call) Run() *Failure {
	l := &c.launch
	l.reset()
	r := callRuns.Get().(*Run)
	r.loads, r.called = 0, true
	r.work(l)
	callRuns.Put(r)
	return l.result()
}

// Cancel ends a run at the next iteration of a loop that may go on for long, or
// ordered load of memory. Run then returns a Failure with that cause. It may be
// called from any goroutine.
func (c *Call) Cancel(cause error) { c.launch.giveUp(cause) }
