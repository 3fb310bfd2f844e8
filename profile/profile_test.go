package profile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	pprof "github.com/google/pprof/profile"
	"quern.dev/algo"
	"quern.dev/gpu"
	"quern.dev/profile"
)

// sumOf launches the kernels of a sum on a device, and waits.
func sumOf(t testing.TB, d *gpu.Device, times int) {
	t.Helper()
	s := d.DefaultStream()
	x, err := gpu.Upload(s, make([]float32, 1000))
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	sum, err := gpu.Alloc[float32](d, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer sum.Close()
	for range times {
		if err := algo.Reduce(s, algo.Sum[float32](), sum, x); err != nil {
			t.Fatal(err)
		}
	}
	if err := gpu.Download(context.Background(), s, make([]float32, 1), sum); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB) *gpu.Device {
	t.Helper()
	d, err := gpu.Open(gpu.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// read reads a profile with pprof's own package.
func read(t *testing.T, b []byte) (p *pprof.Profile, sums map[string]int64) {
	t.Helper()
	p, err := pprof.ParseData(b)
	if err == nil {
		err = p.CheckValid()
	}
	if err != nil {
		t.Fatal(err)
	}
	sums = map[string]int64{}
	for i, s := range p.SampleType {
		for _, v := range p.Sample {
			sums[s.Type] += v.Value[i]
		}
	}
	return p, sums
}

func TestARecordingHasTheWorkOfADevice(t *testing.T) {
	d := open(t)
	r, err := profile.Start(profile.Config{})
	if err != nil {
		t.Fatal(err)
	}
	sumOf(t, d, 10)
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	var kernels int
	var device, host time.Duration
	for e := range r.Events() {
		switch {
		case e.Kind == profile.Kernel && e.OnDevice:
			kernels++
			device += e.Duration
			if e.Process != d.ID() || len(e.Stack()) == 0 || e.Op == 0 {
				t.Errorf("%+v", e)
			}
		case e.Kind == profile.Kernel:
			host += e.Duration
		}
	}
	if kernels < 10 || device <= 0 || host <= 0 {
		t.Errorf("%d kernels, %v on the device, %v on the host", kernels, device, host)
	}
	var b bytes.Buffer
	if err := r.WriteProfile(&b); err != nil {
		t.Fatal(err)
	}
	p, sums := read(t, b.Bytes())
	if sums["gpu"] <= 0 || sums["launches"] < 10 || sums["copied"] < 4004 {
		t.Errorf("sums %v", sums)
	}
	if text := p.String(); !strings.Contains(text, "quern.dev/profile_test.sumOf") || !strings.Contains(text, "kernel ") {
		t.Errorf("the profile does not have the program's functions: %.2000s", text)
	}
	b.Reset()
	if err := r.WriteTrace(&b); err != nil || !json.Valid(b.Bytes()) {
		t.Errorf("the trace is not valid: %v", err)
	}
}

func TestSectionsHaveTheWorkOfTheirStream(t *testing.T) {
	d := open(t)
	r, err := profile.Start(profile.Config{})
	if err != nil {
		t.Fatal(err)
	}
	func() {
		defer profile.Section(t.Context(), d.DefaultStream(), "all").End()
		sumOf(t, d, 3)
	}()
	profile.Section(t.Context(), nil, "host only").End()
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	sections := map[string]int{}
	for e := range r.Events() {
		if e.Kind == profile.NamedSection {
			sections[e.Name]++
		} else if e.Kind == profile.Kernel && e.Section != "all" {
			t.Errorf("a kernel belongs to section %q", e.Section)
		}
	}
	if sections["all"] != 2 || sections["host only"] != 1 { // on the host and on the device
		t.Errorf("sections %v", sections)
	}
}

// TestSectionsNameTheLineThatBeganThem: a section's place is in the program, as that of a launch is.
func TestSectionsNameTheLineThatBeganThem(t *testing.T) {
	r, err := profile.Start(profile.Config{})
	if err != nil {
		t.Fatal(err)
	}
	profile.Section(t.Context(), nil, "here").End()
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.WriteTrace(&b); err != nil {
		t.Fatal(err)
	}
	if want := `"call":"quern.dev/profile_test.TestSectionsNameTheLineThatBeganThem (profile_test.go:`; !strings.Contains(b.String(), want) {
		t.Errorf("the trace does not have %s: %s", want, b.String())
	}
}

func TestASectionCostsNothingWithoutARecording(t *testing.T) {
	d := open(t)
	s, ctx := d.DefaultStream(), t.Context()
	if n := testing.AllocsPerRun(100, func() { profile.Section(ctx, s, "nothing").End() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// fullDisk fails to write.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space") }

func TestBadUseReturnsErrors(t *testing.T) {
	for _, n := range []int{-1, profile.MaxEvents + 1} {
		if _, err := profile.Start(profile.Config{Events: n}); err == nil {
			t.Errorf("a recording of %d events", n)
		}
	}
	var r *profile.Recording
	for _, err := range []error{r.Stop(), r.WriteTrace(io.Discard), new(profile.Recording).WriteProfile(io.Discard), r.WriteReport(io.Discard)} {
		if err == nil || !strings.Contains(err.Error(), "not made by Start") {
			t.Errorf("%v", err)
		}
	}
	for range r.Events() {
		t.Error("a recording that was not started has events")
	}
	good, err := profile.Start(profile.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer good.Stop()
	if err := good.WriteReport(fullDisk{}); err == nil || err.Error() != "profile: write report: no space" {
		t.Errorf("a report that cannot be written: %v", err)
	}
	if err := good.WriteTrace(nil); err == nil {
		t.Error("a trace was written to no writer")
	}
}

func TestTheHandlerRecordsOnRequest(t *testing.T) {
	d := open(t)
	mux := http.NewServeMux()
	mux.Handle("/debug/gpu/", profile.Handler())
	server := httptest.NewServer(mux)
	defer server.Close()
	get := func(path string) (int, []byte) {
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			for {
				select {
				case <-stop:
					return
				default:
					sumOf(t, d, 1)
				}
			}
		}()
		answer, err := http.Get(server.URL + path)
		close(stop)
		<-stopped
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		b, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, b
	}
	if code, b := get("/debug/gpu/profile?seconds=0.2"); code != http.StatusOK {
		t.Errorf("status %d: %s", code, b)
	} else if _, sums := read(t, b); sums["launches"] == 0 {
		t.Errorf("sums %v", sums)
	}
	if code, b := get("/debug/gpu/trace?seconds=0.1"); code != http.StatusOK || !json.Valid(b) || len(b) < 1000 {
		t.Errorf("status %d: %.100s", code, b)
	}
	if code, b := get("/debug/gpu/report?seconds=0.1"); code != http.StatusOK || !bytes.Contains(b, []byte("<!DOCTYPE html>")) || !bytes.Contains(b, []byte("quern.dev/algo")) {
		t.Errorf("status %d: %.100s", code, b)
	}
	if code, b := get("/debug/gpu/"); code != http.StatusOK || !bytes.Contains(b, []byte("profile?seconds=5")) {
		t.Errorf("status %d: %s", code, b)
	}
	if code, b := get("/debug/gpu/heap"); code != http.StatusNotFound {
		t.Errorf("status %d: %s", code, b)
	}
	for _, seconds := range []string{"x", "0", "-1", "NaN", "601", "1e9"} {
		if code, _ := get("/debug/gpu/profile?seconds=" + seconds); code != http.StatusBadRequest {
			t.Errorf("seconds=%s: status %d", seconds, code)
		}
	}
}

// TestEveryProgramIsRecorded runs the test binary as a program that does not use this package.
func TestEveryProgramIsRecorded(t *testing.T) {
	if mode := os.Getenv("QUERN_TEST_PROGRAM"); mode != "" {
		d, err := gpu.Open(gpu.Config{})
		if err != nil {
			t.Fatal(err)
		}
		sumOf(t, d, 20)
		if mode == "killed" {
			time.Sleep(time.Second)
			process, _ := os.FindProcess(os.Getpid())
			process.Kill()
			select {}
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, mode := range []string{"closed", "killed"} {
		t.Run(mode, func(t *testing.T) {
			dir := t.TempDir()
			trace, gpuProfile := filepath.Join(dir, "out.json"), filepath.Join(dir, "gpu.pb.gz")
			c := exec.Command(os.Args[0], "-test.run=^TestEveryProgramIsRecorded$")
			c.Env = append(os.Environ(), "QUERN_TEST_PROGRAM="+mode, "QUERN_TRACE="+trace, "QUERN_PPROF="+gpuProfile)
			out, err := c.CombinedOutput()
			if (err != nil) != (mode == "killed") {
				t.Fatalf("%v: %s", err, out)
			}
			text, err := os.ReadFile(trace)
			if err != nil || !json.Valid(text) || bytes.Count(text, []byte(`"cat":"kernel"`)) < 40 {
				t.Errorf("the trace has %d bytes, %v", len(text), err)
			}
			b, err := os.ReadFile(gpuProfile)
			if err != nil {
				t.Fatal(err)
			}
			if _, sums := read(t, b); sums["launches"] < 20 || sums["gpu"] == 0 {
				t.Errorf("sums %v", sums)
			}
		})
	}
}

func BenchmarkSection(b *testing.B) {
	d := open(b)
	s, ctx := d.DefaultStream(), b.Context()
	b.ReportAllocs()
	for b.Loop() {
		profile.Section(ctx, s, "nothing").End()
	}
}
