package filter

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

func TestDerivatives(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		p := noise[uint8](37, 21, 1, 3)
		src := upImage(t, dev, p, 1)
		for i, weights := range [][]float32{
			{-1, 0, 1, -2, 0, 2, -1, 0, 1}, {-1, -2, -1, 0, 0, 0, 1, 2, 1},
			{-3, 0, 3, -10, 0, 10, -3, 0, 3}, {-3, -10, -3, 0, 0, 0, 3, 10, 3},
		} {
			f := Sobel[float32, uint8]
			if i > 1 {
				f = Scharr[float32, uint8]
			}
			dst := poisoned[float32](t, dev, p.w, p.h, 1, p.c, i)
			b := modes[i]
			b.Value = 0
			if err := f(s, dst.image(), src, Direction(i%2), b); err != nil {
				t.Fatal(err)
			}
			matches(t, fmt.Sprint("derivative ", i), down(t, dev, dst), refCorrelate(p, Stencil{Width: 3, Height: 3, Weights: weights}, false, b), 0)
		}
	})
}

func TestBilateral(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		for n, c := range []int{1, 3, 4, 2} {
			p := noise[uint8](29, 17, 1, c)
			for i := range p.at {
				p.at[i] /= 4
			}
			b, radius := modes[n], 1+n
			src, dst := upImage(t, dev, p, 1), poisoned[uint8](t, dev, p.w, p.h, 1, c, n)
			if err := Bilateral(s, dst.image(), src, radius, 1.5, 20, b); err != nil {
				t.Fatal(err)
			}
			var want []float64
			for y := range p.h {
				for x := range p.w {
					sum, total := make([]float64, c), 0.0
					for j := -radius; j <= radius; j++ {
						for i := -radius; i <= radius; i++ {
							if i*i+j*j > radius*radius {
								continue
							}
							d := 0.0
							for k := range c {
								v := p.near(b, x+i, y+j, 0, k) - p.get(x, y, 0, k)
								d += v * v
							}
							w := math.Exp(-float64(i*i+j*j)/(2*1.5*1.5) - d/(2*20*20))
							total += w
							for k := range c {
								sum[k] += w * p.near(b, x+i, y+j, 0, k)
							}
						}
					}
					for _, v := range sum {
						want = append(want, v/total)
					}
				}
			}
			matches(t, fmt.Sprint("bilateral ", b), down(t, dev, dst), want, 1e-4)
		}
	})
}

// flood numbers components one after another.
func flood(w, h int, eight bool, set func(i int) bool) (labels []int32, n int32) {
	labels = make([]int32, w*h)
	for start := range labels {
		if !set(start) || labels[start] != 0 {
			continue
		}
		n++
		labels[start] = n
		for list := []int{start}; len(list) > 0; {
			x, y := list[0]%w, list[0]/w
			list = list[1:]
			for dy := -1; dy <= 1; dy++ {
				for dx := -1; dx <= 1; dx++ {
					u, v := x+dx, y+dy
					if u < 0 || u >= w || v < 0 || v >= h || !eight && dx != 0 && dy != 0 {
						continue
					}
					if i := v*w + u; set(i) && labels[i] == 0 {
						labels[i] = n
						list = append(list, i)
					}
				}
			}
		}
	}
	return labels, n
}

// masks returns pictures for connected components: random ones of several densities, spirals,
// combs, and uniform ones.
func masks() []picture[uint8] {
	var list []picture[uint8]
	for _, size := range [][2]int{{1, 1}, {33, 9}, {64, 64}, {70, 40}, {5, 100}} {
		for _, density := range []float64{0, 0.3, 0.5, 0.6, 0.9, 1} {
			p := blank[uint8](size[0], size[1], 1, 1)
			for i := range p.at {
				if rand.Float64() < density {
					p.at[i] = uint8(1 + rand.IntN(255))
				}
			}
			list = append(list, p)
		}
	}
	spiral := blank[uint8](67, 67, 1, 1)
	comb := blank[uint8](67, 35, 1, 1)
	for y := range 67 {
		for x := range 67 {
			if ring := min(x, y, 66-x, 66-y); ring%2 == 0 && !(y == ring+1 && x == ring) || x == y+1 && x < 33 && ring%2 == 1 {
				spiral.at[y*67+x] = 1
			}
			if y < 35 && (x%2 == 0 || y == 34) {
				comb.at[y*67+x] = 9
			}
		}
	}
	return append(list, spiral, comb)
}

func TestLabel(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		for n, p := range masks() {
			if dev.Backend() == gpu.Sim && n%3 != 0 && n < 28 && !*all {
				continue
			}
			for _, c := range []Connectivity{Connect4, Connect8} {
				labels, count := gputest.Alloc[int32](t, dev, p.w*p.h), gputest.Alloc[int32](t, dev, 1)
				if err := Label(s, labels, count, upImage(t, dev, p, n%3), c); err != nil {
					t.Fatal(err)
				}
				want, total := flood(p.w, p.h, c == Connect8, func(i int) bool { return p.at[i] != 0 })
				name := gputest.Name(fmt.Sprintf("case %d: %dx%d with %d neighbors", n, p.w, p.h, c))
				if !gputest.Equal(t, gputest.Download(t, dev, labels), want, name) || !gputest.Equal(t, gputest.Download(t, dev, count), []int32{total}, name) {
					t.FailNow()
				}
			}
		}
	})
}

// refCanny computes in integers.
func refCanny(p picture[uint8], low, high int) []uint8 {
	near := Boundary{Mode: Nearest}
	at := func(x, y int) int { return int(p.near(near, x, y, 0, 0)) }
	mag := func(x, y int) (m, dx, dy int) {
		if x < 0 || x >= p.w || y < 0 || y >= p.h {
			return 0, 0, 0
		}
		dx = at(x+1, y-1) + 2*at(x+1, y) + at(x+1, y+1) - at(x-1, y-1) - 2*at(x-1, y) - at(x-1, y+1)
		dy = at(x-1, y+1) + 2*at(x, y+1) + at(x+1, y+1) - at(x-1, y-1) - 2*at(x, y-1) - at(x+1, y-1)
		return dx*dx + dy*dy, dx, dy
	}
	class := make([]int, len(p.at))
	for i := range class {
		x, y := i%p.w, i/p.w
		m, dx, dy := mag(x, y)
		angle := math.Mod(math.Atan2(float64(dy), float64(dx))+math.Pi, math.Pi) / (math.Pi / 8) // eighths of a half turn
		var u, v int
		switch {
		case angle < 1 || angle > 7:
			u, v = 1, 0
		case angle < 3:
			u, v = 1, 1
		case angle <= 5:
			u, v = 0, 1
		default:
			u, v = -1, 1
		}
		before, _, _ := mag(x-u, y-v)
		after, _, _ := mag(x+u, y+v)
		if m > low*low && m > before && m >= after {
			class[i] = 1
			if m > high*high {
				class[i] = 2
			}
		}
	}
	labels, n := flood(p.w, p.h, true, func(i int) bool { return class[i] > 0 })
	strong := make([]bool, n+1)
	for i, c := range class {
		strong[labels[i]] = strong[labels[i]] || c == 2
	}
	out := make([]uint8, len(p.at))
	for i := range out {
		if class[i] > 0 && strong[labels[i]] {
			out[i] = 255
		}
	}
	return out
}

func TestCanny(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		for n, size := range [][2]int{{1, 1}, {70, 50}, {33, 8}, {100, 60}} {
			p := blank[uint8](size[0], size[1], 1, 1)
			for i := range p.at { // smooth shapes with some noise
				x, y := float64(i%p.w), float64(i/p.w)
				p.at[i] = uint8(128 + 80*math.Sin(x/7+3*math.Sin(y/9)) + rand.Float64()*float64(10*n))
			}
			dst := poisoned[uint8](t, dev, p.w, p.h, 1, 1, n)
			if err := Canny(s, dst.image(), upImage(t, dev, p, 2), 60, 150); err != nil {
				t.Fatal(err)
			}
			want := refCanny(p, 60, 150)
			gputest.Equal(t, down(t, dev, dst).at, want, gputest.Name(fmt.Sprint(size)))
			edges := 0
			for _, v := range want {
				edges += int(v) / 255
			}
			if n == 3 && (edges < 100 || edges > len(want)/3) {
				t.Fatalf("%d edges: the picture tests nothing", edges)
			}
		}
	})
}

func refEqualize(p picture[uint8]) []uint8 {
	out := make([]uint8, len(p.at))
	for c := range p.c {
		var counts [256]int
		for i := c; i < len(p.at); i += p.c {
			counts[p.at[i]]++
		}
		first := 0
		for counts[first] == 0 {
			first++
		}
		rest := p.w*p.h - counts[first]
		for i := c; i < len(p.at); i += p.c {
			sum := 0
			for v := first + 1; v <= int(p.at[i]); v++ {
				sum += counts[v]
			}
			if out[i] = p.at[i]; rest > 0 {
				out[i] = uint8(math.Floor(255*float64(sum)/float64(rest) + 0.5))
			}
		}
	}
	return out
}

func TestEqualize(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		for n, size := range [][3]int{{1, 1, 1}, {100, 30, 3}, {31, 41, 4}, {50, 20, 2}, {300, 7, 1}} {
			p := blank[uint8](size[0], size[1], 1, size[2])
			for i := range p.at {
				p.at[i] = uint8(50 + rand.IntN(10+20*n))
			}
			src, dst := upImage(t, dev, p, n), poisoned[uint8](t, dev, p.w, p.h, 1, p.c, 1)
			if err := Equalize(s, dst.image(), src); err != nil {
				t.Fatal(err)
			}
			gputest.Equal(t, down(t, dev, dst).at, refEqualize(p), gputest.Name(fmt.Sprint(size)))
			counts := gputest.Alloc[uint32](t, dev, 256*p.c)
			if err := Histogram(s, counts, src); err != nil {
				t.Fatal(err)
			}
			want := make([]uint32, 256*p.c)
			for i, v := range p.at {
				want[i%p.c*256+int(v)]++
			}
			gputest.Equal(t, gputest.Download(t, dev, counts), want, gputest.Name("counts"))
			if err := Equalize(s, src, src); err != nil {
				t.Fatal(err)
			}
			gputest.Equal(t, down(t, dev, src.volume()).at, refEqualize(p), gputest.Name("in place"))
		}
	})
}

// refCLAHE follows OpenCV, with exact rounding.
func refCLAHE(p picture[uint8], tilesX, tilesY int, limit float64) []uint8 {
	tw, th := (p.w+tilesX-1)/tilesX, (p.h+tilesY-1)/tilesY
	area := tw * th
	out := make([]uint8, len(p.at))
	for c := range p.c {
		tables := make([][256]float64, tilesX*tilesY)
		for k := range tables {
			var counts [256]int
			for i := range area {
				counts[uint8(p.near(Boundary{Mode: Mirror}, k%tilesX*tw+i%tw, k/tilesX*th+i/tw, 0, c))]++
			}
			if limit > 0 {
				most, excess := max(int(limit*float64(area)/256), 1), 0
				for v := range counts {
					if d := counts[v] - most; d > 0 {
						excess += d
						counts[v] = most
					}
				}
				for v := range counts {
					counts[v] += excess / 256
				}
				if residual := excess % 256; residual > 0 {
					step := max(256/residual, 1)
					for v := 0; v < 256 && residual > 0; v += step {
						counts[v]++
						residual--
					}
				}
			}
			sum := 0
			for v, n := range counts {
				sum += n
				tables[k][v] = min(255, math.Floor(float64(sum)*255/float64(area)+0.5))
			}
		}
		for y := range p.h {
			for x := range p.w {
				fx, fy := float64(x)/float64(tw)-0.5, float64(y)/float64(th)-0.5
				x0, y0 := int(math.Floor(fx)), int(math.Floor(fy))
				fx, fy = fx-float64(x0), fy-float64(y0)
				x1, y1 := min(x0+1, tilesX-1), min(y0+1, tilesY-1)
				x0, y0 = max(x0, 0), max(y0, 0)
				i := (y*p.w+x)*p.c + c
				at := func(x, y int) float64 { return tables[y*tilesX+x][p.at[i]] }
				v := (at(x0, y0)*(1-fx)+at(x1, y0)*fx)*(1-fy) + (at(x0, y1)*(1-fx)+at(x1, y1)*fx)*fy
				out[i] = uint8(math.Floor(v + 0.5 + 1e-9))
			}
		}
	}
	return out
}

func TestCLAHE(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		for n, size := range [][3]int{{1, 1, 1}, {100, 30, 3}, {64, 64, 1}, {33, 50, 2}} {
			p := blank[uint8](size[0], size[1], 1, size[2])
			for i := range p.at {
				p.at[i] = uint8(rand.IntN(40) + i*200/len(p.at))
			}
			dst := poisoned[uint8](t, dev, p.w, p.h, 1, p.c, 1)
			for _, limit := range []float64{0, 2, 7.5} {
				if err := CLAHE(s, dst.image(), upImage(t, dev, p, n), 4, 3, limit); err != nil {
					t.Fatal(err)
				}
				gputest.Equal(t, down(t, dev, dst).at, refCLAHE(p, 4, 3, limit), gputest.Name(fmt.Sprint(size, limit)))
			}
		}
	})
}
