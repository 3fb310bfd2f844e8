package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"quern.dev/gpu"
)

// tolerance is the largest difference that a stage may show between two devices,
// with its unit.
type tolerance struct {
	limit float64
	unit  string
}

func levels(limit float64) tolerance    { return tolerance{limit, "levels of 255"} }
func intensity(limit float64) tolerance { return tolerance{limit, "of full intensity"} }
func pixels(limit int) tolerance        { return tolerance{float64(limit), "pixels per bin"} }

// difference is the difference between two results of a stage.
type difference struct {
	max, mean float64
	check     tolerance
}

func (d *difference) within() bool { return d.max <= d.check.limit }

// verify runs each stage on p and on the CPU device with the same input, and
// records the differences in stages.
func verify(ctx context.Context, p *pipeline, stages []measurement) (err error) {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	cpu, err := newPipeline(dev, p.opt, p.src)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cpu.close()) }()
	if err := cpu.upload(ctx); err != nil {
		return err
	}

	for i, stage := range p.stages {
		reference := cpu.stages[i]
		p.working.at("verify " + stage.name)
		if err := errors.Join(ctx.Err(), stage.launch(), reference.launch()); err != nil {
			return fmt.Errorf("%s: %w", stage.name, err)
		}
		d := &difference{check: stage.check}
		if stage.planes != nil {
			err = compare(ctx, d, p, stage.planes, cpu, reference.planes, apart)
		} else {
			differ := bytesApart
			if stage.words == p.counts {
				differ = countsApart
			}
			err = compare(ctx, d, p, stage.words, cpu, reference.words, differ)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", stage.name, err)
		}
		stages[i].difference = d
	}
	return nil
}

// compare records the difference between two buffers in d. It then copies the first
// to the second, so that both devices start the next stage with the same values.
func compare[T any](ctx context.Context, d *difference, p *pipeline, b *gpu.Buffer[T], cpu *pipeline, reference *gpu.Buffer[T], apart func(x, y T) float64) error {
	got, want := make([]T, b.Len()), make([]T, b.Len())
	if err := gpu.Download(ctx, p.stream, got, b); err != nil {
		return err
	}
	if err := gpu.Download(ctx, cpu.stream, want, reference); err != nil {
		return err
	}
	var sum float64
	for i := range got {
		e := apart(got[i], want[i])
		sum += e
		d.max = max(d.max, e)
	}
	d.mean = sum / float64(len(got))
	return gpu.CopyIn(cpu.stream, reference, got)
}

// apart returns the distance between x and y. It is infinite if only one of them is NaN.
func apart(x, y float32) float64 {
	switch {
	case x == y || x != x && y != y:
		return 0
	case x != x || y != y:
		return math.Inf(1)
	}
	return math.Abs(float64(x) - float64(y))
}

func countsApart(x, y uint32) float64 {
	return math.Abs(float64(x) - float64(y))
}

// bytesApart returns the largest difference of the four bytes of two pixels.
func bytesApart(x, y uint32) float64 {
	var most int
	for shift := 0; shift < 32; shift += 8 {
		d := int(x>>shift&0xff) - int(y>>shift&0xff)
		most = max(most, d, -d)
	}
	return float64(most)
}
