package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"quern.dev/ring"
)

// solver holds the actors of a graph.
type solver struct {
	vertices int
	actors   []*ring.Actor[message, ranks]
}

// maxParts is the maximum number of actors, chosen to fit on a GPU.
const maxParts = 128

// divide assigns every n-th vertex to each part and fills the parts' chunks.
func (g *graph) divide(o options, n int) ([]part, error) {
	parts := make([]part, n)
	for i := range parts {
		p := &parts[i]
		p.Parts, p.All, p.Damping, p.Limit = uint32(n), int64(len(g.edges)), o.damping, uint32(o.steps)
		p.Tolerance = int64(o.tolerance * one)
		p.Expected = uint32(n) // one summary from each part
	}
	rest := one - one/int64(len(g.edges))*int64(len(g.edges))
	for v, targets := range g.edges {
		p := &parts[v%n]
		local := p.Vertices
		if local == maxVertices {
			return nil, fmt.Errorf("%d vertices are too many for %d actors with room for %d each", len(g.edges), n, maxVertices)
		}
		p.Vertices++
		p.Degree[local] = uint32(len(targets))
		p.Rank[local] = one / p.All
		if v == 0 {
			p.Rank[local] += rest
		}
		if len(targets) == 0 {
			p.Dangling += p.Rank[local]
		}
		for _, to := range targets {
			if !p.edge(uint16(local), uint32(to%n), uint16(to/n)) {
				return nil, fmt.Errorf("%d edges are too many for %d actors with room for %d messages of %d edges each", g.size(), n, maxChunks, chunkEdges)
			}
		}
	}
	for _, p := range parts {
		for _, c := range p.Chunk[:p.Chunks] {
			parts[c.To].Expected++
		}
	}
	return parts, nil
}

// edge adds an edge to the latest chunk for the target's part, or to a new chunk.
// It reports whether there was room.
func (p *part) edge(source uint16, to uint32, target uint16) bool {
	i := p.Chunks
	for back := range min(p.Chunks, 2*p.Parts) { // older chunks are full or nearly full
		if c := &p.Chunk[p.Chunks-1-back]; c.To == to && c.Count < chunkEdges {
			i = p.Chunks - 1 - back
			break
		}
	}
	if i == p.Chunks {
		if p.Chunks == maxChunks {
			return false
		}
		p.Chunk[i].To = to
		p.Chunks++
	}
	c := &p.Chunk[i]
	c.Source[c.Count], c.Target[c.Count] = source, target
	c.Count++
	return true
}

// spawn creates the actors of a graph: the smallest number that has room for it.
func spawn(ctx context.Context, rt *ring.Runtime, g *graph, o options) (*solver, error) {
	var parts []part
	var err error
	least := max(2, (len(g.edges)+maxVertices-1)/maxVertices, (g.size()+maxChunks*chunkEdges-1)/(maxChunks*chunkEdges))
	for n := least; n <= maxParts; n++ {
		if parts, err = g.divide(o, n); err == nil {
			break
		}
	}
	if err != nil || parts == nil {
		return nil, errors.Join(err, fmt.Errorf("%d vertices with %d edges are too many for %d actors", len(g.edges), g.size(), maxParts))
	}
	peers, err := ring.NewGroup[message](rt, "parts")
	if err != nil {
		return nil, err
	}
	s := &solver{vertices: len(g.edges)}
	for i := range parts {
		parts[i].Peers = peers.Ref()
		a, err := SpawnRank(ctx, rt, ring.Options{Name: fmt.Sprintf("part-%d", i), State: parts[i]})
		if err != nil {
			return nil, err
		}
		if err := peers.Add(a); err != nil {
			return nil, err
		}
		s.actors = append(s.actors, a)
	}
	return s, nil
}

// result is the result of the computation.
type result struct {
	ranks         []float64
	steps         int
	sent, refused int64 // totals over all actors
	change        float64
}

// pollInterval is the time between two convergence checks.
const pollInterval = time.Millisecond

// run starts the actors, waits until the ranks have converged, and reads them.
func (s *solver) run(ctx context.Context) (*result, error) {
	for _, a := range s.actors {
		if err := a.Tell(ctx, message{Kind: start}); err != nil {
			return nil, err
		}
	}
	for _, a := range s.actors {
		for {
			r, err := a.Ask(ctx, message{Kind: read})
			if err != nil {
				return nil, err
			}
			if r.Converged != 0 {
				break
			}
			if err := s.failed(); err != nil {
				return nil, err
			}
			select {
			case <-time.After(pollInterval):
			case <-ctx.Done():
				return nil, fmt.Errorf("stopped before the ranks converged: %w", ctx.Err())
			}
		}
	}
	out := &result{ranks: make([]float64, s.vertices)}
	n := len(s.actors)
	for i, a := range s.actors {
		for first := 0; i+first*n < s.vertices; first += chunkEdges {
			r, err := a.Ask(ctx, message{Kind: read, From: uint32(first)})
			if err != nil {
				return nil, err
			}
			for k, v := range r.Rank {
				if at := i + (first+k)*n; at < s.vertices {
					out.ranks[at] = float64(v) / one
				}
			}
			if first == 0 {
				out.sent, out.refused = out.sent+r.Sent, out.refused+r.Refused
				out.steps, out.change = int(r.Step), float64(r.Change)/one
			}
		}
	}
	return out, nil
}

// failed returns an error if a part's handler has failed. The other parts would
// wait for its messages forever.
func (s *solver) failed() error {
	for _, a := range s.actors {
		if a.State() == ring.Failed {
			return fmt.Errorf("actor %s failed, and the others are waiting for it: %w", a.Name(), a.Info().Err)
		}
	}
	return nil
}

// converged reports whether the last step changed the ranks by no more than the
// tolerance.
func (r *result) converged(o options) bool { return r.change <= o.tolerance }

func (r *result) least() float64 { return slices.Min(r.ranks) }
func (r *result) most() float64  { return slices.Max(r.ranks) }

func (r *result) sum() (sum float64) {
	for _, v := range r.ranks {
		sum += v
	}
	return sum
}

// distance returns the sum of the absolute differences from other ranks.
func (r *result) distance(from []float64) (sum float64) {
	for i, v := range r.ranks {
		sum += math.Abs(v - from[i])
	}
	return sum
}
