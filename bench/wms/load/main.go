// Command load asks a server for map tiles as fast as it answers, and prints the rate and the latencies:
//
//	load -url 'http://127.0.0.1:8080/wms?...&BBOX={bbox}' -west 15 -south 47.4 -east 15.5 -north 47.8
//
// {bbox} is replaced with the extent of a tile in Web Mercator, and {z}, {x} and {y} with its place in the XYZ scheme.
// Tiles of the levels -from to -to are requested in a random order that depends on nothing but -seed, so that different
// servers get the same requests. With -distinct, no tile is requested twice, which leaves caches of tiles out.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

type tile struct{ z, x, y int }

// world is the width of Web Mercator in meters.
const world = 2 * math.Pi * 6378137

func (t tile) url(template string) string {
	size := world / float64(int(1)<<t.z)
	west, north := float64(t.x)*size-world/2, world/2-float64(t.y)*size
	bbox := fmt.Sprintf("%.6f,%.6f,%.6f,%.6f", west, north-size, west+size, north)
	return strings.NewReplacer("{bbox}", bbox, "{z}", strconv.Itoa(t.z), "{x}", strconv.Itoa(t.x), "{y}", strconv.Itoa(t.y)).Replace(template)
}

// position returns the place of a point among the tiles of a level.
func position(lon, lat float64, z int) (x, y float64) {
	n := float64(int(1) << z)
	s := math.Asinh(math.Tan(lat * math.Pi / 180))
	return (lon + 180) / 360 * n, (1 - s/math.Pi) / 2 * n
}

type options struct {
	url                      string
	west, south, east, north float64
	from, to, clients        int
	duration                 time.Duration
	distinct                 bool
	seed                     uint64
	magic                    string
}

// tiles returns those whose center is in the area, in a random order.
func (o *options) tiles() []tile {
	var all []tile
	for z := o.from; z <= o.to; z++ {
		x0, y0 := position(o.west, o.north, z)
		x1, y1 := position(o.east, o.south, z)
		for y := int(math.Round(y0)); y < int(math.Round(y1)); y++ {
			for x := int(math.Round(x0)); x < int(math.Round(x1)); x++ {
				all = append(all, tile{z, x, y})
			}
		}
	}
	r := rand.New(rand.NewPCG(o.seed, 0))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// measurement is what one client has seen.
type measurement struct {
	latencies []time.Duration
	bytes     int64
	failures  int
	first     error
}

func (o *options) client(ctx context.Context, all []tile, next *atomic.Int64, h *http.Client) (m measurement) {
	var body bytes.Buffer
	for {
		i := int(next.Add(1)) - 1
		if o.distinct && i >= len(all) {
			return m
		}
		begin := time.Now()
		err := fetch(ctx, h, all[i%len(all)].url(o.url), o.magic, &body)
		if ctx.Err() != nil {
			return m
		}
		if err != nil {
			m.failures++
			if m.first == nil {
				m.first = err
			}
			continue
		}
		m.latencies = append(m.latencies, time.Since(begin))
		m.bytes += int64(body.Len())
	}
}

func fetch(ctx context.Context, h *http.Client, url, magic string, body *bytes.Buffer) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	a, err := h.Do(q)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	body.Reset()
	if _, err := io.Copy(body, a.Body); err != nil {
		return err
	}
	if a.StatusCode != http.StatusOK || !bytes.HasPrefix(body.Bytes(), []byte(magic)) {
		return fmt.Errorf("%s: %s: %.200s", url, a.Status, body.Bytes())
	}
	return nil
}

func (o *options) run() error {
	all := o.tiles()
	if len(all) == 0 {
		return fmt.Errorf("no tile has its center in the area")
	}
	h := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: o.clients, DisableCompression: true}}
	ctx, cancel := context.WithTimeout(context.Background(), o.duration)
	defer cancel()
	var next atomic.Int64
	results := make([]measurement, o.clients)
	var wg sync.WaitGroup
	begin := time.Now()
	for i := range results {
		wg.Go(func() { results[i] = o.client(ctx, all, &next, h) })
	}
	wg.Wait()
	seconds := time.Since(begin).Seconds()
	var sum measurement
	for _, m := range results {
		sum.latencies = append(sum.latencies, m.latencies...)
		sum.bytes += m.bytes
		sum.failures += m.failures
		if sum.first == nil {
			sum.first = m.first
		}
	}
	if sum.first != nil {
		return fmt.Errorf("%d requests failed, the first one: %w", sum.failures, sum.first)
	}
	n := len(sum.latencies)
	if n == 0 {
		return fmt.Errorf("no request was answered in %v", o.duration)
	}
	slices.Sort(sum.latencies)
	at := func(q float64) time.Duration {
		return sum.latencies[min(int(q*float64(n)), n-1)].Round(10 * time.Microsecond)
	}
	fmt.Printf("%d tiles of %d, %.1f/s, %.1f kB each, p50 %v, p90 %v, p99 %v, worst %v\n",
		n, len(all), float64(n)/seconds, float64(sum.bytes)/float64(n)/1e3, at(0.5), at(0.9), at(0.99), at(1))
	return nil
}

func main() {
	var o options
	flag.StringVar(&o.url, "url", "", "what to request, with {bbox}, or {z}, {x} and {y}")
	flag.Float64Var(&o.west, "west", 15.01, "edge of the area in degrees")
	flag.Float64Var(&o.south, "south", 47.50, "edge of the area in degrees")
	flag.Float64Var(&o.east, "east", 15.53, "edge of the area in degrees")
	flag.Float64Var(&o.north, "north", 47.84, "edge of the area in degrees")
	flag.IntVar(&o.from, "from", 11, "first level")
	flag.IntVar(&o.to, "to", 15, "last level")
	flag.IntVar(&o.clients, "clients", 8, "how many requests are under way at a time")
	flag.DurationVar(&o.duration, "time", 10*time.Second, "how long to ask")
	flag.BoolVar(&o.distinct, "distinct", false, "request no tile twice")
	flag.Uint64Var(&o.seed, "seed", 1, "of the order of tiles")
	flag.StringVar(&o.magic, "magic", "\x89PNG", "how each answer begins")
	flag.Parse()
	if err := o.run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
