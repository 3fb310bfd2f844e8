package main

import (
	"context"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

// outputs holds the result of each stage by name.
type outputs struct {
	planes map[string][]float32
	words  map[string][]uint32
}

// engine runs the whole pipeline and keeps the result of each stage.
type engine struct {
	name string
	run  func(t *testing.T, opt options, src picture) outputs
}

// engines returns the kernels as plain Go functions, and every usable device.
func engines() []engine {
	all := []engine{{"plain Go", runPlain}}
	for _, info := range gpu.Devices() {
		if info.Err == nil {
			all = append(all, engine{info.ID, func(t *testing.T, opt options, src picture) outputs {
				return runDevice(t, info.ID, opt, src)
			}})
		}
	}
	return all
}

func runDevice(t *testing.T, id string, opt options, src picture) outputs {
	t.Helper()
	ctx := context.Background()
	dev := gputest.Open(t, gpu.Config{Device: id})
	p, err := newPipeline(dev, opt, src)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	if err := p.upload(ctx); err != nil {
		t.Fatal(err)
	}
	out := outputs{map[string][]float32{}, map[string][]uint32{}}
	for _, s := range p.stages {
		if err := s.launch(); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if s.planes != nil {
			out.planes[s.name] = download(t, p, s.name, s.planes)
		} else {
			out.words[s.name] = download(t, p, s.name, s.words)
		}
	}
	return out
}

func download[T any](t *testing.T, p *pipeline, stage string, b *gpu.Buffer[T]) []T {
	t.Helper()
	host := make([]T, b.Len())
	if err := gpu.Download(context.Background(), p.stream, host, b); err != nil {
		t.Fatalf("%s: %v", stage, err)
	}
	return host
}

// runPlain calls the kernels as Go functions.
func runPlain(t *testing.T, opt options, src picture) outputs {
	w, h := src.w, src.h
	n := w * h
	r, outW, outH := newRotation(w, h, opt.angle)
	outN := outW * outH
	table, weights := srgbTable(), gaussian(opt.sigma)

	out := outputs{map[string][]float32{}, map[string][]uint32{}}
	planes := make([]float32, 3*n)
	keep := func(name string) { out.planes[name] = append([]float32(nil), planes...) }
	made := func(name string, n int) []float32 {
		out.planes[name] = make([]float32, n)
		return out.planes[name]
	}

	pixels := src.pixels
	if pixels == nil {
		pixels = make([]uint32, n)
		plane(w, h, func(t kernel.Thread) { scene(t, w, h, pixels) })
		out.words["render scene"] = pixels
	}
	linear(n, func(t kernel.Thread) { toLinear(t, table, opt.background, pixels, planes) })
	keep("sRGB to linear")

	rows, blurred := made("blur rows", 3*n), made("blur columns", 3*n)
	kernel.Each(kernel.Dim3{X: ceilDiv(w, rowTile), Y: h, Z: 3}, kernel.Dim3{X: rowTile},
		func(t kernel.Thread) { blurRows(t, weights, w, h, planes, rows) })
	kernel.Each(kernel.Dim3{X: ceilDiv(w, columnTileWidth), Y: ceilDiv(h, columnTileHeight), Z: 3},
		kernel.Dim3{X: columnTileWidth, Y: columnThreads},
		func(t kernel.Thread) { blurColumns(t, weights, w, h, rows, blurred) })
	linear(3*n, func(t kernel.Thread) { sharpen(t, float32(opt.amount), blurred, planes) })
	keep("unsharp mask")

	counts := make([]uint32, bins)
	out.words["histogram"] = counts
	kernel.Each(kernel.Dim3{X: ceilDiv(n, histogramThreads*histogramRun)}, kernel.Dim3{X: histogramThreads},
		func(t kernel.Thread) { histogram(t, planes, counts) })
	curve := made("tone curve", bins+1)
	kernel.Each(kernel.Dim3{X: 1}, kernel.Dim3{X: bins},
		func(t kernel.Thread) { toneCurve(t, float32(opt.strength), counts, curve) })
	linear(n, func(t kernel.Thread) { equalize(t, curve, planes) })
	keep("equalize")

	rotate := rotateBilinear
	if opt.bicubic {
		rotate = rotateBicubic
	}
	rotated := made("rotate", 3*outN)
	plane(outW, outH, func(t kernel.Thread) {
		rotate(t, r, opt.background, w, h, planes, outW, outH, rotated)
	})
	result := make([]uint32, outN)
	linear(outN, func(t kernel.Thread) { toSRGB(t, rotated, result) })
	out.words["linear to sRGB"] = result
	return out
}

func linear(n int, body func(kernel.Thread)) {
	kernel.Each(kernel.Dim3{X: ceilDiv(n, 256)}, kernel.Dim3{X: 256}, body)
}

func plane(w, h int, body func(kernel.Thread)) {
	kernel.Each(kernel.Dim3{X: ceilDiv(w, 32), Y: ceilDiv(h, 8)}, kernel.Dim3{X: 32, Y: 8}, body)
}
