package host

import "sync"

// Call runs one block of a kernel in the calling goroutine, repeatedly and with
// the same arguments. It is for kernels that take less time than starting a
// launch does. Only one goroutine may use it at a time.
type Call struct{ launch launch }

// NewCall prepares calls of f. The caller may change argument values in place
// between calls. Grid, Workers, Cooperative and Cluster are ignored.
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

// callRuns holds the Runs that all Calls share.
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

// Cancel ends a run at its next ordered load, or at the next iteration of a loop
// that may run for long. Run then returns a Failure with the cause. Cancel is
// safe for concurrent use.
func (c *Call) Cancel(cause error) { c.launch.cancel(cause) }
