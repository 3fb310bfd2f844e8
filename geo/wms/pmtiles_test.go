package wms

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// python returns a Python that has a module.
func python(t testing.TB, module string) string {
	t.Helper()
	for _, name := range pythons() {
		if exec.Command(name, "-c", "import "+module).Run() == nil {
			return name
		}
	}
	t.Skip("no Python with " + module + "; set QUERN_TEST_MAPS to one that has it")
	return ""
}

func TestPMTiles(t *testing.T) {
	s := fixture(t, nil)
	folder := t.TempDir()
	first, last, most := 10, 16, 0
	name := filepath.Join(folder, "rgb.pmtiles")
	n, err := s.WritePMTiles(t.Context(), name, Export{Layer: "rgb", MinZoom: &first, MaxZoom: &last, Progress: func(done, total int) { most = 100 * done / total }})
	if err != nil || n == 0 || most != 100 {
		t.Fatalf("%d tiles, %d %%: %v", n, most, err)
	}
	// The tiles are those of the server, byte for byte, as another program reads them.
	program := `
import sys
from pmtiles.reader import Reader, MmapSource, all_tiles
with open(sys.argv[1], "rb") as f:
    source = MmapSource(f)
    r = Reader(source)
    h = r.header()
    print(h["min_zoom"], h["max_zoom"], h["tile_type"].name, r.metadata()["name"], len(list(all_tiles(source))))
    for z, x, y in [(14, 8875, 5705), (16, 35502, 22823), (10, 554, 356), (14, 0, 0)]:
        tile = r.get(z, x, y)
        print(tile.hex() if tile else "none")
`
	out, err := exec.Command(python(t, "pmtiles"), "-c", program, name).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if lines[0] != fmt.Sprintf("10 16 PNG rgb %d", n) {
		t.Error(lines[0])
	}
	for i, path := range []string{"/rgb/14/8875/5705.png", "/rgb/16/35502/22823.png", "/rgb/10/554/356.png"} {
		if want := fmt.Sprintf("%x", get(s, path).Body.Bytes()); lines[i+1] != want {
			t.Errorf("%s: %d digits, want %d", path, len(lines[i+1]), len(want))
		}
	}
	if lines[4] != "none" {
		t.Error("a tile outside is there")
	}
}

func TestExportsThatCannotBeMade(t *testing.T) {
	s := fixture(t, nil)
	name := filepath.Join(t.TempDir(), "x.pmtiles")
	bad := 30
	for what, e := range map[string]Export{"no layer": {Layer: "nothing"}, "levels": {Layer: "rgb", MaxZoom: &bad}} {
		if _, err := s.WritePMTiles(t.Context(), name, e); !errors.Is(err, ErrArgument) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if left, _ := filepath.Glob(name + "*"); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
}
