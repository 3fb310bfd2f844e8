package cuda

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/ebitengine/purego"

	"quern.dev/internal/driver"
)

// hostCalls maps a number to the function that a graph node calls. The driver passes
// the number: it must not hold Go pointers.
var (
	hostCalls    sync.Map // uintptr -> func()
	hostCallNext atomic.Uintptr
)

// hostCall is the C callback that calls them. It is created once because a process can
// create only a limited number.
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
