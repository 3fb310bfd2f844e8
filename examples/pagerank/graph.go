package main

import (
	"math"
	"math/rand/v2"
)

// graph holds the targets of the edges from each vertex.
type graph struct{ edges [][]int }

// emptiness is the share of vertices without an edge.
const emptiness = 0.05

// newGraph creates a synthetic graph. In a web, the targets of edges follow a
// power law, as links do; in a random graph they are distributed uniformly.
func newGraph(o options) *graph {
	r := rand.New(rand.NewPCG(o.seed, 1))
	g := &graph{make([][]int, o.vertices)}
	names := r.Perm(o.vertices) // so that neither hubs nor empty vertices are adjacent
	for v := range g.edges {
		if r.Float64() < emptiness {
			continue
		}
		for range 1 + r.IntN(2*o.degree-1) {
			place := r.Float64()
			if o.graph == "web" {
				place = math.Pow(place, 4)
			}
			g.edges[v] = append(g.edges[v], names[int(place*float64(o.vertices))])
		}
	}
	return g
}

func (g *graph) size() (n int) {
	for _, targets := range g.edges {
		n += len(targets)
	}
	return n
}

// reference computes the ranks in plain Go. Vertices without edges distribute
// their rank over all vertices.
func (g *graph) reference(o options) []float64 {
	n := float64(len(g.edges))
	ranks, next := make([]float64, len(g.edges)), make([]float64, len(g.edges))
	for v := range ranks {
		ranks[v] = 1 / n
	}
	for range o.steps {
		dangling := 0.0
		clear(next)
		for v, targets := range g.edges {
			if len(targets) == 0 {
				dangling += ranks[v]
			}
			for _, to := range targets {
				next[to] += ranks[v] / float64(len(targets))
			}
		}
		change := 0.0
		for v := range next {
			next[v] = (1-o.damping)/n + o.damping*(next[v]+dangling/n)
			change += math.Abs(next[v] - ranks[v])
		}
		ranks, next = next, ranks
		if change <= o.tolerance {
			break
		}
	}
	return ranks
}
