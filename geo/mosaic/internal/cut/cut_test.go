package cut

import (
	"math/rand/v2"
	"testing"
)

// reference is the maximum flow by augmenting along shortest paths (Edmonds and Karp), over a matrix of capacities.
func reference(c [][]int64, s, t int) (flow int64) {
	for {
		from := make([]int, len(c))
		for i := range from {
			from[i] = -1
		}
		from[s] = s
		for queue := []int{s}; len(queue) > 0; queue = queue[1:] {
			for v, left := range c[queue[0]] {
				if left > 0 && from[v] < 0 {
					from[v] = queue[0]
					queue = append(queue, v)
				}
			}
		}
		if from[t] < 0 {
			return flow
		}
		most := int64(1) << 62
		for v := t; v != s; v = from[v] {
			most = min(most, c[from[v]][v])
		}
		for v := t; v != s; v = from[v] {
			c[from[v]][v] -= most
			c[v][from[v]] += most
		}
		flow += most
	}
}

func TestCutsOfRandomGraphsAreMinimal(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for trial := range 400 {
		w, h := 1+r.IntN(7), 1+r.IntN(7)
		g := New(w, h)
		c := make([][]int64, w*h+2)
		for i := range c {
			c[i] = make([]int64, w*h+2)
		}
		s, sink := w*h, w*h+1
		type edge struct {
			a, b int
			c    int64
		}
		var edges []edge
		for y := range h {
			for x := range w {
				p := y*w + x
				a, b := int32(0), int32(0)
				switch r.IntN(4) {
				case 0:
					a = r.Int32N(50)
				case 1:
					b = r.Int32N(50)
				case 2:
					a, b = r.Int32N(20), r.Int32N(20)
				}
				g.Terminals(x, y, a, b)
				c[s][p], c[p][sink] = int64(a), int64(b)
				edges = append(edges, edge{s, p, int64(a)}, edge{p, sink, int64(b)})
				if x+1 < w {
					e := r.Int32N(20)
					g.Right(x, y, e)
					c[p][p+1], c[p+1][p] = int64(e), int64(e)
					edges = append(edges, edge{p, p + 1, int64(e)}, edge{p + 1, p, int64(e)})
				}
				if y+1 < h {
					e := r.Int32N(20)
					g.Below(x, y, e)
					c[p][p+w], c[p+w][p] = int64(e), int64(e)
					edges = append(edges, edge{p, p + w, int64(e)}, edge{p + w, p, int64(e)})
				}
			}
		}
		got, want := g.Cut(), reference(c, s, sink)
		side := func(p int) bool { return p == sink || p != s && g.Sink(p%w, p/w) }
		cut := int64(0)
		for _, e := range edges {
			if !side(e.a) && side(e.b) {
				cut += e.c
			}
		}
		if got != want || cut != want {
			t.Fatalf("graph %d, %d x %d: flow %d, cut %d; the maximum flow is %d", trial, w, h, got, cut, want)
		}
	}
}

func BenchmarkCut(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 400
	for b.Loop() {
		g := New(n, n)
		for y := range n {
			g.Terminals(0, y, 1<<20, 0)
			g.Terminals(n-1, y, 0, 1<<20)
			for x := range n {
				if x+1 < n {
					g.Right(x, y, 1+r.Int32N(400))
				}
				if y+1 < n {
					g.Below(x, y, 1+r.Int32N(400))
				}
			}
		}
		g.Cut()
	}
}
