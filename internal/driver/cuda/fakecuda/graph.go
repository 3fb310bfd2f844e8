package fakecuda

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"

	"quern.dev/internal/ptxvm"
)

// graph is a graph, and graphExec the executable graph made from one. The nodes of both
// are in the order in which they were added.
type (
	graph struct {
		nodes  []*node
		owned  []uintptr  // handles of conditions and bodies
		bodies []*uintptr // output arrays of conditional nodes
	}
	graphExec struct{ nodes []*node }

	// node is a graph node. Setting its parameters replaces its work.
	node struct {
		handle      uintptr
		kind        string
		cooperative bool
		run         work
	}
)

// condition is the object of a conditional handle.
type condition struct{ value uint32 }

func init() {
	register(map[string]entry{
		"cuGraphCreate":  {true, func(l *Library, a []uintptr) int { return l.add(a[0], new(graph)) }},
		"cuGraphDestroy": {true, destroyGraph},

		"cuGraphAddKernelNode":          {true, adder("kernel", kernelNode)},
		"cuGraphAddMemcpyNode":          {true, adder("memcpy", memcpyNode)},
		"cuGraphAddMemsetNode":          {true, adder("memset", memsetNode)},
		"cuGraphAddHostNode":            {true, adder("host", hostNode)},
		"cuGraphAddNode":                {true, adder("conditional", conditionalNode)},
		"cuGraphKernelNodeSetAttribute": {true, setNodeAttribute},

		"cuGraphConditionalHandleCreate": {true, newCondition},

		"cuGraphInstantiateWithFlags":    {true, instantiate},
		"cuGraphExecDestroy":             {true, destroy},
		"cuGraphExecKernelNodeSetParams": {true, setter("kernel", kernelNode)},
		"cuGraphExecMemcpyNodeSetParams": {true, setter("memcpy", memcpyNode)},
		"cuGraphExecMemsetNodeSetParams": {true, setter("memset", memsetNode)},
		"cuGraphLaunch":                  {true, launchGraph},
	})
}

// maker reads the parameters of a node at an address and returns its work, or nil if
// they are invalid.
type maker func(l *Library, g *graph, params uintptr) work

// work is the operation of a node.
type work func(l *Library, n *node) int

// adder returns a function that adds a node: (node*, graph, dependencies, their number,
// parameters).
func adder(kind string, parse maker) func(l *Library, a []uintptr) int {
	return func(l *Library, a []uintptr) int {
		g, ok := object[*graph](l, a[1])
		if !ok {
			return InvalidHandle
		}
		var seen []uintptr
		for i := range a[3] {
			h := *at[uintptr](a[2] + 8*i)
			known := slices.ContainsFunc(g.nodes, func(n *node) bool { return n.handle == h })
			if !known || slices.Contains(seen, h) {
				return InvalidValue
			}
			seen = append(seen, h)
		}
		run := parse(l, g, a[4])
		if run == nil {
			return InvalidValue
		}
		l.next += 16
		g.nodes = append(g.nodes, &node{handle: l.next, kind: kind, run: run})
		return set(a[0], l.next)
	}
}

// setter returns a function that replaces a node's parameters: (exec, node,
// parameters).
func setter(kind string, parse maker) func(l *Library, a []uintptr) int {
	return func(l *Library, a []uintptr) int {
		e, ok := object[*graphExec](l, a[0])
		if !ok {
			return InvalidHandle
		}
		i := slices.IndexFunc(e.nodes, func(n *node) bool { return n.handle == a[1] && n.kind == kind })
		if i < 0 {
			return InvalidValue
		}
		changed := *e.nodes[i]
		if changed.run = parse(l, nil, a[2]); changed.run == nil {
			return InvalidValue
		}
		e.nodes[i] = &changed
		return Success
	}
}

func setNodeAttribute(l *Library, a []uintptr) int {
	for _, o := range l.objects {
		g, ok := o.(*graph)
		if !ok {
			continue
		}
		for _, n := range g.nodes {
			if n.handle == a[0] && a[1] == 2 {
				n.cooperative = *at[int32](a[2]) != 0
				return Success
			}
		}
	}
	return InvalidValue
}

// newCondition creates a conditional handle of a graph.
func newCondition(l *Library, a []uintptr) int {
	g, ok := object[*graph](l, a[1])
	if !ok {
		return InvalidHandle
	}
	l.add(a[0], new(condition))
	g.owned = append(g.owned, l.next)
	return Success
}

func destroyGraph(l *Library, a []uintptr) int {
	g, ok := object[*graph](l, a[0])
	if !ok {
		return InvalidHandle
	}
	for _, handle := range g.owned {
		if _, ok := object[*graph](l, handle); ok {
			destroyGraph(l, []uintptr{handle})
		} else {
			l.remove(handle)
		}
	}
	return l.remove(a[0])
}

func instantiate(l *Library, a []uintptr) int {
	g, ok := object[*graph](l, a[1])
	if !ok {
		return InvalidHandle
	}
	return l.add(a[0], &graphExec{slices.Clone(g.nodes)})
}

func launchGraph(l *Library, a []uintptr) int {
	e, ok := object[*graphExec](l, a[0])
	if _, ok2 := object[stream](l, a[1]); !ok || !ok2 {
		return InvalidHandle
	}
	return runNodes(l, e.nodes)
}

func runNodes(l *Library, nodes []*node) int {
	for _, n := range nodes {
		if code := n.run(l, n); code != Success {
			return code
		}
	}
	return Success
}

// kernelNode reads a CUDA_KERNEL_NODE_PARAMS_v1. It copies the arguments.
func kernelNode(l *Library, _ *graph, params uintptr) work {
	f, ok := object[function](l, *at[uintptr](params))
	if !ok {
		return nil
	}
	dim := func(offset uintptr) (d [3]int) {
		for i := range d {
			d[i] = int(*at[uint32](params + offset + 4*uintptr(i)))
		}
		return d
	}
	grid, block, shared := dim(8), dim(20), int(*at[uint32](params + 32))
	pointers := *at[uintptr](params + 40)
	var args [][]byte
	for i, p := range f.Entry(f.name).Params {
		args = append(args, slices.Clone(bytes(*at[uintptr](pointers + 8*uintptr(i)), uintptr(p.Size))))
	}
	if f.name == conditionKernel {
		return func(l *Library, _ *node) int { return setCondition(l, args) }
	}
	return func(_ *Library, n *node) int {
		err := f.Launch(context.Background(), f.name, ptxvm.Config{
			Grid: grid, Block: block, DynamicShared: shared,
			Params: args, Cooperative: n.cooperative, Memory: ptxvm.NewDirectMemory(),
		})
		if _, ok := errors.AsType[*ptxvm.Fault](err); ok {
			return IllegalAddress
		}
		if err != nil {
			return InvalidValue
		}
		return Success
	}
}

// conditionKernel is the kernel that calls cudaGraphSetConditional. The library runs it
// itself: (handle, address of the value, control block).
const conditionKernel = "quern_condition"

func setCondition(l *Library, args [][]byte) int {
	word := func(i int) uintptr { return *(*uintptr)(unsafe.Pointer(unsafe.SliceData(args[i]))) }
	c, ok := object[*condition](l, word(0))
	if !ok {
		return InvalidHandle
	}
	c.value = *at[uint32](word(1))
	if *at[uint32](word(2)) != 0 {
		c.value = 0
	}
	return Success
}

// memcpyNode reads a CUDA_MEMCPY3D.
func memcpyNode(_ *Library, _ *graph, params uintptr) work {
	type side struct{ at, pitch, rows uintptr }
	read := func(from uintptr) (side, bool) {
		s := side{pitch: *at[uintptr](from + 72), rows: *at[uintptr](from + 80)}
		switch *at[uint32](from + 32) {
		case 1:
			s.at = *at[uintptr](from + 40)
		case 2:
			s.at = *at[uintptr](from + 48)
		}
		return s, s.at != 0
	}
	src, ok := read(params)
	dst, ok2 := read(params + 88)
	width, height, depth := *at[uintptr](params + 176), *at[uintptr](params + 184), *at[uintptr](params + 192)
	if !ok || !ok2 || width*height*depth == 0 || height > 1 && (src.pitch < width || dst.pitch < width) {
		return nil
	}
	return func(*Library, *node) int {
		for z := range depth {
			for y := range height {
				copy(bytes(dst.at+(z*dst.rows+y)*dst.pitch, width), bytes(src.at+(z*src.rows+y)*src.pitch, width))
			}
		}
		return Success
	}
}

// memsetNode reads a CUDA_MEMSET_NODE_PARAMS of one row.
func memsetNode(_ *Library, _ *graph, params uintptr) work {
	dst, value, size := *at[uintptr](params), *at[uint32](params + 16), uintptr(*at[uint32](params + 20))
	width := *at[uintptr](params + 24)
	if size != 1 && size != 2 && size != 4 || *at[uint64](params + 32) != 1 || dst%size != 0 {
		return nil
	}
	return func(*Library, *node) int {
		to := bytes(dst, width*size)
		for i := range to {
			to[i] = byte(value >> (8 * (uintptr(i) % size)))
		}
		return Success
	}
}

// hostNode reads a CUDA_HOST_NODE_PARAMS.
func hostNode(_ *Library, _ *graph, params uintptr) work {
	f, data := *at[uintptr](params), *at[uintptr](params + 8)
	return func(*Library, *node) int {
		purego.SyscallN(f, data)
		return Success
	}
}

// conditionalNode reads the CUgraphNodeParams of a conditional node.
func conditionalNode(l *Library, g *graph, params uintptr) work {
	c, ok := object[*condition](l, *at[uintptr](params + 16))
	if !ok || *at[uint32](params) != 13 || *at[uint32](params + 28) != 1 {
		return nil
	}
	loop := *at[uint32](params + 24) == 1
	body, handle := new(graph), new(uintptr)
	l.add(addressOf(handle), body)
	g.owned, g.bodies = append(g.owned, *handle), append(g.bodies, handle)
	*at[uintptr](params + 32) = addressOf(handle)
	return func(l *Library, _ *node) int {
		for c.value != 0 {
			if code := runNodes(l, body.nodes); code != Success || !loop {
				return code
			}
		}
		return Success
	}
}

// addressOf returns the address of what p points to, which must not move.
func addressOf[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// linked returns PTX without its calls of the driver's own functions, which the library
// runs itself.
func linked(ptx string) string {
	if !strings.Contains(ptx, "cudaGraphSetConditional") {
		return ptx
	}
	var kept []string
	for line := range strings.Lines(ptx) {
		switch word := strings.TrimSpace(line); {
		case strings.HasPrefix(word, ".extern .func"), strings.HasPrefix(word, ".param"),
			strings.HasPrefix(word, "st.param"), strings.HasPrefix(word, "call.uni"):
		default:
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}
