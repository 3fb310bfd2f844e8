package ortho

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"quern.dev/geo/ortho/internal/kernels"
	"quern.dev/geo/tiff"
	"quern.dev/geo/warp"
)

// heapDuring returns the most bytes of objects on the heap while f runs.
func heapDuring(f func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(20)) // little garbage counts
	done, peak := make(chan struct{}), make(chan uint64)
	go func() {
		most := uint64(0)
		s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for {
			metrics.Read(s)
			most = max(most, s[0].Value.Uint64())
			select {
			case <-done:
				peak <- most
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	f()
	close(done)
	return <-peak
}

// TestASurfaceMayBeLargerThanMemory uses a surface of 196 MB as float32, far more than Options.Memory.
func TestASurfaceMayBeLargerThanMemory(t *testing.T) {
	const size, step = 7000, 0.25
	left, top := originX+115-size*step/2, originY+125+size*step/2
	heights := make([]int16, size*size)
	for j := range size {
		for i := range size {
			heights[j*size+i] = int16(300 + i>>7&7 + j>>8&3)
		}
	}
	heights[10*size+20], heights[6990*size+6980] = 250, 390 // in the first and the last part that are read
	name := filepath.Join(t.TempDir(), "surface.tif")
	write(t, name, placed(32633, size, size, 1, tiff.Affine{left, step, 0, top, 0, -step}), heights, tiff.Options{BlockWidth: 512, BlockHeight: 512, Compression: tiff.ZSTD, Level: 1})
	heights = nil
	c, pose, _ := brown(t)
	frame, err := Frame(c, pose)
	if err != nil {
		t.Fatal(err)
	}
	pixels := make([]uint8, c.Width*c.Height)
	for i := range pixels {
		pixels[i] = uint8(i * 40503 >> 4)
	}
	im := write(t, filepath.Join(t.TempDir(), "frame.tif"), tiff.Header{Width: c.Width, Height: c.Height, Bands: 1, Photometric: tiff.MinIsBlack}, pixels, tiff.Options{})
	file, dev := open(t, name), cpu(t)
	var results [2][]byte
	for i, memory := range []int64{512 << 20, 8 << 20} {
		most := heapDuring(func() {
			ground, err := NewSurface(t.Context(), file, SurfaceOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if ground.least != 250 || ground.most != 390 {
				t.Errorf("heights from %v to %v", ground.least, ground.most)
			}
			results[i], _ = whole(t, dev, im, frame, ground, Options{Memory: memory, Resolution: [2]float64{0.5, 0.5}, Resampling: warp.Bilinear})
		})
		t.Logf("with %d MiB allowed: %d MiB", memory>>20, most>>20)
		if memory == 8<<20 && most > 96<<20 {
			t.Errorf("%d MiB of memory", most>>20)
		}
	}
	if len(results[0]) == 0 || !bytes.Equal(results[0], results[1]) {
		t.Error("the pixels depend on the memory")
	}
	// A line of sight that passes more than the memory holds is an error in the end.
	ground, err := NewSurface(t.Context(), file, SurfaceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(t.Context(), dev, im, frame, ground, Options{Memory: 32 << 10, Resolution: [2]float64{0.1, 0.1}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	h := m.Header()
	err = m.Read(t.Context(), tiff.Region{Width: h.Width, Height: 16}, make([]byte, h.Width*16*h.Bands), nil)
	if !errors.Is(err, warp.ErrTooLarge) {
		t.Errorf("with too little memory: %v", err)
	}
}

func TestSurfacesAreScannedInWholeBlocks(t *testing.T) {
	for _, test := range []struct{ width, height, blockWidth, blockHeight int }{
		{100, 70, 64, 64}, {20000, 3000, 512, 512}, {5000, 5000, 5000, 1}, {9000, 9000, 9000, 9000}, {6 << 20, 3, 6 << 20, 1}, {3, 6 << 20, 16, 16}, {40000, 40000, 4096, 4096},
	} {
		t.Run(fmt.Sprint(test), func(t *testing.T) {
			s := &Surface{im: &tiff.Image{Header: tiff.Header{Width: test.width, Height: test.height}, Storage: tiff.Storage{BlockWidth: test.blockWidth, BlockHeight: test.blockHeight}}}
			for _, w := range []kernels.Window{{W: test.width, H: test.height}, {X: test.width / 3, Y: test.height / 4, W: test.width / 2, H: test.height / 2}} {
				area, reads := 0, 0
				for _, p := range s.parts(w) {
					if p.W*p.H > chunk || p.W <= 0 || p.H <= 0 || p.X < w.X || p.Y < w.Y || p.X+p.W > w.X+w.W || p.Y+p.H > w.Y+w.H {
						t.Fatalf("%+v of %+v", p, w)
					}
					area += p.W * p.H
					reads += ((p.X+p.W-1)/test.blockWidth - p.X/test.blockWidth + 1) * ((p.Y+p.H-1)/test.blockHeight - p.Y/test.blockHeight + 1)
				}
				if area != w.W*w.H {
					t.Errorf("%d of %d pixels", area, w.W*w.H)
				}
				blocks := int(math.Ceil(float64(w.X+w.W)/float64(test.blockWidth))-math.Floor(float64(w.X)/float64(test.blockWidth))) *
					int(math.Ceil(float64(w.Y+w.H)/float64(test.blockHeight))-math.Floor(float64(w.Y)/float64(test.blockHeight)))
				if test.blockWidth*test.blockHeight <= chunk && reads != blocks {
					t.Errorf("%d blocks are read %d times", blocks, reads)
				}
			}
		})
	}
}
