package tiff

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// byBand returns samples with all bands of a pixel side by side as one band after the other.
func byBand(h Header, pixels []byte) []byte {
	size, n := h.Type.Size(), h.Width*h.Height
	out := make([]byte, len(pixels))
	for b := range h.Bands {
		copyStrided(out[b*n*size:], size, pixels[b*size:], h.Bands*size, n, size)
	}
	return out
}

// utm is a georeference that GDAL knows.
func utm(point bool) Georeference {
	var g Georeference
	g.Keys.Set(GeoValue{Key: GTModelType, Code: ModelProjected})
	g.Keys.Set(GeoValue{Key: GTRasterType, Code: RasterPixelIsArea})
	if point {
		g.Keys.Set(GeoValue{Key: GTRasterType, Code: RasterPixelIsPoint})
	}
	g.Keys.Set(GeoValue{Key: ProjectedCRS, Code: 32618})
	g.Keys.Set(GeoValue{Key: GTCitation, Text: "WGS 84 / UTM zone 18N"})
	g.SetAffine(Affine{300000, 30, 0, 4500000, 0, -30})
	return g
}

func TestGDALReadsOurFilesBitForBit(t *testing.T) {
	judge(t)
	folder := t.TempDir()
	r := rand.New(rand.NewPCG(5, 6))
	var want []expectation
	n := 0
	add := func(h Header, opt Options) {
		name := filepath.Join(folder, fmt.Sprintf("f%d.tif", n))
		n++
		pixels := noise(r, h)
		write(t, name, h, opt, Rows{Pixels: pixels})
		e := expectation{"file": name, "sum": sum(byBand(h, pixels)), "what": fmt.Sprintf("%s %d bits %+v", h.Type, h.Bits, opt)}
		if h.Type != ComplexI32 {
			e["type"] = gdalType(h.Type)
		}
		want = append(want, e)
	}
	for typ := Uint8; typ.valid(); typ++ {
		if typ == ComplexI32 { // rasterio has no type for it
			continue
		}
		for _, c := range []Compression{None, LZW, Deflate, PackBits, ZSTD} {
			for p := NoPredictor; p <= FloatingPoint; p++ {
				if p != NoPredictor && !c.predicts() || predictorProblem(p, 8*typ.Size(), typeTable[typ].format) != "" {
					continue
				}
				for variant := range 16 {
					opt := Options{Compression: c, Predictor: p, Layout: Layout(variant & 1), Strips: variant&2 != 0,
						BigEndian: variant&4 != 0, BigTIFF: BigTIFF(variant & 8 / 8), BlockHeight: 16}
					if !opt.Strips {
						opt.BlockWidth = 32
					}
					add(Header{Width: 61, Height: 45, Bands: 3, Type: typ, Photometric: MinIsBlack}, opt)
				}
			}
		}
	}
	for _, bits := range []int{1, 2, 4, 7, 9, 12, 17, 24} {
		for _, bigEndian := range []bool{false, true} {
			add(Header{Width: 61, Height: 45, Bands: 3, Bits: bits, Type: sampleType(bits, formatUint), Photometric: MinIsBlack},
				Options{BlockWidth: 32, BlockHeight: 16, BigEndian: bigEndian})
		}
	}
	add(Header{Width: 61, Height: 45, Bands: 1, Bits: 16, Type: Float32, Photometric: MinIsBlack}, Options{})
	report(t, runJudge(t, lines(t, want), "read"))
	t.Logf("%d files", n)
}

func TestGDALUnderstandsWhatOurFilesSay(t *testing.T) {
	judge(t)
	folder := t.TempDir()
	r := rand.New(rand.NewPCG(7, 8))
	var want []expectation
	add := func(what string, h Header, opt Options, mask []byte, e expectation) {
		name := filepath.Join(folder, what+".tif")
		h.Width, h.Height = 61, 45
		if h.Type == 0 {
			h.Type = Uint8
		}
		pixels := noise(r, h)
		write(t, name, h, opt, Rows{Pixels: pixels, Mask: mask})
		e["file"], e["what"], e["sum"] = name, what, sum(byBand(h, pixels))
		want = append(want, e)
	}
	gray := Header{Bands: 1, Photometric: MinIsBlack}
	add("nodata", with(gray, func(h *Header) { h.NoData, h.Type = "-9999", Int16 }), Options{}, nil, expectation{"nodata": "-9999.0"})
	add("nan", with(gray, func(h *Header) { h.NoData, h.Type = "nan", Float32 }), Options{}, nil, expectation{"nodata": "nan"})
	add("area", with(gray, func(h *Header) { h.Geo = utm(false) }), Options{}, nil,
		expectation{"epsg": 32618, "transform": []float64{300000, 30, 0, 4500000, 0, -30}, "point": false})
	add("point", with(gray, func(h *Header) { h.Geo = utm(true) }), Options{}, nil,
		expectation{"epsg": 32618, "transform": []float64{300000, 30, 0, 4500000, 0, -30}, "point": true})
	add("rotated", with(gray, func(h *Header) { h.Geo = utm(true); h.Geo.SetAffine(Affine{300000, 20, 5, 4500000, 6, -20}) }), Options{}, nil,
		expectation{"transform": []float64{300000, 20, 5, 4500000, 6, -20}})
	add("gcps", with(gray, func(h *Header) {
		h.Geo = utm(false)
		h.Geo.Scale = nil
		h.Geo.Tiepoints = []Tiepoint{{1, 2, 0, 10, 20, 30}, {50, 2.5, 0, 60, 20, 30}, {1, 40, 0, 10, -20, 30}}
	}), Options{}, nil, expectation{"gcps": [][]float64{{1, 2, 10, 20, 30}, {50, 2.5, 60, 20, 30}, {1, 40, 10, -20, 30}}})
	add("rgb", Header{Bands: 3, Photometric: RGB}, Options{}, nil, expectation{"colorinterp": []string{"red", "green", "blue"}})
	add("rgba", Header{Bands: 4, Photometric: RGB, Extra: []ExtraSample{StraightAlpha}}, Options{COG: true}, nil,
		expectation{"colorinterp": []string{"red", "green", "blue", "alpha"}})
	add("palette", Header{Bands: 1, Photometric: Palette, Palette: []Color{{1, 2, 3}, {4, 5, 6}}}, Options{}, nil, expectation{"colorinterp": []string{"palette"}})
	add("metadata", Header{Bands: 2, Photometric: MinIsBlack, Metadata: []Item{
		{Band: -1, Name: "NAME", Value: `a <b> & "c"`}, {Band: 0, Name: "DESCRIPTION", Role: "description", Value: "first"},
		{Band: 1, Name: "SCALE", Role: "scale", Value: "2.5"}, {Band: 1, Name: "OFFSET", Role: "offset", Value: "-1"},
	}}, Options{}, nil, expectation{"tags": map[string]string{"NAME": `a <b> & "c"`}, "descriptions": []any{"first", nil},
		"scales": []float64{1, 2.5}, "offsets": []float64{0, -1}})
	rpc := &RPC{ErrBias: 1, LineOff: 2, LatScale: 3, HeightScale: 4}
	rpc.LineNum[1], rpc.SampDen[19] = 5, 6
	add("rpc", with(gray, func(h *Header) { h.RPC = rpc }), Options{}, nil, expectation{"rpc": gdalRPC(rpc)})
	mask := make([]byte, 61*45)
	for i := range mask {
		if i%7 != 0 {
			mask[i] = 255
		}
	}
	add("mask", Header{Bands: 3, Photometric: RGB}, Options{Mask: true, BlockWidth: 16, BlockHeight: 16}, mask, expectation{"mask": sum(mask)})
	add("mask_cog", Header{Bands: 3, Photometric: RGB}, Options{Mask: true, COG: true, BlockWidth: 16, BlockHeight: 16}, mask,
		expectation{"mask": sum(mask), "overviews": []int{2, 4}})
	add("mask_strips", Header{Bands: 3, Photometric: RGB}, Options{Mask: true, Strips: true, BlockHeight: 10}, mask, expectation{"mask": sum(mask)})
	report(t, runJudge(t, lines(t, want), "read"))
}

func with(h Header, change func(*Header)) Header {
	change(&h)
	return h
}

// gdalRPC lists a model in the order of rasterio's RPC.to_dict.
func gdalRPC(r *RPC) []any {
	return []any{r.HeightOff, r.HeightScale, r.LatOff, r.LatScale, r.LineDen, r.LineNum, r.LineOff, r.LineScale, r.LongOff, r.LongScale,
		r.SampDen, r.SampNum, r.SampOff, r.SampScale, r.ErrBias, r.ErrRand}
}

// cogs writes COGs of several kinds.
func cogs(t testing.TB, folder string) []string {
	r := rand.New(rand.NewPCG(9, 10))
	var names []string
	for i, opt := range []Options{
		{}, {Compression: ZSTD}, {Compression: LZW}, {Compression: None}, {Compression: PackBits}, {BigTIFF: BigTIFFYes},
		{BigEndian: true}, {Mask: true}, {Mask: true, BigTIFF: BigTIFFYes}, {Sparse: true}, {Compression: JPEG}, {Compression: JPEG, Mask: true},
	} {
		for _, typ := range []Type{Uint8, Uint16, Float32} {
			if opt.Compression == JPEG && typ != Uint8 {
				continue
			}
			h := Header{Width: 300, Height: 260, Bands: 3, Type: typ, Photometric: RGB, Geo: utm(false)}
			opt.COG, opt.BlockWidth, opt.BlockHeight = true, 64, 64
			rows := Rows{Pixels: noise(r, h)}
			if opt.Sparse {
				clear(rows.Pixels[:len(rows.Pixels)/2])
			}
			if opt.Mask {
				rows.Mask = bytes.Repeat([]byte{255, 255, 0}, h.Width*h.Height/3)
			}
			name := filepath.Join(folder, fmt.Sprintf("cog%d%s.tif", i, typ))
			write(t, name, h, opt, rows)
			names = append(names, name)
		}
	}
	return names
}

func TestGDALValidatesAndReadsCOGs(t *testing.T) {
	judge(t)
	names := cogs(t, t.TempDir())
	report(t, runJudge(t, nil, append([]string{"cog"}, names...)...))
	var want []expectation
	for _, name := range names {
		f := open(t, name)
		im := f.Image()
		if im.Compression == JPEG {
			continue
		}
		e := expectation{"file": name, "sum": sum(readAll(t, im)), "overviews": []int{2, 4, 8}}
		var sums []string
		for _, o := range im.Overviews() {
			sums = append(sums, sum(readAll(t, o)))
		}
		e["overviewSums"] = sums
		want = append(want, e)
	}
	report(t, runJudge(t, lines(t, want), "read"))
}

func TestGDALsScriptValidatesCOGs(t *testing.T) {
	python := os.Getenv("QUERN_TEST_OSGEO")
	if python == "" {
		python = "/usr/bin/python3"
	}
	if err := exec.Command(python, "-c", "import osgeo_utils.samples.validate_cloud_optimized_geotiff, numpy").Run(); err != nil {
		t.Skip("validate_cloud_optimized_geotiff is missing: set QUERN_TEST_OSGEO to a Python that has osgeo_utils (Debian: python3-gdal)")
	}
	out, err := exec.Command(python, append([]string{"testdata/judge.py", "validate"}, cogs(t, t.TempDir())...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("judge.py: %v", err)
	}
	report(t, out)
}

func TestBlocksMayComeInAnyOrderAndLevel(t *testing.T) {
	folder := t.TempDir()
	r := rand.New(rand.NewPCG(11, 12))
	h := Header{Width: 300, Height: 200, Bands: 3, Type: Uint16, Photometric: RGB}
	opt := Options{COG: true, BlockWidth: 64, BlockHeight: 64}
	first := filepath.Join(folder, "rows.tif")
	write(t, first, h, opt, Rows{Pixels: noise(r, h)})
	f := open(t, first)
	for _, stored := range []bool{false, true} {
		second := filepath.Join(folder, fmt.Sprintf("blocks%v.tif", stored))
		w, err := Create(second, h, opt)
		if err != nil {
			t.Fatal(err)
		}
		for level := range w.Levels() {
			im := f.Image()
			if level > 0 {
				im = im.Overviews()[level-1]
			}
			across, down, _ := im.Blocks()
			for _, index := range r.Perm(across * down) {
				copyBlock(t, w, im, level, index, stored)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		g := open(t, second)
		if !bytes.Equal(readAll(t, f.Image()), readAll(t, g.Image())) || !bytes.Equal(readAll(t, f.Image().Overviews()[1]), readAll(t, g.Image().Overviews()[1])) {
			t.Error("the pixels differ")
		}
	}
}

func copyBlock(t *testing.T, w *Writer, im *Image, level, index int, stored bool) {
	t.Helper()
	ctx := context.Background()
	b := alignedBytes(im.BlockBytes())
	var err error
	if stored {
		if _, err = im.ReadStored(ctx, b, index); err == nil {
			err = w.WriteStored(ctx, level, index, b)
		}
	} else {
		if err = im.ReadBlock(ctx, b, index); err == nil {
			err = w.WriteBlock(ctx, level, index, b)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}
