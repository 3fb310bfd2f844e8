package wms

import (
	"fmt"
	"image/color"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	stdimage "image"
	"image/png"
)

// photograph opens a page in a browser and returns what is on the screen once it has loaded.
func photograph(t *testing.T, url string) stdimage.Image {
	t.Helper()
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is missing")
	}
	if testing.Short() {
		t.Skip("starts a browser")
	}
	folder := t.TempDir()
	shot := filepath.Join(folder, "shot.png")
	cmd := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
		"--disable-sync", "--user-data-dir="+filepath.Join(folder, "profile"), "--window-size=900,600", "--screenshot="+shot, url)
	cmd.WaitDelay = time.Second
	timer := time.AfterFunc(90*time.Second, func() { _ = cmd.Process.Kill() })
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
	return im
}

// count returns how many pixels of an image have a color.
func count(im stdimage.Image, c color.NRGBA) int {
	n := 0
	b := im.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if colorAt(im, x, y) == c {
				n++
			}
		}
	}
	return n
}

// onlyLayer leaves one layer of a fixture.
func onlyLayer(name string) func(c *Config) {
	return func(c *Config) {
		for _, l := range c.Layers {
			if l.Name == name {
				c.Layers = []Layer{l}
			}
		}
	}
}

// pixels counts the pixels of a color on the page of a server. A page around it chooses the
// style and has loaded when the middle of the map has the color, or after a minute.
func pixels(t *testing.T, s *Server, style string, want color.NRGBA) int {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/", s)
	shown := make(chan struct{})
	var once sync.Once
	mux.HandleFunc("/shown", func(http.ResponseWriter, *http.Request) { once.Do(func() { close(shown) }) })
	mux.HandleFunc("/wait.png", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-shown:
		case <-time.After(time.Minute):
		case <-r.Context().Done():
		}
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("/around.html", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `<body style="margin:0"><iframe src="/" style="border:0;width:900px;height:600px"></iframe><img src="/wait.png"><script>
let chosen = false;
const wait = setInterval(() => {
  const page = frames[0].document;
  if (!page.body || !page.body.dataset.ready) return;
  if (!chosen) {
    const styles = page.getElementById('style');
    styles.value = %q;
    styles.dispatchEvent(new Event('change'));
    chosen = true;
  }
  const map = page.querySelector('canvas');
  if (!map) return;
  const middle = map.getContext('2d').getImageData(map.width / 2, map.height / 2, 1, 1).data;
  if (String(middle) !== '%d,%d,%d,255') return;
  clearInterval(wait);
  fetch('/shown');
}, 50);
</script>`, style, want.R, want.G, want.B) // fails only if the client has disconnected
	})
	h := httptest.NewServer(mux)
	defer h.Close()
	return count(photograph(t, h.URL+"/around.html"), want)
}

func TestThePageShowsALayer(t *testing.T) {
	if n := pixels(t, fixture(t, onlyLayer("rgb")), "default", color.NRGBA{200, 100, 50, 255}); n < 900*600/20 {
		t.Errorf("%d pixels have the layer's color", n)
	}
}

func TestThePageShowsAShadingThatIsChosen(t *testing.T) {
	s := fixture(t, onlyLayer("dem"))
	// The surface is a plane; its brightness is the same everywhere.
	want := colorAt(decode(t, get(s, "/dem/14/8875/5705.png?STYLES=hillshade")), 200, 200)
	if n := pixels(t, s, "hillshade", want); n < 900*600/20 {
		t.Errorf("%d pixels have the color %v of the hillshade", n, want)
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
