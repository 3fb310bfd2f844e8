// Package cut finds minimum cuts of graphs whose nodes are the pixels of an image, by the algorithm of Boykov and Kolmogorov
// (An Experimental Comparison of Min-Cut/Max-Flow Algorithms for Energy Minimization in Vision, 2004): two trees grow
// from the source and the sink until they meet, the path between them takes flow, and parts that lose their
// connection look for a new parent.
package cut

// Graph has a node for each pixel of an image, with edges to the four neighbors, and edges to a source and a sink.
type Graph struct {
	stride   int
	offset   [4]int     // of neighbors: right, left, below, above
	capacity [4][]int32 // what is left of the edges to the neighbors
	terminal []int32    // what is left of the edge from the source, or, negative, to the sink
	flow     int64

	tree     []uint8
	parent   []uint8 // direction, or one of the values below
	stamp    []int32 // when the distance was right
	distance []int32 // from the terminal
	time     int32
	active   []int32
	queued   []bool
	orphans  []int32
}

const (
	free uint8 = iota
	fromSource
	toSink
)

const (
	atTerminal uint8 = 4
	orphan     uint8 = 5
)

// New returns a graph without edges.
func New(width, height int) *Graph {
	g := &Graph{stride: width + 2} // a border of nodes without edges saves tests
	n := g.stride * (height + 2)
	g.offset = [4]int{1, -1, g.stride, -g.stride}
	for d := range g.capacity {
		g.capacity[d] = make([]int32, n)
	}
	g.terminal, g.stamp, g.distance = make([]int32, n), make([]int32, n), make([]int32, n)
	g.tree, g.parent, g.queued = make([]uint8, n), make([]uint8, n), make([]bool, n)
	return g
}

func (g *Graph) node(x, y int) int { return (y+1)*g.stride + x + 1 }

// Terminals sets the capacities of the edges from the source and to the sink.
func (g *Graph) Terminals(x, y int, source, sink int32) {
	g.terminal[g.node(x, y)] = source - sink
	g.flow += int64(min(source, sink))
}

// Right sets the capacity of the edges, in both directions, between a pixel and the one to the right.
func (g *Graph) Right(x, y int, capacity int32) { g.edge(g.node(x, y), 0, capacity) }

// Below sets the capacity of the edges, in both directions, between a pixel and the one below.
func (g *Graph) Below(x, y int, capacity int32) { g.edge(g.node(x, y), 2, capacity) }

func (g *Graph) edge(p, d int, capacity int32) {
	g.capacity[d][p] = capacity
	g.capacity[d^1][p+g.offset[d]] = capacity
}

// Cut computes the minimum cut once, and returns its capacity.
func (g *Graph) Cut() int64 {
	for p, c := range g.terminal {
		if c != 0 {
			g.tree[p] = fromSource
			if c < 0 {
				g.tree[p] = toSink
			}
			g.parent[p], g.distance[p] = atTerminal, 1
			g.activate(p)
		}
	}
	for head := 0; head < len(g.active); {
		p := int(g.active[head])
		if d, ok := g.grow(p); ok {
			g.augment(p, d)
			g.adopt()
			continue // p may meet others
		}
		g.queued[p] = false
		head++
		if head > 1<<16 && head > len(g.active)/2 {
			g.active = g.active[:copy(g.active, g.active[head:])]
			head = 0
		}
	}
	return g.flow
}

// Sink reports whether a pixel is on the side of the sink.
func (g *Graph) Sink(x, y int) bool { return g.tree[g.node(x, y)] == toSink }

func (g *Graph) activate(p int) {
	if !g.queued[p] {
		g.queued[p] = true
		g.active = append(g.active, int32(p))
	}
}

// left returns what is left, in the direction of the flow, of the edge between p, which is in the tree, and its neighbor
// in direction d.
func (g *Graph) left(tree uint8, p, d int) int32 {
	if tree == fromSource {
		return g.capacity[d][p]
	}
	return g.capacity[d^1][p+g.offset[d]]
}

// grow adds the neighbors of a node to its tree. It returns the direction in which it meets the other tree.
func (g *Graph) grow(p int) (int, bool) {
	tree := g.tree[p]
	if tree == free {
		return 0, false
	}
	for d := range 4 {
		if g.left(tree, p, d) == 0 {
			continue
		}
		q := p + g.offset[d]
		switch {
		case g.tree[q] == free:
			g.tree[q], g.parent[q] = tree, uint8(d^1)
			g.stamp[q], g.distance[q] = g.stamp[p], g.distance[p]+1
			g.activate(q)
		case g.tree[q] != tree:
			return d, true
		case g.stamp[q] <= g.stamp[p] && g.distance[q] > g.distance[p]+1:
			// A shorter way to the terminal.
			g.parent[q] = uint8(d ^ 1)
			g.stamp[q], g.distance[q] = g.stamp[p], g.distance[p]+1
		}
	}
	return 0, false
}

// augment sends as much flow as possible through the edge from p in direction d, where the trees meet.
func (g *Graph) augment(p, d int) {
	q := p + g.offset[d]
	if g.tree[p] == toSink {
		p, q, d = q, p, d^1
	}
	most := min(g.capacity[d][p], g.bottleneck(p), g.bottleneck(q))
	g.capacity[d][p] -= most
	g.capacity[d^1][q] += most
	g.push(p, most)
	g.push(q, most)
	g.flow += int64(most)
}

// bottleneck returns what is left between a node and its terminal.
func (g *Graph) bottleneck(p int) int32 {
	most := int32(1<<31 - 1)
	for ; g.parent[p] != atTerminal; p += g.offset[g.parent[p]] {
		most = min(most, g.toParent(p))
	}
	c := g.terminal[p]
	if c < 0 {
		c = -c
	}
	return min(most, c)
}

// toParent returns what is left of the edge between a node and its parent, in the direction of the flow.
func (g *Graph) toParent(p int) int32 {
	d := int(g.parent[p])
	if g.tree[p] == fromSource {
		return g.capacity[d^1][p+g.offset[d]]
	}
	return g.capacity[d][p]
}

// push sends flow between a node and its terminal. Nodes behind full edges become orphans.
func (g *Graph) push(p int, flow int32) {
	for g.parent[p] != atTerminal {
		d := int(g.parent[p])
		q := p + g.offset[d]
		if g.tree[p] == fromSource {
			g.capacity[d^1][q] -= flow
			g.capacity[d][p] += flow
		} else {
			g.capacity[d][p] -= flow
			g.capacity[d^1][q] += flow
		}
		if g.toParent(p) == 0 {
			g.leave(p)
		}
		p = q
	}
	if g.tree[p] == fromSource {
		g.terminal[p] -= flow
	} else {
		g.terminal[p] += flow
	}
	if g.terminal[p] == 0 {
		g.leave(p)
	}
}

func (g *Graph) leave(p int) {
	g.parent[p] = orphan
	g.orphans = append(g.orphans, int32(p))
}

// adopt finds parents for orphans, or makes them free.
func (g *Graph) adopt() {
	g.time++
	for head := 0; head < len(g.orphans); head++ { // nearest to the terminal first
		p := int(g.orphans[head])
		tree := g.tree[p]
		best, shortest := -1, int32(1<<31-1)
		for d := range 4 {
			q := p + g.offset[d]
			if g.tree[q] != tree || g.left(tree, q, d^1) == 0 {
				continue
			}
			if n, ok := g.rooted(q); ok && n < shortest {
				best, shortest = d, n
			}
		}
		if best >= 0 {
			g.parent[p] = uint8(best)
			g.stamp[p], g.distance[p] = g.time, shortest+1
			continue
		}
		for d := range 4 {
			q := p + g.offset[d]
			if g.tree[q] != tree {
				continue
			}
			if g.left(tree, q, d^1) > 0 {
				g.activate(q)
			}
			if g.parent[q] == uint8(d^1) {
				g.leave(q)
			}
		}
		g.tree[p] = free
	}
	g.orphans = g.orphans[:0]
}

// rooted returns the distance of a node from its terminal. It is false if there is an orphan on the way.
func (g *Graph) rooted(p int) (int32, bool) {
	n := int32(0)
	q := p
	for g.stamp[q] != g.time {
		switch g.parent[q] {
		case atTerminal:
			g.stamp[q], g.distance[q] = g.time, 1
			continue
		case orphan:
			return 0, false
		}
		q += g.offset[g.parent[q]]
		n++
	}
	n += g.distance[q]
	for q, d := p, n; g.stamp[q] != g.time; q, d = q+g.offset[g.parent[q]], d-1 {
		g.stamp[q], g.distance[q] = g.time, d
	}
	return n, true
}
