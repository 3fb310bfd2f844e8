package wms

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	stdimage "image"
	"image/png"
)

// TestThePageShowsALayer opens the page in a browser and looks for the layer's colors on the screen.
func TestThePageShowsALayer(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is missing")
	}
	if testing.Short() {
		t.Skip("starts a browser")
	}
	s := fixture(t, func(c *Config) {
		for _, l := range c.Layers {
			if l.Name == "rgb" {
				c.Layers = []Layer{l}
			}
		}
	})
	h := httptest.NewServer(s)
	defer h.Close()
	folder := t.TempDir()
	shot := filepath.Join(folder, "shot.png")
	cmd := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
		"--disable-sync", "--user-data-dir="+filepath.Join(folder, "profile"), "--window-size=900,600", "--virtual-time-budget=8000", "--screenshot="+shot, h.URL+"/")
	cmd.WaitDelay = time.Second
	timer := time.AfterFunc(60*time.Second, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("chromium does not work here: %v %.300s", err, out)
	}
	f, err := os.Open(shot)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	im, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	b := im.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if c := colorAt(im, x, y); c.R == 200 && c.G == 100 && c.B == 50 {
				seen++
			}
		}
	}
	if seen < 900*600/20 {
		t.Errorf("%d of %v pixels have the layer's color", seen, stdimage.Pt(b.Dx(), b.Dy()))
	}
}

func TestThePageNeedsNoOtherServer(t *testing.T) {
	s := fixture(t, nil)
	body := get(s, "/").Body.String()
	for _, tag := range []string{`src="http`, `src='http`, `href="http`, "@import", "url(http"} {
		if strings.Contains(body, tag) {
			t.Errorf("the page has %s", tag)
		}
	}
	for _, license := range []string{"BSD 2-Clause", "MIT License", "ISC License"} {
		text, err := os.ReadFile("page/LICENSES")
		if err != nil || !strings.Contains(string(text), license) {
			t.Errorf("no %s: %v", license, err)
		}
	}
}
