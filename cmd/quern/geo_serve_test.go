//go:build !bootstrap

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// safeBuffer is a buffer that a command writes while a test reads.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func TestGeoServeAnswersUntilItIsToldToEnd(t *testing.T) {
	name, _ := geoFile(t, false)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out, errs safeBuffer
	done := make(chan int)
	go func() {
		done <- run(ctx, []string{"geo", "serve", "--listen", "127.0.0.1:0", "--device", "cpu", "--pages", "64", "--json", name}, &out, &errs)
	}()
	address := ""
	for range 200 {
		if m := regexp.MustCompile(`map +(http://\S+/)`).FindStringSubmatch(out.String()); m != nil {
			address = m[1]
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if address == "" {
		t.Fatalf("no address: %s %s", out.String(), errs.String())
	}
	layer := strings.TrimSuffix(filepath.Base(name), ".tif")
	for path, want := range map[string]string{"": "<!doctype html>", "wms?REQUEST=GetCapabilities": "<Name>" + layer + "</Name>", layer + "/tile.json": `"tilejson"`,
		"metrics": "quern_wms_layers 1", "health": "ok", layer + "/0/0/0.png": "PNG"} {
		a, err := http.Get(address + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(a.Body)
		a.Body.Close()
		if err != nil || a.StatusCode != 200 || !strings.Contains(string(body), want) {
			t.Errorf("%s: %d %v %.300s", path, a.StatusCode, err, body)
		}
	}
	cancel()
	if code := <-done; code != 0 {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
	line, _, _ := strings.Cut(errs.String(), "\n")
	var entry struct{ Msg, Operation, URL string }
	if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Msg != "request" || entry.Operation == "" {
		t.Errorf("log %q: %v", line, err)
	}
}

func TestGeoServeLeavesOutWhatCannotBeShown(t *testing.T) {
	good, _ := geoFile(t, false)
	damaged := filepath.Join(t.TempDir(), "damaged.tif")
	if err := os.WriteFile(damaged, []byte("II*\x00damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out, errs safeBuffer
	done := make(chan int)
	go func() {
		done <- run(ctx, []string{"geo", "serve", "--listen", "127.0.0.1:0", "--device", "cpu", "--pages", "64", "-q", damaged, good}, &out, &errs)
	}()
	for range 200 {
		if strings.Contains(out.String(), "Ctrl+C") {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	cancel()
	if code := <-done; code != 0 || !strings.HasPrefix(out.String(), "1 layer on cpu") || strings.Count(errs.String(), "layer=damaged") != 1 || strings.Count(errs.String(), "\n") != 1 {
		t.Errorf("exit code %d: %s\n%s", code, out.String(), errs.String())
	}
	if code, _, stderr := runGeo(t, "serve", "--listen", "127.0.0.1:0", "--device", "cpu", damaged); code != 1 || !strings.Contains(stderr, "no layer can be shown") || !strings.Contains(stderr, "truncated or damaged") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestGeoTilesWritesAnArchive(t *testing.T) {
	name, _ := geoFile(t, false)
	result := filepath.Join(t.TempDir(), "result.pmtiles")
	code, out, stderr := runGeo(t, "tiles", "--device", "cpu", "--json", "--format", "jpg", "--min-zoom", "8", "--max-zoom", "12", "-b", "1", "--ramp", "heat", "--rescale", "0,100", "-r", "near", name, result)
	var info tilesJSON
	if err := json.Unmarshal([]byte(out), &info); code != 0 || err != nil || info.Tiles < 5 || info.Bytes < 1000 {
		t.Fatalf("exit code %d, %v: %s%s", code, err, out, stderr)
	}
	other := result + ".partial" // of another run
	if err := os.WriteFile(other, []byte("other"), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := runGeo(t, "tiles", "--device", "cpu", "-q", "--overwrite", "--min-zoom", "8", "--max-zoom", "9", name, result); code != 0 {
		t.Error(stderr)
	}
	if text, err := os.ReadFile(other); err != nil || string(text) != "other" {
		t.Errorf("the file of another run has %q, %v", text, err)
	}
	if files, err := filepath.Glob(result + ".*"); err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
	for _, style := range []string{"hillshade", "no-such"} {
		other := filepath.Join(t.TempDir(), "other.pmtiles")
		if code, _, stderr := runGeo(t, "tiles", "--device", "cpu", "-q", "--format", "png8", "--style", style, name, other); code == 0 {
			t.Errorf("--style %s of an image that is none of heights: %s", style, stderr)
		}
	}
	eight := filepath.Join(t.TempDir(), "eight.pmtiles")
	if code, _, stderr := runGeo(t, "tiles", "--device", "cpu", "-q", "--format", "png8", "--max-zoom", "14", name, eight); code != 0 {
		t.Errorf("png8: %s", stderr)
	} else if data, err := os.ReadFile(eight); err != nil || !bytes.Contains(data, []byte("PLTE")) {
		t.Errorf("png8: no palette: %v", err)
	}
	if code, _, stderr := runGeo(t, "tiles", name, result); code != 1 || !strings.Contains(stderr, "-overwrite replaces it") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	before, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, arguments := range [][]string{{"tiles", "--overwrite", name, name}, {"translate", name, filepath.Dir(name) + "/./" + filepath.Base(name)}} {
		if code, _, stderr := runGeo(t, arguments...); code != 1 || !strings.Contains(stderr, "is a source and the result") {
			t.Errorf("%v: exit code %d: %s", arguments, code, stderr)
		}
	}
	if after, err := os.ReadFile(name); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the source has changed: %v", err)
	}
	for _, arguments := range [][]string{{"tiles", name}, {"tiles", "--format", "gif", name, "x"}, {"tiles", "-r", "cubic", name, "x"}, {"tiles", "--rescale", "1", name, "x"}, {"serve"}} {
		if code, _, _ := runGeo(t, arguments...); code != 2 {
			t.Errorf("%v: exit code %d", arguments, code)
		}
	}
}
