package pmtiles

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestNumbersOfTiles(t *testing.T) {
	// The numbers of the specification.
	for _, c := range []struct {
		z, x, y int
		id      uint64
	}{{0, 0, 0, 0}, {1, 0, 0, 1}, {1, 0, 1, 2}, {1, 1, 1, 3}, {1, 1, 0, 4}, {2, 0, 0, 5}, {12, 3423, 1763, 19078479}} {
		if got := ID(c.z, c.x, c.y); got != c.id {
			t.Errorf("%d/%d/%d is %d, want %d", c.z, c.x, c.y, got, c.id)
		}
	}
	// Neighbors on the curve are neighbors on the map, and no number comes twice.
	const z = 6
	at := map[uint64][2]int{}
	for x := range 1 << z {
		for y := range 1 << z {
			at[ID(z, x, y)] = [2]int{x, y}
		}
	}
	first := uint64(1<<(2*z)-1) / 3
	for i := uint64(1); i < 1<<(2*z); i++ {
		a, okA := at[first+i-1]
		b, okB := at[first+i]
		dx, dy := a[0]-b[0], a[1]-b[1]
		if !okA || !okB || dx*dx+dy*dy != 1 {
			t.Fatalf("tiles %d and the next are %v and %v", first+i-1, a, b)
		}
	}
}

// find reads a tile as the specification says.
func find(t *testing.T, file []byte, id uint64) []byte {
	t.Helper()
	n := func(i int) uint64 { return binary.LittleEndian.Uint64(file[8+8*i:]) }
	offset, size := n(0), n(1)
	for range 4 {
		z, err := gzip.NewReader(bytes.NewReader(file[offset : offset+size]))
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		r := bytes.NewReader(b)
		number := func() uint64 {
			v, err := binary.ReadUvarint(r)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		all := make([]entry, number())
		last := uint64(0)
		for i := range all {
			last += number()
			all[i].id = last
		}
		for i := range all {
			all[i].run = uint32(number())
		}
		for i := range all {
			all[i].size = uint32(number())
		}
		for i := range all {
			if v := number(); v > 0 {
				all[i].offset = v - 1
			} else {
				all[i].offset = all[i-1].offset + uint64(all[i-1].size)
			}
		}
		var e *entry
		for i := range all {
			if all[i].id <= id {
				e = &all[i]
			}
		}
		switch {
		case e == nil || e.run > 0 && id >= e.id+uint64(e.run):
			return nil
		case e.run > 0:
			return file[n(6)+e.offset:][:e.size]
		}
		offset, size = n(4)+e.offset, uint64(e.size)
	}
	t.Fatal("too many levels of directories")
	return nil
}

func TestArchives(t *testing.T) {
	for _, count := range []int{1, 100, 30000} {
		name := filepath.Join(t.TempDir(), "a.pmtiles")
		w, err := Create(name, Header{Kind: PNG, MaxZoom: 8, Bounds: [4]float64{-10, -20, 30, 40}, Metadata: []byte(`{"name":"x"}`)})
		if err != nil {
			t.Fatal(err)
		}
		tile := func(i int) []byte {
			if i%10 < 5 {
				return []byte("the same")
			}
			return fmt.Appendf(nil, "tile %d of a length %s", i*i, make([]byte, i%37))
		}
		for i := range count {
			if i%100 == 50 {
				continue
			}
			if err := w.Add(uint64(i), tile(i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Add(0, nil); err == nil {
			t.Error("a tile in the wrong order is no error")
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < count+10; i += max(1, count/200) {
			want := tile(i)
			if i >= count || i%100 == 50 {
				want = nil
			}
			if got := find(t, file, uint64(i)); !bytes.Equal(got, want) {
				t.Fatalf("%d tiles: tile %d is %q, want %q", count, i, got, want)
			}
		}
	}
}
