package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"quern.dev/internal/nvml/fakenvml"
)

// announcements is a writer that can be read meanwhile.
type announcements struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (a *announcements) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.b.Write(p)
}

func (a *announcements) String() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.b.String()
}

var servedURL = regexp.MustCompile(`http://(\S+)/metrics`)

func TestExportServesMetricsUntilItIsInterrupted(t *testing.T) {
	withGPUs(t, fakenvml.H200(0), fakenvml.H200(1))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out, errs announcements
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"export", "-listen", "127.0.0.1:0", "-interval", "100ms"}, &out, &errs)
	}()
	var url string
	for deadline := time.Now().Add(10 * time.Second); url == ""; time.Sleep(time.Millisecond) {
		url = servedURL.FindString(errs.String())
		if time.Now().After(deadline) {
			t.Fatalf("no address in %q", errs.String())
		}
	}
	if !strings.Contains(errs.String(), "with 2 GPUs") {
		t.Errorf("messages: %q", errs.String())
	}
	for path, want := range map[string]string{"/metrics": `DCGM_FI_DEV_GPU_UTIL{gpu="1",`, "/": `<a href="metrics">`} {
		r, err := http.Get(strings.TrimSuffix(url, "/metrics") + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || r.StatusCode != 200 || !strings.Contains(string(text), want) {
			t.Errorf("%s: %s, %v, no %q in\n%s", path, r.Status, err, want, text)
		}
	}
	cancel()
	if code := <-ended; code != 0 || out.String() != "" {
		t.Errorf("exit code %d, standard output %q", code, out.String())
	}
}

func TestExportSaysWhatIsWrongWithTheAddress(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	for address, want := range map[string]string{
		l.Addr().String():  "uses the port; choose another one with --listen",
		"9400":             "want HOST:PORT or :PORT",
		"203.0.113.1:9400": "the address is not one of this machine",
	} {
		code, _, errs := quern(t, "export", "--listen", address)
		if code != 1 || !strings.HasPrefix(errs, "quern: export: listen on "+address+": ") || !strings.Contains(errs, want) {
			t.Errorf("%s: exit code %d, %q, want %q", address, code, errs, want)
		}
	}
}
