package report

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quern.dev/internal/ptxvm"
	"quern.dev/internal/trace"
)

// program writes a recording of a program with a kernel of each kind of trouble.
type program struct {
	*trace.Encoder
	text    bytes.Buffer
	op      uint64
	now     int64
	stream  trace.Track
	host    trace.Track
	kernels map[string]*trace.Label
}

func newProgram() *program {
	p := &program{stream: trace.Track{Process: "cuda:0", Thread: "default stream"}, host: trace.Track{Process: "host", Thread: "goroutine 1"},
		kernels: map[string]*trace.Label{}}
	trace.AddDevice(trace.Device{Process: "cuda:0", Name: "NVIDIA H200", Backend: "cuda", Architecture: "sm_90", Multiprocessors: 132, Memory: 141 << 30})
	p.Encoder = trace.NewEncoder(&p.text)
	return p
}

// do records that the host asked for work, which the device then did.
func (p *program) do(kind trace.Kind, name string, duration int64, more func(host *trace.Event)) {
	label := trace.LabelOf(kind)
	if kind <= trace.Graph {
		if label = p.kernels[name]; label == nil {
			label = &trace.Label{Name: name, File: "example.com/filters/blur.go", Line: 10}
			p.kernels[name] = label
		}
	}
	p.op++
	host := trace.Event{Kind: kind, Label: label, Track: &p.host, Start: p.now, Duration: 3000, Op: p.op}
	device := trace.Event{Kind: kind, OnDevice: true, Label: label, Track: &p.stream, Start: p.now + 5000, Duration: duration, Op: p.op}
	if more != nil {
		more(&host)
	}
	device.Bytes = host.Bytes
	p.Event(&host)
	p.Event(&device)
	p.now += 5000 + duration
}

func (p *program) read(t *testing.T) *Recording {
	t.Helper()
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	r, err := Read(&p.text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (p *program) report(t *testing.T, in Input) *Report {
	t.Helper()
	in.Recording = p.read(t)
	in.Created = time.Unix(0, 0).UTC()
	return Analyze(in)
}

func TestKernelsHaveTheirTimesAndLimits(t *testing.T) {
	p := newProgram()
	shape := &trace.Shape{Grid: [3]int32{32, 1, 1}, Block: [3]int32{256, 1, 1}, Registers: 128, Shared: 0, Read: 4 << 20, Write: 4 << 20}
	for i := range 10 {
		p.do(trace.Launch, "blur", int64(100_000+i*1000), func(e *trace.Event) { e.Shape = shape })
	}
	p.do(trace.Launch, "sharpen", 50_000, nil)
	rep := p.report(t, Input{Machine: &Machine{CopyBandwidth: 100e9, Flops32: 60e12}})
	if len(rep.Kernels) != 2 {
		t.Fatalf("%d kernels, want 2", len(rep.Kernels))
	}
	k := rep.Kernels[0]
	if k.Name != "blur" || k.Calls != 10 || k.Total != 1_045_000 || k.Min != 100_000 || k.Max != 109_000 {
		t.Errorf("the hottest kernel is %+v", k)
	}
	if k.Occupancy != 0.25 || k.Limit != "registers" {
		t.Errorf("occupancy %v limited by %s, want 0.25 by registers: 2 blocks of 256 threads of 2048", k.Occupancy, k.Limit)
	}
	if got, want := k.Bandwidth, float64(8<<20)/104.5e-6; got < 0.99*want || got > 1.01*want {
		t.Errorf("bandwidth %v, want %v", got, want)
	}
	advice := strings.Join(k.Advice, "\n")
	for _, want := range []string{"limited by registers", "fills only 12 % of the GPU", "80 % of the speed of a copy"} {
		if !strings.Contains(advice, want) {
			t.Errorf("the advice %q does not say %q", advice, want)
		}
	}
	if d := rep.Devices[0]; d.Busy != 1_095_000 || d.Span != 1_095_000+10*5000 {
		t.Errorf("the device was busy for %d of %d ns", d.Busy, d.Span)
	}
}

func TestRoundTripsAndRepeatedUploadsAreFound(t *testing.T) {
	copied := func(host, data uint64) func(*trace.Event) {
		return func(e *trace.Event) { e.Bytes, e.Host, e.Data = 1<<20, host, data }
	}
	for _, c := range []struct {
		name   string
		record func(p *program)
		want   string
	}{
		{"data that come back unchanged are a round trip", func(p *program) {
			p.do(trace.CopyOut, "", 1000, copied(0x1000, 7))
			p.do(trace.CopyIn, "", 2000, copied(0x1000, 7))
		}, "round trip 1 1048576 2000"},
		{"data that the host changed are not", func(p *program) {
			p.do(trace.CopyOut, "", 1000, copied(0x1000, 7))
			p.do(trace.CopyIn, "", 1000, copied(0x1000, 9))
		}, ""},
		{"other memory is another copy", func(p *program) {
			p.do(trace.CopyOut, "", 1000, copied(0x1000, 7))
			p.do(trace.CopyIn, "", 1000, copied(0x2000, 7))
		}, ""},
		{"the same data uploaded three times are uploaded twice too often", func(p *program) {
			for range 3 {
				p.do(trace.CopyIn, "", 1000, copied(0x1000, 7))
			}
		}, "repeated upload 2 2097152 2000"},
		{"a download that repeats is not needless: the device may have changed the data", func(p *program) {
			p.do(trace.CopyOut, "", 1000, copied(0x1000, 7))
			p.do(trace.CopyOut, "", 1000, copied(0x1000, 7))
		}, ""},
	} {
		p := newProgram()
		c.record(p)
		got := ""
		for _, trip := range p.report(t, Input{}).Trips {
			got += fmt.Sprint(trip.Kind, " ", trip.Count, " ", trip.Bytes, " ", trip.Time)
		}
		if got != c.want {
			t.Errorf("%s: found %q, want %q", c.name, got, c.want)
		}
	}
}

func TestMemoryHasItsPeakAndLeaks(t *testing.T) {
	p := newProgram()
	track := &trace.Track{Process: "cuda:0", Thread: "memory"}
	label, pool := &trace.Label{Name: "memory"}, &trace.Label{Name: trace.PoolMemory}
	change := func(kind trace.Kind, l *trace.Label, id uint64, bytes int64) {
		p.now += 1000
		p.Event(&trace.Event{Kind: kind, Label: l, Track: track, Start: p.now, Op: id, Bytes: bytes})
	}
	change(trace.Alloc, label, 1, 100)
	change(trace.Alloc, label, 2, 50)
	change(trace.Free, label, 1, 0)
	change(trace.Free, label, 99, 0) // allocated before the recording
	change(trace.Alloc, pool, 3, 60)
	rep := p.report(t, Input{})
	if len(rep.Memory) != 1 {
		t.Fatalf("memory of %d devices", len(rep.Memory))
	}
	m := rep.Memory[0]
	if m.Peak != 150 || m.PeakAt != 1000 {
		t.Errorf("peak of %d bytes at %d, want 150 at 1000", m.Peak, m.PeakAt)
	}
	for _, a := range m.Places {
		if want := (Allocation{Count: 2, Bytes: 150, AtPeak: 150, Left: 50, Leaks: 1}); !a.Pool && a != want {
			t.Errorf("buffers are %+v, want %+v", a, want)
		}
		if want := (Allocation{Pool: true, Count: 1, Bytes: 60, Left: 60, Leaks: 1}); a.Pool && a != want {
			t.Errorf("the pool is %+v, want %+v", a, want)
		}
	}
	if text := fmt.Sprint(rep.Findings); !strings.Contains(text, "50 bytes in 1 allocation of cuda:0 were not freed") {
		t.Errorf("findings are %s", text)
	}
}

func TestGapsSayWhatTheHostDid(t *testing.T) {
	p := newProgram()
	p.do(trace.Launch, "blur", 10_000, nil)
	p.Event(&trace.Event{Kind: trace.Wait, Label: trace.LabelOf(trace.Wait), Track: &p.host, Start: p.now, Duration: 80_000})
	p.now += 95_000
	p.do(trace.Launch, "sharpen", 10_000, nil)
	p.now += 200_000
	p.do(trace.Launch, "blur", 10_000, nil)
	rep := p.report(t, Input{})
	if len(rep.Gaps) != 2 || rep.Gaps[0].Host != "Go code" || rep.Gaps[0].Duration != 205_000 {
		t.Fatalf("gaps are %+v", rep.Gaps)
	}
	if g := rep.Gaps[1]; g.Host != "wait" || g.After != "blur" || g.Before != "sharpen" || g.Duration != 100_000 {
		t.Errorf("the second gap is %+v", g)
	}
}

func TestALongTimelineIsAddedUp(t *testing.T) {
	p := newProgram()
	const n = mostRows * 2
	for range n {
		p.do(trace.Launch, "step", 2000, nil)
	}
	p.do(trace.Launch, "long", 1e9, nil)
	rep := p.report(t, Input{})
	rows, events, busy := 0, int64(0), int64(0)
	long := false
	for _, l := range rep.Timeline.Tracks {
		rows += len(l.Rows)
		for _, row := range l.Rows {
			events += row[8]
			if l.Device {
				busy += row[9]
			}
			long = long || row[1] == 1e9 && row[8] == 1
		}
	}
	if rows > mostRows || rep.Timeline.Merged == 0 {
		t.Errorf("the timeline has %d rows, want at most %d", rows, mostRows)
	}
	if events != 2*(n+1) || busy != n*2000+1e9 || !long {
		t.Errorf("the rows stand for %d events that take %d ns; the long one is there: %v", events, busy, long)
	}
	if k := rep.Kernels[1]; k.Calls != n {
		t.Errorf("%d launches, want %d", k.Calls, n)
	}
}

func TestARecordingOfAKilledProgramIsRead(t *testing.T) {
	p := newProgram()
	for range 100 {
		p.do(trace.Launch, "blur", 10_000, nil)
	}
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	text := p.text.String()
	r, err := Read(strings.NewReader(text[:strings.LastIndex(text, "e ")+9]))
	if err != nil {
		t.Fatal(err)
	}
	rep := Analyze(Input{Recording: r})
	if len(r.Events) != 199 || !r.Cut || !strings.Contains(strings.Join(rep.Notes, "\n"), "killed") {
		t.Errorf("%d events, cut %v, notes %q", len(r.Events), r.Cut, rep.Notes)
	}
}

func TestDamagedRecordingsAreErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "the file is empty",
		"something else\n":          "not a recording",
		"h 99 0 0 \"\" \"\" \"\"\n": "line 1 is damaged",
		"h 1 0 0 \"go\" \"p\" \"m\"\ne 0 0 5 1 0 0 0 0 0 0 0 0 0 0 1\n": "line 2 is damaged", // no label 5
		"h 1 0 0 \"go\" \"p\" \"m\"\ns 1 3\n":                           "line 2 is damaged",
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	p := newProgram()
	p.do(trace.Launch, "blur", 10_000, nil)
	p.Note("note")
	p.Lost(1, 2)
	p.Flush()
	f.Add(p.text.Bytes())
	f.Fuzz(func(t *testing.T, text []byte) {
		if r, err := Read(bytes.NewReader(text)); err == nil {
			Analyze(Input{Recording: r})
		}
	})
}

// counts are those of a kernel with three lines. One of them is bad in every way.
func counts() []ptxvm.KernelCount {
	line := func(n int, c ptxvm.Count) ptxvm.LineCount { return ptxvm.LineCount{File: "blur.go", Line: n, Count: c} }
	return []ptxvm.KernelCount{{Name: "example.com/filters.blur", Launches: 2, Blocks: 4, Threads: 1024, Lines: []ptxvm.LineCount{
		line(3, ptxvm.Count{Instructions: 100, Lanes: 3200}),
		line(4, ptxvm.Count{Instructions: 300, Lanes: 3000, Branches: 10, Diverged: 5, Operations: 3000, Loads: 10, Bytes: 1280, Sectors: 320, Least: 40, Shared: 10, Passes: 80, Fewest: 10}),
	}}}
}

func filters(t *testing.T) Sources {
	t.Helper()
	dir := t.TempDir()
	text := "package filters\n\nfunc blur() {\n\ty[i] = tile[i*32]\n}\n// </script><b>\n"
	if err := os.WriteFile(filepath.Join(dir, "blur.go"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	s := NewSources(nil)
	s.Add("example.com/filters", dir)
	return s
}

func TestListingsShowWhatLinesDid(t *testing.T) {
	var b strings.Builder
	if err := WriteText(&b, Listings(counts(), filters(t)), 0); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"example.com/filters.blur: 2 launches, 4 blocks, 1,024 threads",
		" 25.0 %        100   32.0                                3  func blur() {",
		" 75.0 %        300   10.0      50 %    32.0!   8.0!      4      y[i] = tile[i*32]",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the listing lacks %q:\n%s", want, b.String())
		}
	}
}

func TestCountsGiveAdviceAndAPlaceBelowTheRoofline(t *testing.T) {
	p := newProgram()
	p.do(trace.Launch, "blur", 1000, nil)
	rep := p.report(t, Input{Counts: counts(), Sources: filters(t)})
	k := rep.Kernels[0]
	if !k.Counted || k.Bytes != 320*32/2 || k.Operations != 1500 || k.Flops != 1.5e9 {
		t.Errorf("the kernel is %+v", k)
	}
	advice := strings.Join(k.Advice, "\n")
	for _, want := range []string{"blur.go:4: accesses touch 8.0 times", "bank conflicts make accesses to shared memory take 8.0 times", "10 of 32 lanes"} {
		if !strings.Contains(advice, want) {
			t.Errorf("the advice %q does not say %q", advice, want)
		}
	}
}

// TestCachesServeRepeatedReads: the simulator has no caches, so it counts each read of an element.
func TestCachesServeRepeatedReads(t *testing.T) {
	for _, c := range []struct {
		name        string
		read, write int64
		bytes       float64
	}{
		{"large slices that are read in part", 1 << 20, 1 << 20, 320 * 32 / 2},
		{"small slices, which are read again", 1024, 512, 2048},
	} {
		p := newProgram()
		p.do(trace.Launch, "blur", 1000, func(e *trace.Event) { e.Shape = &trace.Shape{Read: c.read, Write: c.write} })
		k := p.report(t, Input{Counts: counts(), Sources: filters(t)}).Kernels[0]
		if !k.Counted || k.Bytes != c.bytes || k.Bandwidth != c.bytes*1e6 {
			t.Errorf("%s: %v bytes, %v per second; want %v", c.name, k.Bytes, k.Bandwidth, c.bytes)
		}
	}
}

func TestAdviceForGPUsIsNotGivenForACPU(t *testing.T) {
	advice := func(architecture string) string {
		p := newProgram()
		trace.AddDevice(trace.Device{Process: "cuda:0", Name: "AMD EPYC", Backend: "cpu", Architecture: architecture})
		p.Encoder = trace.NewEncoder(&p.text)
		p.do(trace.Launch, "blur", 100_000, nil)
		return strings.Join(p.report(t, Input{Machine: &Machine{CopyBandwidth: 100e9, Flops32: 60e12}, Counts: counts(), Sources: filters(t)}).Kernels[0].Advice, "\n")
	}
	const waits = "it waits, for memory or for other threads"
	if a := advice("sm_90"); !strings.Contains(a, waits) {
		t.Errorf("the advice for a GPU is %q", a)
	}
	if a := advice(""); strings.Contains(a, waits) {
		t.Errorf("the advice for a CPU is %q", a)
	}
}

func TestCountsThatDoNotFitAKernelAreNotUsed(t *testing.T) {
	launch := func(kernel string, size int64, blocks int32) *program {
		p := newProgram()
		shape := &trace.Shape{Grid: [3]int32{blocks, 1, 1}, Block: [3]int32{256, 1, 1}, Read: size, Write: size}
		p.do(trace.Launch, kernel, 1000, func(e *trace.Event) { e.Shape = shape })
		return p
	}
	for _, c := range []struct {
		name        string
		kernel      string // on the device; "blur" on the simulator
		size        int64  // of its slices; 4096 on the simulator
		blocks      int32  // 2 on the simulator
		counted     bool
		explanation string
	}{
		{"the same launch", "blur", 4096, 2, true, ""},
		{"the same data in another grid", "blur", 4096, 64, true, ""},
		{"more data", "blur", 1 << 20, 2, false, "Counted at another size, so the counts are not used here: 8192 bytes of slices per launch on the simulator, 2048 KiB of slices on this device."},
		{"a kernel for CPUs only", "blurParts", 4096, 2, false, "did not launch this kernel on the simulator"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := Input{Counts: counts(), Sources: filters(t), Simulated: launch("blur", 4096, 2).read(t)}
			k := launch(c.kernel, c.size, c.blocks).report(t, in).Kernels[0]
			if k.Counted != c.counted || (k.Note == "") != c.counted || !strings.Contains(k.Note, c.explanation) {
				t.Errorf("counted: %v, want %v; %q does not say %q", k.Counted, c.counted, k.Note, c.explanation)
			}
			if !c.counted && (k.Bytes != float64(2*c.size) || k.Operations != 0) {
				t.Errorf("%v bytes and %v operations, want those of the slices and none", k.Bytes, k.Operations)
			}
		})
	}
}

func TestThePageRefersToNothingElse(t *testing.T) {
	p := newProgram()
	p.do(trace.Launch, "</script><img src=x>", 1000, nil)
	var b strings.Builder
	if err := p.report(t, Input{Counts: counts(), Sources: filters(t)}).WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	html := b.String()
	for _, bad := range []string{"http://", "https://", "<link", "@import", "url(", "<img"} {
		if at := strings.Index(strings.ReplaceAll(html, "http://www.w3.org/2000/svg", ""), bad); at >= 0 {
			t.Errorf("the page has %q", bad)
		}
	}
	if n := strings.Count(html, "</script>"); n != 2 {
		t.Errorf("%d scripts end, want 2: data end one", n)
	}
}
