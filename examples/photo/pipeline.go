package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"quern.dev/gpu"
)

// pipeline processes the picture on one device.
type pipeline struct {
	opt        options
	dev        *gpu.Device
	stream     *gpu.Stream
	src        picture
	rotation   rotation
	outW, outH int

	table, weights   *gpu.Buffer[float32]
	counts           *gpu.Buffer[uint32]
	curve            *gpu.Buffer[float32]
	source, result   *gpu.Buffer[uint32]  // packed pixels
	planes           *gpu.Buffer[float32] // the image
	blurred, scratch *gpu.Buffer[float32] // scratch holds the result of blurRows, then the rotated image

	stages  []stage
	working *progress // shows the current stage
	closers []io.Closer
}

// stage is one step of the pipeline.
type stage struct {
	name   string
	bytes  int // minimum traffic: each input read once, each output written once; 0 if small
	launch func() error
	// The output of the stage; one of the two is set.
	planes *gpu.Buffer[float32]
	words  *gpu.Buffer[uint32]
	check  tolerance
}

// newPipeline returns a pipeline with its buffers on dev.
func newPipeline(dev *gpu.Device, opt options, src picture) (*pipeline, error) {
	p := &pipeline{opt: opt, dev: dev, stream: dev.DefaultStream(), src: src}
	p.rotation, p.outW, p.outH = newRotation(src.w, src.h, opt.angle)
	if err := p.allocate(); err != nil {
		return nil, errors.Join(err, p.close())
	}
	p.stages = p.plan()
	return p, nil
}

func (p *pipeline) allocate() error {
	n, outN := p.src.w*p.src.h, p.outW*p.outH
	scratch, err := alloc[float32](p, 3*max(n, outN))
	if err != nil {
		return err
	}
	p.scratch = scratch
	for _, b := range []struct {
		buffer **gpu.Buffer[float32]
		n      int
	}{
		{&p.planes, 3 * n}, {&p.blurred, 3 * n}, {&p.curve, bins + 1},
	} {
		if *b.buffer, err = alloc[float32](p, b.n); err != nil {
			return err
		}
	}
	for _, b := range []struct {
		buffer **gpu.Buffer[uint32]
		n      int
	}{
		{&p.source, n}, {&p.result, outN}, {&p.counts, bins},
	} {
		if *b.buffer, err = alloc[uint32](p, b.n); err != nil {
			return err
		}
	}
	if p.table, err = upload(p, srgbTable()); err != nil {
		return err
	}
	p.weights, err = upload(p, gaussian(p.opt.sigma))
	return err
}

func alloc[T any](p *pipeline, n int) (*gpu.Buffer[T], error) {
	b, err := gpu.Alloc[T](p.dev, n)
	if err != nil {
		return nil, err
	}
	p.closers = append(p.closers, b)
	return b, nil
}

func upload[T any](p *pipeline, host []T) (*gpu.Buffer[T], error) {
	b, err := gpu.Upload(p.stream, host)
	if err != nil {
		return nil, err
	}
	p.closers = append(p.closers, b)
	return b, nil
}

// plan returns the stages. Equalization comes before rotation, so that the
// background neither affects it nor is changed by it.
func (p *pipeline) plan() []stage {
	s, opt := p.stream, p.opt
	w, h := p.src.w, p.src.h
	n, outN := w*h, p.outW*p.outH
	rowsOut, rotated := p.scratch.Slice(0, 3*n), p.scratch.Slice(0, 3*outN)
	const word, triple = 4, 12 // bytes of a packed pixel and of one on three planes

	rotate := LaunchRotateBilinear
	if opt.bicubic {
		rotate = LaunchRotateBicubic
	}
	var stages []stage
	if p.src.pixels == nil {
		stages = append(stages, stage{
			name: "render scene", bytes: n * word, words: p.source, check: levels(2),
			launch: func() error { return LaunchScene(s, gpu.Plane(w, h), w, h, p.source) },
		})
	}
	return append(stages,
		stage{
			name: "sRGB to linear", bytes: n * (word + triple), planes: p.planes, check: intensity(1e-6),
			launch: func() error {
				return LaunchToLinear(s, gpu.Linear(n), p.table, opt.background, p.source, p.planes)
			},
		},
		stage{
			name: "blur rows", bytes: n * 2 * triple, planes: rowsOut, check: intensity(1e-5),
			launch: func() error {
				return LaunchBlurRows(s, blurRowsGrid(w, h), p.weights, w, h, p.planes, rowsOut)
			},
		},
		stage{
			name: "blur columns", bytes: n * 2 * triple, planes: p.blurred, check: intensity(1e-5),
			launch: func() error {
				return LaunchBlurColumns(s, blurColumnsGrid(w, h), p.weights, w, h, rowsOut, p.blurred)
			},
		},
		stage{
			name: "unsharp mask", bytes: n * 3 * triple, planes: p.planes, check: intensity(1e-5 * (1 + opt.amount)),
			launch: func() error {
				return LaunchSharpen(s, gpu.Linear(3*n), float32(opt.amount), p.blurred, p.planes)
			},
		},
		stage{
			name: "histogram", bytes: n*triple + bins*word, words: p.counts, check: pixels(1 + n/1000),
			launch: func() error {
				if err := gpu.Zero(s, p.counts); err != nil {
					return err
				}
				return LaunchHistogram(s, histogramGrid(n), p.planes, p.counts)
			},
		},
		stage{
			name: "tone curve", planes: p.curve, check: intensity(1e-6),
			launch: func() error {
				return LaunchToneCurve(s, oneBlock(bins), float32(opt.strength), p.counts, p.curve)
			},
		},
		stage{
			name: "equalize", bytes: n * 2 * triple, planes: p.planes, check: intensity(1e-3),
			launch: func() error { return LaunchEqualize(s, gpu.Linear(n), p.curve, p.planes) },
		},
		stage{
			name: "rotate", bytes: (n + outN) * triple, planes: rotated, check: intensity(1e-4),
			launch: func() error {
				return rotate(s, gpu.Plane(p.outW, p.outH), p.rotation, opt.background, w, h, p.planes, p.outW, p.outH, rotated)
			},
		},
		stage{
			name: "linear to sRGB", bytes: outN * (triple + word), words: p.result, check: levels(1),
			launch: func() error { return LaunchToSRGB(s, gpu.Linear(outN), rotated, p.result) },
		},
	)
}

func oneBlock(threads int) gpu.Grid {
	return gpu.Blocks(gpu.Dim3{X: 1, Y: 1, Z: 1}, gpu.Dim3{X: threads, Y: 1, Z: 1})
}

// blurRowsGrid covers three planes of w x h pixels.
func blurRowsGrid(w, h int) gpu.Grid {
	return gpu.Blocks(
		gpu.Dim3{X: ceilDiv(w, rowTile), Y: h, Z: 3},
		gpu.Dim3{X: rowTile, Y: 1, Z: 1})
}

// blurColumnsGrid covers three planes of w x h pixels.
func blurColumnsGrid(w, h int) gpu.Grid {
	return gpu.Blocks(
		gpu.Dim3{X: ceilDiv(w, columnTileWidth), Y: ceilDiv(h, columnTileHeight), Z: 3},
		gpu.Dim3{X: columnTileWidth, Y: columnThreads, Z: 1})
}

// histogramGrid covers n pixels.
func histogramGrid(n int) gpu.Grid {
	return gpu.Blocks(
		gpu.Dim3{X: ceilDiv(n, histogramThreads*histogramRun), Y: 1, Z: 1},
		gpu.Dim3{X: histogramThreads, Y: 1, Z: 1})
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// upload copies the picture to the device.
func (p *pipeline) upload(ctx context.Context) error {
	if p.src.pixels == nil {
		return nil
	}
	if err := gpu.CopyIn(p.stream, p.source, p.src.pixels); err != nil {
		return err
	}
	return p.stream.Synchronize(ctx)
}

// download copies the result from the device.
func (p *pipeline) download(ctx context.Context) (picture, error) {
	result := picture{p.outW, p.outH, make([]uint32, p.outW*p.outH)}
	return result, gpu.Download(ctx, p.stream, result.pixels, p.result)
}

// measure runs the stages and returns how long each one took.
func (p *pipeline) measure(ctx context.Context) ([]measurement, error) {
	// On a GPU, the first round loads the kernels. The fastest of the other
	// rounds counts.
	rounds := 1
	if p.dev.Backend() == gpu.CUDA {
		rounds = 6
	}
	m := make([]measurement, len(p.stages))
	marks := make([]*gpu.Event, len(p.stages)+1)
	for i := range marks {
		e, err := p.dev.NewEvent()
		if err != nil {
			return nil, err
		}
		defer e.Close()
		marks[i] = e
	}
	for range rounds {
		if err := p.round(ctx, marks); err != nil {
			return nil, err
		}
		for i, stage := range p.stages {
			d, err := gpu.Elapsed(marks[i], marks[i+1])
			if err != nil {
				return nil, err
			}
			if m[i].time == 0 || d < m[i].time {
				m[i] = measurement{name: stage.name, bytes: stage.bytes, time: max(d, time.Nanosecond)}
			}
		}
	}
	return m, nil
}

// round runs the stages once. It records an event before each stage and one at the end.
func (p *pipeline) round(ctx context.Context, marks []*gpu.Event) error {
	for i, stage := range p.stages {
		if err := ctx.Err(); err != nil {
			return err
		}
		p.working.at(stage.name)
		if err := p.stream.Record(marks[i]); err != nil {
			return err
		}
		if err := stage.launch(); err != nil {
			return fmt.Errorf("%s: %w", stage.name, err)
		}
	}
	if err := p.stream.Record(marks[len(marks)-1]); err != nil {
		return err
	}
	return p.stream.Synchronize(ctx)
}

func (p *pipeline) close() error {
	var errs []error
	for _, c := range p.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// String describes the processing.
func (p *pipeline) String() string {
	kind := "picture"
	if p.src.pixels == nil {
		kind = "rendered scene"
	}
	return fmt.Sprintf("%s with %dx%d pixels, rotated by %v° to %dx%d", kind, p.src.w, p.src.h, p.opt.angle, p.outW, p.outH)
}
