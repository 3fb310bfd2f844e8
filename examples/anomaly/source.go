package main

import (
	"context"
	"io"
	"time"
)

// sample is a reading of a sensor as it comes out of a source.
type sample struct {
	sensor  string
	value   float64
	strange bool // known to be an anomaly
}

// source is where readings come from.
type source interface {
	// read waits for one reading and takes with it as many as are there and batch
	// has room for. It returns how many; the error is [io.EOF] at the end.
	read(ctx context.Context, batch []sample) (int, error)
	// judged reports whether the source knows which readings are strange.
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

// paced returns a source that yields no more than so many readings a second, or
// the source itself if rate is 0.
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

// breath is the time between two batches, at least.
const breath = 500 * time.Microsecond

func (p *pacer) read(ctx context.Context, batch []sample) (int, error) {
	if p.begun.IsZero() {
		p.begun = time.Now()
	}
	due := func() int { return int(p.rate*time.Since(p.begun).Seconds() - p.taken) }
	for due() < 1 {
		wait := time.Duration((p.taken+1)/p.rate*float64(time.Second)) - time.Since(p.begun)
		select {
		case <-time.After(max(wait, breath)):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	n, err := p.source.read(ctx, batch[:min(len(batch), due())])
	p.taken += float64(n)
	return n, err
}
