package cuda

import (
	"runtime"
	"slices"
	"unsafe"

	"quern.dev/internal/driver"
)

var (
	cuGraphAddKernelNode          = optional("cuGraphAddKernelNode")
	cuGraphAddMemcpyNode          = optional("cuGraphAddMemcpyNode")
	cuGraphAddMemsetNode          = optional("cuGraphAddMemsetNode")
	cuGraphAddHostNode            = optional("cuGraphAddHostNode")
	cuGraphKernelNodeSetAttribute = optional("cuGraphKernelNodeSetAttribute")
)

// place records the driver nodes that a node became.
type place struct {
	node uintptr   // CUgraphNode, if the node became exactly one with its own parameters
	last []uintptr // CUgraphNodes that precede the nodes depending on it
}

// graphBuilder adds nodes to a driver graph, or to the body of a node.
type graphBuilder struct {
	exec    *graphExec
	program *program
	graph   uintptr // CUgraph

	// cooperative holds the last nodes of cooperative launches. Cooperative launches
	// run one after another, because they share a counter and need the whole device.
	cooperative []uintptr
}

// list adds nodes. Nodes without dependencies follow the nodes in before.
func (b *graphBuilder) list(nodes []driver.GraphNode, before []uintptr) ([]place, error) {
	places := make([]place, len(nodes))
	for i := range nodes {
		n := &nodes[i]
		after := before
		if len(n.After) > 0 {
			after = nil
			for _, j := range n.After {
				after = append(after, places[j].last...)
			}
		}
		if cooperative(n) {
			after = append(slices.Clone(after), b.cooperative...)
		}
		p, err := b.add(n, unique(after))
		if err != nil {
			return nil, nodeError(i, n.Kind, err)
		}
		if cooperative(n) {
			b.cooperative = p.last
		}
		places[i] = p
	}
	return places, nil
}

// unique returns the handles without duplicates, which the driver rejects.
func unique(handles []uintptr) []uintptr {
	if len(handles) < 2 {
		return handles
	}
	sorted := slices.Clone(handles)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}

// cooperative reports whether the blocks of the node's kernels wait for each other.
func cooperative(n *driver.GraphNode) bool {
	f, ok := n.Function.(*function)
	if ok && f.cooperative {
		return true
	}
	for i := range n.Body {
		if cooperative(&n.Body[i]) {
			return true
		}
	}
	return false
}

// add adds one node.
func (b *graphBuilder) add(n *driver.GraphNode, after []uintptr) (place, error) {
	switch n.Kind {
	case driver.GraphLaunch:
		return b.launch(n, after)
	case driver.GraphCopy, driver.GraphIn, driver.GraphOut:
		return one(b.node(cuGraphAddMemcpyNode, after, unsafe.Pointer(copyParams(n)), b.exec.dev.context))
	case driver.GraphBox:
		return b.box(n, after)
	case driver.GraphFill:
		if smallestUnit(n.Data) > 0 {
			return one(b.node(cuGraphAddMemsetNode, after, unsafe.Pointer(fillParams(n)), b.exec.dev.context))
		}
		return b.fill(n, after)
	case driver.GraphWrite:
		return b.write(n.Dst, n.Data, after)
	case driver.GraphCall:
		return b.call(n, after)
	case driver.GraphBody:
		return b.body(n, after)
	case driver.GraphIf, driver.GraphWhile:
		return b.conditional(n, after)
	default:
		return place{last: after}, nil
	}
}

func one(node uintptr, err error) (place, error) {
	return place{node: node, last: []uintptr{node}}, err
}

// node adds a node to the driver's graph, using a function that takes the parameters
// and possibly more arguments.
func (b *graphBuilder) node(add symbol, after []uintptr, params unsafe.Pointer, more ...uintptr) (uintptr, error) {
	var node uintptr
	args := [...]uintptr{0, b.graph, 0, uintptr(len(after)), 0, 0}
	var pins runtime.Pinner
	defer pins.Unpin()
	handle := new(uintptr)
	pins.Pin(handle)
	pins.Pin(params)
	args[0], args[4] = uintptr(unsafe.Pointer(handle)), uintptr(params)
	if len(after) > 0 {
		pins.Pin(&after[0])
		args[2] = uintptr(unsafe.Pointer(&after[0]))
	}
	n := 5 + copy(args[5:], more)
	err := b.exec.dev.handles(add, args[:n]...)
	node = *handle
	return node, err
}

// kernelParams is CUDA_KERNEL_NODE_PARAMS_v1.
type kernelParams struct {
	function    uintptr
	grid, block [3]uint32
	shared      uint32
	params      unsafe.Pointer // CUDA copies what these point to
	extra       uintptr
}

// kernelParams returns the parameters of a launch that reports to the graph.
func (g *graphExec) kernelParams(n *driver.GraphNode) (*kernelParams, error) {
	f, l := n.Function.(*function), n.Frame
	shared := l.Shared + f.placed
	if shared > 0 {
		if err := f.allowShared(shared); err != nil {
			return nil, err
		}
	}
	l.Control, l.Stated = g.reports.slot.control, uint32(l.Grid.X)
	blocks := l.Blocks()
	return &kernelParams{
		function: f.handle,
		grid:     [3]uint32{uint32(blocks.X), uint32(blocks.Y), uint32(blocks.Z)},
		block:    [3]uint32{uint32(l.Block.X), uint32(l.Block.Y), uint32(l.Block.Z)},
		shared:   uint32(shared),
		params:   unsafe.Pointer(unsafe.SliceData(l.Params)),
	}, nil
}

// attributeCooperative is the kernel node attribute CU_LAUNCH_ATTRIBUTE_COOPERATIVE.
// Its value is an int in a union of 64 bytes.
const attributeCooperative = 2

func (b *graphBuilder) launch(n *driver.GraphNode, after []uintptr) (place, error) {
	f, g := n.Function.(*function), b.exec
	params, err := g.kernelParams(n)
	if err != nil {
		return place{}, err
	}
	b.program.prints = b.program.prints || f.prints
	if f.cooperative {
		if err := g.reports.checkCooperative(f, n.Frame, int(params.shared)); err != nil {
			return place{}, err
		}
		clear := &driver.GraphNode{
			Dst:  driver.Memory{Addr: g.reports.slot.control + driver.ControlArrivals},
			Data: make([]byte, 8), Count: 1,
		}
		cleared, err := b.node(cuGraphAddMemsetNode, after, unsafe.Pointer(fillParams(clear)), g.dev.context)
		if err != nil {
			return place{}, err
		}
		after = []uintptr{cleared}
	}
	node, err := b.node(cuGraphAddKernelNode, after, unsafe.Pointer(params))
	runtime.KeepAlive(n.Frame)
	if err == nil && f.cooperative {
		value := [16]int32{1}
		err = g.dev.call(cuGraphKernelNodeSetAttribute, node, attributeCooperative, uintptr(unsafe.Pointer(&value)))
	}
	return one(node, err)
}

// copyParams returns the parameters of a copy.
func copyParams(n *driver.GraphNode) *copy3D {
	if b := n.Box; b != nil {
		return &copy3D{
			src: side3D(&b.Src), dst: side3D(&b.Dst),
			widthInBytes: uint64(b.Width), height: uint64(b.Height), depth: uint64(b.Depth),
		}
	}
	c := &copy3D{widthInBytes: uint64(n.Size), height: 1, depth: 1}
	c.src = copy3DSide{kind: memoryDevice, device: n.Src.Addr}
	c.dst = copy3DSide{kind: memoryDevice, device: n.Dst.Addr}
	switch n.Kind {
	case driver.GraphIn:
		c.src = copy3DSide{kind: memoryHost, host: n.Host}
	case driver.GraphOut:
		c.dst = copy3DSide{kind: memoryHost, host: n.Host}
	}
	return c
}

// box adds a copy of a box: one node, unless the row pitch exceeds the limit of GPU
// copies.
func (b *graphBuilder) box(n *driver.GraphNode, after []uintptr) (place, error) {
	c := n.Box
	if c.Dst.Pitch <= maxPitch && c.Src.Pitch <= maxPitch {
		return one(b.node(cuGraphAddMemcpyNode, after, unsafe.Pointer(copyParams(n)), b.exec.dev.context))
	}
	var all place
	err := c.Each(func(dst, src, size int64) error {
		piece := &driver.GraphNode{Dst: c.Dst.Memory.Offset(dst), Src: c.Src.Memory.Offset(src), Size: size}
		node, err := b.node(cuGraphAddMemcpyNode, after, unsafe.Pointer(copyParams(piece)), b.exec.dev.context)
		all.last = append(all.last, node)
		return err
	})
	return all, err
}

// fillNode is CUDA_MEMSET_NODE_PARAMS.
type fillNode struct {
	dst, pitch    uint64
	value, size   uint32
	width, height uint64
}

// fillParams returns the parameters of a fill whose pattern CUDA can repeat.
func fillParams(n *driver.GraphNode) *fillNode {
	unit := smallestUnit(n.Data)
	f := &fillNode{dst: n.Dst.Addr, size: uint32(unit), width: uint64(n.Count) * uint64(len(n.Data)/unit), height: 1}
	for i := range unit {
		f.value |= uint32(n.Data[i]) << (8 * i)
	}
	return f
}

// constant stores bytes in memory of the graph, for its nodes to copy.
func (b *graphBuilder) constant(data []byte) (driver.Memory, error) {
	d := b.exec.dev
	m, err := d.Alloc(int64(len(data)))
	if err != nil {
		return m, err
	}
	b.program.constants = append(b.program.constants, m.Addr)
	return m, b.exec.reports.CopyIn(m, unsafe.Pointer(unsafe.SliceData(data)), int64(len(data)))
}

// write stores data on the device once, now; each run copies it from there.
func (b *graphBuilder) write(dst driver.Memory, data []byte, after []uintptr) (place, error) {
	src, err := b.constant(data)
	if err != nil {
		return place{}, err
	}
	n := &driver.GraphNode{Kind: driver.GraphCopy, Dst: dst, Src: src, Size: int64(len(data))}
	node, err := b.node(cuGraphAddMemcpyNode, after, unsafe.Pointer(copyParams(n)), b.exec.dev.context)
	return place{last: []uintptr{node}}, err
}

// fill writes the start of the pattern, and then copies the written part until the
// memory is full.
func (b *graphBuilder) fill(n *driver.GraphNode, after []uintptr) (place, error) {
	total := n.Count * int64(len(n.Data))
	first := seed(n.Data, total)
	p, err := b.write(n.Dst, first, after)
	for done := int64(len(first)); done < total && err == nil; done *= 2 {
		c := &driver.GraphNode{Kind: driver.GraphCopy, Dst: n.Dst.Offset(done), Src: n.Dst, Size: min(done, total-done)}
		p.last[0], err = b.node(cuGraphAddMemcpyNode, []uintptr{p.last[0]}, unsafe.Pointer(copyParams(c)), b.exec.dev.context)
	}
	return p, err
}

// body adds the nodes of a graph nested in this one.
func (b *graphBuilder) body(n *driver.GraphNode, after []uintptr) (place, error) {
	places, err := b.list(n.Body, after)
	if err != nil || len(places) == 0 {
		return place{last: after}, err
	}
	var all place
	for i := range ends(n.Body) {
		all.last = append(all.last, places[i].last...)
	}
	return all, nil
}

// ends returns the nodes that no other node depends on.
func ends(nodes []driver.GraphNode) map[int]bool {
	list := make(map[int]bool, len(nodes))
	for i := range nodes {
		list[i] = true
	}
	for i := range nodes {
		for _, j := range nodes[i].After {
			delete(list, j)
		}
	}
	return list
}
