package main

import (
	"errors"

	"quern.dev/gpu"
)

// graph changes an array with a new graph, which it also updates, and closes while it may
// still run.
func (c *chain) graph() (err error) {
	from, to, err := c.other()
	if err != nil || from == nil {
		return err
	}
	seed := c.random.Uint32()
	mix := func(s *gpu.Stream) error {
		return LaunchMix(s, gpu.Linear(c.length), seed, from.buffer, to.buffer)
	}
	g, err := c.dev.Capture(func(s *gpu.Stream) error {
		return errors.Join(gpu.Zero(s, to.buffer), mix(s), gpu.Fill(s, to.buffer.Slice(0, 1), 1))
	})
	if err != nil {
		return err
	}
	e, err := g.Instantiate()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if c.random.IntN(2) == 0 {
		if err := e.Launch(c.stream); err != nil {
			return err
		}
		seed = c.random.Uint32()
		if err := e.Update(g.Nodes()[1], mix); err != nil {
			return err
		}
	}
	for i, v := range from.want {
		to.want[i] = mixed(v, seed, i)
	}
	to.want[0] = 1
	c.launches.Add(1)
	return e.Launch(c.stream)
}
