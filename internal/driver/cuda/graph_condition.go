package cuda

import (
	"runtime"
	"unsafe"

	"quern.dev/internal/driver"
)

// Functions of conditional nodes (CUDA 12.3).
var (
	cuGraphAddNode                 = optional("cuGraphAddNode")
	cuGraphConditionalHandleCreate = optional("cuGraphConditionalHandleCreate")
)

// nodeConditional is the type of conditional nodes (CUgraphNodeType).
const nodeConditional = 13

// Kinds of conditional nodes (CUgraphConditionalNodeType).
const (
	conditionalIf    = 0
	conditionalWhile = 1
)

// conditionalNode is CUgraphNodeParams of a conditional node. The type is followed by a
// union of 232 bytes.
type conditionalNode struct {
	kind        uint32
	reserved    [3]int32
	handle      uint64
	conditional uint32
	size        uint32   // number of bodies
	bodies      *uintptr // array of CUgraph owned and returned by the driver
	context     uintptr
	rest        [200]byte
	reserved2   int64
}

// conditionPTX sets a handle to a value in memory, or to zero once a kernel of the
// graph has failed, so that no loop waits for the work of a failed kernel. The driver
// provides the function cudaGraphSetConditional and links it when it compiles the
// module.
const conditionPTX = `.version 6.0
.target sm_50
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry quern_condition(.param .u64 quern_handle, .param .u64 quern_value, .param .u64 quern_fault)
{
	.reg .pred %p<2>;
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	.param .b64 handle;
	.param .b32 value;
	ld.param.u64 %rd1, [quern_handle];
	ld.param.u64 %rd2, [quern_value];
	ld.param.u64 %rd3, [quern_fault];
	ld.global.u32 %r1, [%rd2];
	ld.global.u32 %r2, [%rd3];
	setp.eq.u32 %p1, %r2, 0;
	selp.b32 %r3, %r1, 0, %p1;
	st.param.b64 [handle], %rd1;
	st.param.b32 [value], %r3;
	call.uni cudaGraphSetConditional, (handle, value);
	ret;
}
`

// conditionKernel returns the kernel that sets conditions.
func (d *device) conditionKernel() (*function, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.condition != nil {
		return d.condition, nil
	}
	f, err := d.Load(&driver.Kernel{Name: "quern_condition", PTX: conditionPTX})
	if err != nil {
		return nil, err
	}
	d.condition = f.(*function)
	return d.condition, nil
}

// conditional adds a node whose body runs depending on a value in memory: first a
// kernel that reads the value, then the node. The body of a loop ends with the same
// kernel.
func (b *graphBuilder) conditional(n *driver.GraphNode, after []uintptr) (place, error) {
	d := b.exec.dev
	if !d.api.has(cuGraphAddNode, cuGraphConditionalHandleCreate) {
		return place{}, unsupported("cuGraphConditionalHandleCreate", "conditional nodes need CUDA 12.3")
	}
	var handle uint64
	if err := d.call(cuGraphConditionalHandleCreate, uintptr(unsafe.Pointer(&handle)), b.graph, d.context, 0, 0); err != nil {
		return place{}, err
	}
	set, err := b.setCondition(handle, n.Cond.Addr, after)
	if err != nil {
		return place{}, err
	}
	params := &conditionalNode{kind: nodeConditional, handle: handle, size: 1, context: d.context}
	if n.Kind == driver.GraphWhile {
		params.conditional = conditionalWhile
	}
	node, err := b.node(cuGraphAddNode, []uintptr{set}, unsafe.Pointer(params))
	if err != nil {
		return place{}, err
	}
	inner := &graphBuilder{exec: b.exec, program: b.program, graph: *params.bodies}
	body, err := inner.body(n, nil)
	if err == nil && n.Kind == driver.GraphWhile {
		_, err = inner.setCondition(handle, n.Cond.Addr, unique(body.last))
	}
	return place{last: []uintptr{node}}, err
}

// setCondition adds the kernel that sets a handle to the value at an address.
func (b *graphBuilder) setCondition(handle, value uint64, after []uintptr) (uintptr, error) {
	f, err := b.exec.dev.conditionKernel()
	if err != nil {
		return 0, err
	}
	values := &[3]uint64{handle, value, b.exec.reports.slot.control}
	pointers := &[3]unsafe.Pointer{unsafe.Pointer(&values[0]), unsafe.Pointer(&values[1]), unsafe.Pointer(&values[2])}
	var pins runtime.Pinner
	defer pins.Unpin()
	pins.Pin(values)
	pins.Pin(pointers)
	return b.node(cuGraphAddKernelNode, after, unsafe.Pointer(&kernelParams{
		function: f.handle,
		grid:     [3]uint32{1, 1, 1},
		block:    [3]uint32{1, 1, 1},
		params:   unsafe.Pointer(pointers),
	}))
}
