package main

import (
	"context"
	"io"
	"time"
)

// sample is a sensor reading from a source.
type sample struct {
	sensor  string
	value   float64
	strange bool // known anomaly
}

// source provides readings.
type source interface {
	// read waits for one reading and adds those that are already available, up to
	// the size of batch. It returns their number, and [io.EOF] at the end.
	read(ctx context.Context, batch []sample) (int, error)
	// judged reports whether the source marks known anomalies.
	judged() bool
	close() error
}

func openSource(opt options, stdin io.Reader) (source, error) {
	switch opt.in {
	case "":
		return paced(newScene(opt), opt.rate), nil
	case "-":
		return newTable("standard input", stdin, nil)
	default:
		return openTable(opt.in)
	}
}

// paced limits a source to rate readings per second. A rate of 0 means no
// limit.
func paced(src source, rate float64) source {
	if rate == 0 {
		return src
	}
	return &pacer{source: src, rate: rate}
}

type pacer struct {
	source
	rate  float64
	begun time.Time
	taken float64
}

// minWait is the minimum time between two batches.
const minWait = 500 * time.Microsecond

func (p *pacer) read(ctx context.Context, batch []sample) (int, error) {
	if p.begun.IsZero() {
		p.begun = time.Now()
	}
	due := func() int { return int(p.rate*time.Since(p.begun).Seconds() - p.taken) }
	for due() < 1 {
		wait := time.Duration((p.taken+1)/p.rate*float64(time.Second)) - time.Since(p.begun)
		select {
		case <-time.After(max(wait, minWait)):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	n, err := p.source.read(ctx, batch[:min(len(batch), due())])
	p.taken += float64(n)
	return n, err
}
