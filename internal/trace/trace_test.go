package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"quern.dev/internal/cupti"
	"quern.dev/internal/cupti/fakecupti"
)

var (
	stream = &Track{Process: "cuda:0", Thread: "default stream"}
	saxpy  = &Label{Name: "saxpy", File: "example.com/filters/saxpy.go", Line: 14}
)

// work records n launches of 3 us, 10 us apart.
func work(r *Recorder, n int) {
	for i := range n {
		o := r.Begin(Launch, saxpy, stream, 0)
		o.End(false)
		o.OnDevice(int64(i)*10_000, int64(i)*10_000+3000)
	}
}

func record(t *testing.T, most int, f func(r *Recorder)) *Memory {
	t.Helper()
	m := NewMemory(most)
	stop := Start(m)
	f(Active())
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	return m
}

// chromeEvent is an event of a trace file.
type chromeEvent struct {
	Phase    string         `json:"ph"`
	Name     string         `json:"name"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	Time     float64        `json:"ts"`
	Duration float64        `json:"dur"`
	ID       int            `json:"id"`
	Args     map[string]any `json:"args"`
}

func parse(t *testing.T, text []byte) (list []chromeEvent) {
	t.Helper()
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatalf("%v in %s", err, text[max(0, len(text)-200):])
	}
	return list
}

func TestTheTraceIsReadByChrome(t *testing.T) {
	odd := &Label{Name: "odd \"name\" \\ \n é"}
	m := record(t, 100, func(r *Recorder) {
		work(r, 2)
		r.Span(&Track{Process: "actors", Thread: "total"}, odd, 5, 10)
		r.Moment(stream, saxpy, "failed")
	})
	var b bytes.Buffer
	if err := m.WriteTrace(&b); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	seen := map[string]int{}
	for _, e := range parse(t, b.Bytes()) {
		if e.Phase == "M" {
			names[fmt.Sprint(e.Name, e.Process, e.Thread)] = e.Args["name"].(string)
			continue
		}
		process, thread := names[fmt.Sprint("process_name", e.Process, 0)], names[fmt.Sprint("thread_name", e.Process, e.Thread)]
		if process == "" || thread == "" {
			t.Errorf("the track of %+v has no name", e)
		}
		seen[e.Phase+" "+e.Name+" on "+process+", "+thread]++
		if e.Name == "saxpy" && e.Phase == "X" {
			if e.Duration != 3 || e.Args["source"] != "saxpy.go:14" || !strings.Contains(e.Args["call"].(string), "trace.work (trace_test.go:") {
				t.Errorf("%+v", e)
			}
		}
	}
	for _, want := range []struct {
		what  string
		count int
	}{
		{"X saxpy on cuda:0, default stream", 2}, {"X launch saxpy on host, goroutine 1", 2},
		{"s cause on host, goroutine 1", 2}, {"f cause on cuda:0, default stream", 2},
		{"X " + odd.Name + " on actors, total", 1}, {"i saxpy on cuda:0, default stream", 1},
	} {
		if seen[want.what] != want.count {
			t.Errorf("%d of %q, want %d, in %v", seen[want.what], want.what, want.count, seen)
		}
	}
}

// parseProfile reads a profile with pprof's own package, and returns the sums of its values.
func parseProfile(t *testing.T, b []byte) (p *profile.Profile, sums map[string]int64) {
	t.Helper()
	p, err := profile.ParseData(b)
	if err == nil {
		err = p.CheckValid()
	}
	if err != nil {
		t.Fatal(err)
	}
	sums = map[string]int64{}
	for i, s := range p.SampleType {
		for _, v := range p.Sample {
			sums[s.Type+"/"+s.Unit] += v.Value[i]
		}
	}
	return p, sums
}

func TestTheProfileIsReadByPprof(t *testing.T) {
	m := record(t, 1, func(r *Recorder) { // the profile has more than the trace
		work(r, 10)
		s := r.BeginSection(t.Context(), stream, &Label{Name: "load"})
		o := r.Begin(CopyIn, LabelOf(CopyIn), stream, 4096)
		o.End(false)
		o.OnDevice(0, 500)
		s.End()
		w := r.Begin(Wait, LabelOf(Wait), stream, 0)
		w.Waits()
		time.Sleep(time.Millisecond)
		w.End(false)
	})
	var b bytes.Buffer
	if err := m.WriteProfile(&b); err != nil {
		t.Fatal(err)
	}
	p, sums := parseProfile(t, b.Bytes())
	if sums["gpu/nanoseconds"] != 30_500 || sums["copied/bytes"] != 4096 || sums["launches/count"] != 10 || sums["waiting/nanoseconds"] < 1e6 {
		t.Errorf("the sums are %v", sums)
	}
	if p.DefaultSampleType != "gpu" {
		t.Errorf("the default is %q", p.DefaultSampleType)
	}
	for _, s := range p.Sample {
		var names []string
		for _, l := range s.Location {
			names = append(names, l.Line[0].Function.Name)
		}
		stack := strings.Join(names, " ")
		if s.Value[0] == 30_000 && (!strings.HasPrefix(stack, "kernel saxpy quern.dev/internal/trace.work ") || s.Location[0].Line[0].Line != 14 ||
			s.Location[0].Line[0].Function.Filename != saxpy.File || s.Label["device"][0] != "cuda:0") {
			t.Errorf("the stack of the kernel is %s, its labels %v", stack, s.Label)
		}
		if s.Value[1] > 0 && s.Label["section"][0] != "load" {
			t.Errorf("the labels of the copy are %v", s.Label)
		}
	}
}

func TestTheProfileNeedsNoSymbols(t *testing.T) {
	m := record(t, 100, func(r *Recorder) { work(r, 1) })
	var b bytes.Buffer
	if err := m.WriteProfile(&b); err != nil {
		t.Fatal(err)
	}
	p, _ := parseProfile(t, b.Bytes())
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Mapping) != 1 || p.Mapping[0].File != program || !p.Mapping[0].HasFunctions || !p.Mapping[0].HasFilenames || !p.Mapping[0].HasLineNumbers {
		t.Errorf("the mappings are %v; want one, of %s, with functions, files and lines", p.Mapping, program)
	}
	for _, l := range p.Location {
		if l.Mapping != p.Mapping[0] {
			t.Errorf("location %d is in no mapping", l.ID)
		}
	}
}

func TestManySectionsAtOnceAreNotLost(t *testing.T) {
	const n = 2 * mostOpen
	m := record(t, 10*n, func(r *Recorder) {
		r.round.Lock() // as if files were slow
		for range n {
			s := r.BeginSection(t.Context(), stream, &Label{Name: "step"})
			work(r, 1)
			s.End()
		}
		r.round.Unlock()
	})
	sections := 0
	for _, e := range m.All() {
		if e.Kind == Section && e.OnDevice {
			sections++
		}
	}
	if sections != n || m.Lost() > 0 {
		t.Errorf("%d sections on the device, %d events lost; want %d and 0", sections, m.Lost(), n)
	}
}

// TestSectionsThatOverlapEnd: two goroutines may have sections of one stream.
func TestSectionsThatOverlapEnd(t *testing.T) {
	m := record(t, 100, func(r *Recorder) {
		a := r.BeginSection(t.Context(), stream, &Label{Name: "a"})
		b := r.BeginSection(t.Context(), stream, &Label{Name: "b"})
		a.End()
		work(r, 1) // in b
		b.End()
		work(r, 1) // in none
		b.End()
		a.End()
	})
	work, ends := map[string]int{}, map[string]int{}
	for _, e := range m.All() {
		switch {
		case e.Kind == Section && !e.OnDevice:
			ends[e.Label.Name]++
		case e.OnDevice && e.Kind == Launch && e.Section != nil:
			work[e.Section.Name]++
		case e.OnDevice && e.Kind == Launch:
			work["none"]++
		}
	}
	if work["b"] != 1 || work["none"] != 1 || work["a"] != 0 {
		t.Errorf("kernels by section: %v; want one in b and one in none", work)
	}
	if ends["a"] != 1 || ends["b"] != 1 {
		t.Errorf("sections ended: %v, want each once", ends)
	}
	if n := len(*stream.open.Load()); n > 0 {
		t.Errorf("the stream is still in %d sections", n)
	}
}

// TestSectionsOfGoroutinesAreApart: two requests on one stream are not parts of each other, but a
// goroutine that helps one is.
func TestSectionsOfGoroutinesAreApart(t *testing.T) {
	m := record(t, 100, func(r *Recorder) {
		in := func(f func()) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				f()
			}()
			<-done
		}
		a := r.BeginSection(t.Context(), stream, &Label{Name: "a"})
		in(func() {
			work(r, 1) // helps a
			b := r.BeginSection(t.Context(), stream, &Label{Name: "b"})
			work(r, 2)
			if b.Parent() != nil {
				t.Errorf("b is a part of %s", b.Parent().Name())
			}
			c := r.BeginSection(t.Context(), stream, &Label{Name: "c"})
			if c.Parent() != b {
				t.Error("c is not a part of b")
			}
			c.End()
			b.End()
		})
		work(r, 3) // in a
		a.End()
	})
	got := map[string]int{}
	for _, e := range m.All() {
		if e.OnDevice && e.Kind == Launch && e.Section != nil {
			got[e.Section.Name]++
		}
	}
	if got["a"] != 4 || got["b"] != 2 {
		t.Errorf("kernels by section: %v; want 4 in a and 2 in b", got)
	}
}

func TestSectionsThatAreNotEndedAreBounded(t *testing.T) {
	track := &Track{Process: "cuda:0", Thread: "stream 2"}
	record(t, 100, func(r *Recorder) {
		for range mostNested + 10 {
			r.BeginSection(t.Context(), track, &Label{Name: "left open"})
		}
	})
	if n := len(*track.open.Load()); n != mostNested {
		t.Errorf("%d sections are remembered, want %d", n, mostNested)
	}
}

func TestSectionsOfManyGoroutinesEnd(t *testing.T) {
	m := record(t, 1<<18, func(r *Recorder) {
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				for range 500 {
					s := r.BeginSection(t.Context(), stream, &Label{Name: "step"})
					work(r, 1)
					s.End()
				}
			})
		}
		all.Wait()
		if n := len(*stream.open.Load()); n > 0 {
			t.Errorf("the stream is still in %d sections", n)
		}
	})
	if m.Lost() > 0 {
		t.Errorf("%d events were lost", m.Lost())
	}
}

func TestASectionCoversItsWorkOnTheDevice(t *testing.T) {
	m := record(t, 100, func(r *Recorder) {
		outer := r.BeginSection(t.Context(), stream, &Label{Name: "outer"})
		inner := r.BeginSection(t.Context(), stream, &Label{Name: "inner"})
		a := r.Begin(Launch, saxpy, stream, 0)
		a.End(false)
		inner.End()
		b := r.Begin(Launch, saxpy, stream, 0)
		b.End(false)
		last := r.BeginSection(t.Context(), stream, &Label{Name: "last"})
		c := r.Begin(Launch, saxpy, stream, 0)
		c.End(false)
		last.End()
		failed := r.Begin(Launch, saxpy, stream, 0)
		failed.End(true)
		outer.End()
		r.Flush() // before the device has done the work
		a.OnDevice(1000, 2000)
		b.OnDevice(5000, 7000)
		r.Flush() // the section waits for what is missing
		c.OnDevice(7000, 9000)
		r.Flush()
	})
	found := map[string][2]int64{}
	for _, e := range m.All() {
		if e.Kind == Section && e.OnDevice {
			found[e.Label.Name] = [2]int64{e.Start, e.Duration}
		}
	}
	if found["outer"] != [2]int64{1000, 8000} || found["inner"] != [2]int64{1000, 1000} {
		t.Errorf("sections on the device: %v", found)
	}
}

func TestARecordingSaysWhatItLost(t *testing.T) {
	m := record(t, 100, func(r *Recorder) { work(r, 500) })
	if got := m.Lost(); len(m.All()) != 100 || got != 900 {
		t.Errorf("%d events, %d lost; want 100 and 900", len(m.All()), got)
	}
	m = record(t, 10*eventRoom, func(r *Recorder) {
		r.round.Lock() // as if files were slow
		work(r, eventRoom)
		r.round.Unlock()
	})
	if got := m.Lost(); uint64(len(m.All()))+got != 2*eventRoom || got == 0 {
		t.Errorf("%d events, %d lost; want %d together", len(m.All()), got, 2*eventRoom)
	}
	var b bytes.Buffer
	if err := m.WriteTrace(&b); err != nil || !strings.Contains(b.String(), "events were lost") {
		t.Errorf("the trace does not say what was lost: %v", err)
	}
}

func TestManyRecordsAtOnceAreNotLost(t *testing.T) {
	lib := &fakecupti.Library{}
	t.Cleanup(SetLibrary(func() (cupti.Library, error) { return lib, nil }))
	const n = 150_000
	m := record(t, 1<<18, func(r *Recorder) {
		if !r.UseCUDA() {
			t.Fatal("CUPTI is not used")
		}
		r.round.Lock() // until all records are there
		o := r.Begin(Graph, &Label{Name: "graph"}, stream, 0)
		for i := range n {
			lib.External(o.id, uint32(i))
			lib.Kernel("node", uint32(i), 7, 1000, 2000)
		}
		o.End(false)
		r.round.Unlock()
		r.Flush()
	})
	kernels := 0
	for _, e := range m.All() {
		if e.OnDevice && e.Kind == Launch && e.Label.Name == "node" && e.Op > 0 && e.Stack > 0 && e.Track == stream {
			kernels++
		}
	}
	if kernels != n || m.Lost() != 0 {
		t.Errorf("%d kernels, want %d; %d lost", kernels, n, m.Lost())
	}
}

func TestPartsOfACopyHaveTheirSizes(t *testing.T) {
	lib := &fakecupti.Library{}
	t.Cleanup(SetLibrary(func() (cupti.Library, error) { return lib, nil }))
	m := record(t, 100, func(r *Recorder) {
		r.UseCUDA()
		o := r.Begin(CopyIn, LabelOf(CopyIn), stream, 300)
		for i, n := range []uint64{100, 200} {
			lib.External(o.id, uint32(i))
			lib.Copy(1, n, uint32(i), 7, 1000, 2000)
		}
		o.End(false)
	})
	var bytes, whole int64
	for _, e := range m.All() {
		if e.OnDevice {
			bytes += e.Bytes
		} else if e.Kind == CopyIn {
			whole += e.Bytes
		}
	}
	if bytes != 300 || whole != 300 {
		t.Errorf("%d bytes in parts, %d as a whole; want 300", bytes, whole)
	}
}

func TestManyGoroutinesRecord(t *testing.T) {
	m := record(t, 1<<16, func(r *Recorder) {
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() { work(r, 500) })
		}
		group.Wait()
	})
	if n := len(m.All()); n != 8000 || m.Lost() != 0 {
		t.Errorf("%d events, %d lost", n, m.Lost())
	}
}

func TestTwoRecordingsAtOnce(t *testing.T) {
	first := NewMemory(100)
	stopFirst := Start(first)
	work(Active(), 1)
	second := NewMemory(100)
	stopSecond := Start(second)
	work(Active(), 2)
	stopFirst()
	work(Active(), 4)
	stopSecond()
	stopSecond()
	if a, b := len(first.All()), len(second.All()); a != 6 || b != 12 {
		t.Errorf("%d and %d events, want 6 and 12", a, b)
	}
	if Active() != nil {
		t.Error("a recorder remains")
	}
}

func TestFilesAreCompleteWhileTheProgramRuns(t *testing.T) {
	dir := t.TempDir()
	name, profileName := filepath.Join(dir, "out.json"), filepath.Join(dir, "gpu.pb.gz")
	var messages bytes.Buffer
	stop := StartFiles(name, profileName, "", &messages)
	count := func() (kernels int, ns int64) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range parse(t, text) {
			if e.Name == "saxpy" && e.Phase == "X" {
				kernels++
			}
		}
		b, err := os.ReadFile(profileName)
		if err != nil {
			t.Fatal(err)
		}
		_, sums := parseProfile(t, b)
		return kernels, sums["gpu/nanoseconds"]
	}
	for i := range 3 {
		if n, ns := count(); n != 5*i || ns != int64(15_000*i) {
			t.Errorf("after %d rounds: %d kernels, %d ns", i, n, ns)
		}
		work(Active(), 5)
		Flush() // as a program does that is killed then
	}
	stop()
	if n, _ := count(); n != 15 || messages.Len() > 0 {
		t.Errorf("%d kernels at the end; %s", n, messages.String())
	}
	left, _ := os.ReadDir(dir)
	if len(left) != 2 {
		t.Errorf("files: %v", left)
	}
}

func TestALargeTraceKeepsItsEnd(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out.json")
	f, err := newTraceFile(name, 10_000, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	stop := Start(f)
	for range 5 {
		work(Active(), 50)
		Flush()
	}
	stop()
	for _, n := range []string{name, strings.TrimSuffix(name, ".json") + ".1.json"} {
		text, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		parse(t, text)
	}
	text, _ := os.ReadFile(name)
	if !strings.Contains(string(text), "earlier events were removed") {
		t.Error("the trace does not say that its beginning was removed")
	}
}

func TestFilesOfAnotherProcessAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	name, profileName := filepath.Join(dir, "out.json"), filepath.Join(dir, "gpu.pb.gz")
	var messages bytes.Buffer
	stop := StartFiles(name, profileName, "", &messages)
	work(Active(), 5)
	Flush()
	other, err := newTraceFile(name, traceFileSize, os.Stderr) // as another process does
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newProfileFile(profileName, os.Stderr); err != nil {
		t.Fatal(err)
	}
	work(Active(), 5000) // more than is buffered
	Flush()
	stop()
	if n := strings.Count(messages.String(), "another process writes the file; give each one its own, with %p"); n != 2 {
		t.Errorf("%d files are reported, want 2: %s", n, messages.String())
	}
	other.Round(Summary{Final: true})
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if list := parse(t, text); len(list) != 0 {
		t.Errorf("the trace of the other process has %d events", len(list))
	}
	b, err := os.ReadFile(profileName)
	if err != nil {
		t.Fatal(err)
	}
	if _, sums := parseProfile(t, b); sums["gpu/nanoseconds"] != 0 {
		t.Errorf("the profile of the other process has %v", sums)
	}
}

func TestNamesOfFilesHaveTheProcess(t *testing.T) {
	if got, want := processName("a.%p.json"), fmt.Sprintf("a.%d.json", os.Getpid()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// fullDisk writes what fits.
type fullDisk struct {
	w    io.Writer
	room int
}

func (d *fullDisk) Write(b []byte) (int, error) {
	n := min(len(b), d.room)
	d.room -= n
	if written, err := d.w.Write(b[:n]); err != nil || n == len(b) {
		return written, err
	}
	return n, syscall.ENOSPC
}

func TestATraceIsCompleteIfTheDiskIsFull(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out.json")
	var messages bytes.Buffer
	f, err := newTraceFile(name, traceFileSize, &messages)
	if err != nil {
		t.Fatal(err)
	}
	stop := Start(f)
	work(Active(), 5)
	Flush()
	f.chrome.w = bufio.NewWriterSize(&fullDisk{f.file, 1000}, 1<<16)
	work(Active(), 50)
	Flush()
	work(Active(), 5)
	stop()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	kernels := 0
	for _, e := range parse(t, text) {
		if e.Name == "saxpy" && e.Phase == "X" {
			kernels++
		}
	}
	if kernels != 5 || !strings.Contains(messages.String(), "the trace ends here") {
		t.Errorf("the trace has %d kernels, want the 5 before the disk was full; messages %q", kernels, messages.String())
	}
}

func TestAProfileReplacesOnlyFiles(t *testing.T) {
	dir := t.TempDir()
	var messages bytes.Buffer
	StartFiles("", dir, "", &messages)()
	if i, err := os.Stat(dir); err != nil || !i.IsDir() || !strings.Contains(messages.String(), "not a regular file") {
		t.Errorf("a folder was replaced: %v, %v; messages %q", i, err, messages.String())
	}
	file, link := filepath.Join(dir, "gpu.pb.gz"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err)
	}
	StartFiles("", link, "", os.Stderr)()
	i, err := os.Lstat(link)
	if err != nil || i.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", i, err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parseProfile(t, b)
}

func TestFilesThatCannotBothBeWrittenAreReported(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out")
	var messages bytes.Buffer
	StartFiles(name, filepath.Dir(name)+"/./out", "", &messages)()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	parse(t, text)
	if !strings.Contains(messages.String(), "the same file as QUERN_TRACE") {
		t.Errorf("the messages are %q", messages.String())
	}
	messages.Reset()
	StartFiles("", "", name, &messages)()
	if !strings.Contains(messages.String(), "is not recorded: the report has the first process") {
		t.Errorf("the messages are %q", messages.String())
	}
}

func TestAFileThatCannotBeWrittenIsReported(t *testing.T) {
	var messages bytes.Buffer
	stop := StartFiles(filepath.Join(t.TempDir(), "missing", "out.json"), "/dev/null/x", "/dev/null/y", &messages)
	defer stop()
	for _, want := range []string{"QUERN_TRACE", "no trace is written", "QUERN_PPROF", "no profile is written"} {
		if !strings.Contains(messages.String(), want) {
			t.Errorf("%q does not say %q", messages.String(), want)
		}
	}
	if Active() != nil {
		t.Error("something is recorded")
	}
}

func BenchmarkOperation(b *testing.B) {
	stop := Start(NewMemory(1 << 10))
	defer stop()
	r := Active()
	b.ReportAllocs()
	for b.Loop() {
		o := r.Begin(Launch, saxpy, stream, 0)
		o.End(false)
	}
}

func BenchmarkWriteTrace(b *testing.B) {
	m := NewMemory(1 << 14)
	stop := Start(m)
	work(Active(), 1<<13)
	stop()
	var out bytes.Buffer
	for b.Loop() {
		out.Reset()
		m.WriteTrace(&out)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(1<<14), "ns/event")
}
