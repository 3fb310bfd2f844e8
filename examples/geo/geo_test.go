package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quern.dev/examples/internal/exampletest"
	"quern.dev/gpu"
)

func TestRunOnTheCPU(t *testing.T) {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	o := options{out: t.TempDir(), size: 320, width: 32, verify: true}
	exampletest.Run(t, func(ctx context.Context, w io.Writer) error { return run(ctx, w, dev, o) }, "survey", "verified: the mosaic covers", "film", "quern geo mosaic -dem", "wrote")
	if m := exampletest.Picture(t, filepath.Join(o.out, "map.png")); m.Bounds().Dx() != 512 {
		t.Errorf("the picture is %v", m.Bounds())
	}
	t.Run("the map is served until an interrupt", func(t *testing.T) { testServing(t, dev, o) })
}

func testServing(t *testing.T, dev *gpu.Device, o options) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o.listen = l.Addr().String()
	if err := serve(t.Context(), io.Discard, dev, o); err == nil || !strings.Contains(err.Error(), "-listen names another address") {
		t.Errorf("a port that is taken: %v", err)
	}
	l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, &out, dev, o) }()
	deadline := time.Now().Add(20 * time.Second)
	for {
		answer, err := http.Get("http://" + o.listen + "/")
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				t.Errorf("the page has status %d", answer.StatusCode)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	cancel()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, c := range []struct {
		o    options
		want string
	}{
		{options{size: 100, width: 64, out: "x"}, "-size 100"},
		{options{size: 256, width: 50, out: "x"}, "-width 50"},
		{options{size: 256, width: 64}, "-out"},
	} {
		if err := c.o.check(gpu.CPU); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want one with %q", c.o, err, c.want)
		}
	}
	for _, b := range []gpu.Backend{gpu.CUDA, gpu.CPU, gpu.Sim} {
		o := options{out: "x"}
		if err := o.check(b); err != nil {
			t.Errorf("the defaults on %v: %v", b, err)
		}
	}
}
