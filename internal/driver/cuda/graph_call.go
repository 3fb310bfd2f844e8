package cuda

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/ebitengine/purego"

	"quern.dev/internal/driver"
)

// hostCalls are the functions that nodes of graphs call, by the number that the
// driver hands over: it must not hold Go pointers.
var (
	hostCalls    sync.Map // uintptr -> func()
	hostCallNext atomic.Uintptr
)

// hostCall is the C function that calls them, made once: a process can make a
// limited number.
var hostCall = sync.OnceValue(func() uintptr {
	return purego.NewCallback(func(number uintptr) uintptr {
		if f, ok := hostCalls.Load(number); ok {
			f.(func())()
		}
		return 0
	})
})

// callNode is CUDA_HOST_NODE_PARAMS.
type callNode struct {
	function, number uintptr
}

func (b *graphBuilder) call(n *driver.GraphNode, after []uintptr) (place, error) {
	number := hostCallNext.Add(1)
	f, failed := n.Call, b.exec.failed
	hostCalls.Store(number, func() {
		if err := f(); err != nil {
			failed(err)
		}
	})
	b.program.calls = append(b.program.calls, number)
	node, err := b.node(cuGraphAddHostNode, after, unsafe.Pointer(&callNode{hostCall(), number}))
	return place{last: []uintptr{node}}, err
}
