package tiff

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// picture returns an RGB image of n x n pixels that compresses about as a satellite image does.
func picture(n int) (Header, []byte) {
	h := Header{Width: n, Height: n, Bands: 3, Type: Uint8, Photometric: RGB}
	r := rand.New(rand.NewPCG(1, 2))
	pixels := make([]byte, n*n*3)
	for y := range n {
		for x := range n {
			i, v, bits := (y*n+x)*3, x/9+y/7, r.Uint32()
			pixels[i], pixels[i+1], pixels[i+2] = uint8(v)+uint8(bits&7), uint8(v/2)+uint8(bits>>8&7), uint8(v/3)+uint8(bits>>16&7)
		}
	}
	return h, pixels
}

const benchSize = 4096

func BenchmarkRead(b *testing.B) {
	h, pixels := picture(benchSize)
	name := filepath.Join(b.TempDir(), "image.tif")
	for _, c := range []Compression{Deflate, ZSTD, LZW, None} {
		write(b, name, h, Options{Compression: c}, Rows{Pixels: pixels})
		im := open(b, name).Image()
		b.Run(c.String(), func(b *testing.B) {
			b.SetBytes(int64(len(pixels)))
			b.ReportAllocs()
			for b.Loop() {
				must(b, im.ReadRegion(context.Background(), pixels, im.All()))
			}
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	h, pixels := picture(benchSize)
	name := filepath.Join(b.TempDir(), "image.tif")
	for _, test := range []struct {
		name string
		opt  Options
	}{
		{"DEFLATE 6", Options{}}, {"DEFLATE 1", Options{Level: 1}}, {"ZSTD", Options{Compression: ZSTD}}, {"LZW", Options{Compression: LZW}},
		{"NONE", Options{Compression: None}}, {"COG DEFLATE 6", Options{COG: true}}, {"COG NONE", Options{Compression: None, COG: true}},
	} {
		b.Run(test.name, func(b *testing.B) {
			b.SetBytes(int64(len(pixels)))
			b.ReportAllocs()
			for b.Loop() {
				write(b, name, h, test.opt, Rows{Pixels: pixels})
			}
			info, err := os.Stat(name)
			must(b, err)
			b.ReportMetric(float64(info.Size())/float64(len(pixels)), "file/pixels")
		})
	}
}

// BenchmarkGDAL reports the time of GDAL (rasterio with num_threads=all_cpus) for a file that
// BenchmarkRead/DEFLATE and BenchmarkWrite/DEFLATE use too.
func BenchmarkGDAL(b *testing.B) {
	h, pixels := picture(benchSize)
	name := filepath.Join(b.TempDir(), "image.tif")
	write(b, name, h, Options{}, Rows{Pixels: pixels})
	var got struct{ Read, ReadCPU, Write, WriteCPU, Bytes float64 }
	for b.Loop() {
		must(b, json.Unmarshal(bytes.TrimSpace(runJudge(b, nil, "time", name)), &got))
	}
	mb := float64(len(pixels)) / 1e6
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(mb/got.Read, "MB/s-read")
	b.ReportMetric(mb/got.Write, "MB/s-write")
	b.ReportMetric(mb/got.ReadCPU, "MB/CPU-s-read")
	b.ReportMetric(mb/got.WriteCPU, "MB/CPU-s-write")
	b.ReportMetric(got.Bytes/float64(len(pixels)), "file/pixels")
}
