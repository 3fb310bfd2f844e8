package gpu

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quern.dev/internal/driver/cuda/fakecuda"
)

// tuner tunes the number of elements that saxpy works on; fewer take less time.
type tuner struct {
	s     *Stream
	x, y  *Buffer[float32]
	k     *Kernel
	calls int // calls of candidates
}

const tunedLength = 1 << 18

func newTuner(t *testing.T, d *Device) *tuner {
	s := d.DefaultStream()
	tu := &tuner{s: s, k: NewKernel(saxpyInfo)}
	tu.x, tu.y = must[*Buffer[float32]](t)(Alloc[float32](d, tunedLength)), must[*Buffer[float32]](t)(Alloc[float32](d, tunedLength))
	do(t, Fill(s, tu.x, 1))
	do(t, Fill(s, tu.y, 1))
	t.Cleanup(func() { closeAll(t, tu.x, tu.y) })
	return tu
}

// works returns a candidate that works on n elements.
func (tu *tuner) works(name string, n int) Candidate {
	return Candidate{name, func(s *Stream) error {
		tu.calls++
		return tu.k.Launch(s, Linear(n), float32(1), n, tu.x, tu.y)
	}}
}

func (tu *tuner) tuning(dir string, candidates ...Candidate) Tuning {
	return Tuning{Name: "saxpy", Problem: "256 Ki", Candidates: candidates, Dir: dir}
}

// onHosts runs a test on the devices that every machine has: the CPU and the
// simulator.
func onHosts(t *testing.T, run func(t *testing.T, d *Device)) {
	for _, id := range []string{"cpu", "sim"} {
		t.Run(id, func(t *testing.T) {
			d := must[*Device](t)(Open(Config{Device: id}))
			t.Cleanup(func() { do(t, d.Close()) })
			run(t, d)
		})
	}
}

func TestTuneFindsTheFastestCandidate(t *testing.T) {
	onHosts(t, func(t *testing.T, d *Device) {
		tu := newTuner(t, d)
		work := 64 // the interpreter is slow
		if d.Backend() == CPU {
			work = tunedLength / 64
		}
		dir := t.TempDir()
		tuning := tu.tuning(dir, tu.works("much", 64*work), tu.works("little", work), tu.works("more", 16*work))
		got := must[*Tuned](t)(Tune(context.Background(), tu.s, tuning))
		if got.Winner != "little" || got.Cached || got.NotKept != nil || got.Device != d.Name() || got.Measured.IsZero() {
			t.Fatalf("got %+v", got)
		}
		for i, name := range []string{"much", "little", "more"} {
			tr := got.Trials[i]
			if tr.Name != name || tr.Err != nil || tr.Median <= 0 || tr.Least <= 0 || tr.Samples < 3 {
				t.Errorf("trial %d is %+v", i, tr)
			}
		}
		if text := got.String(); !strings.HasPrefix(text, "saxpy (256 Ki) on "+d.Name()+": little\n  little ") {
			t.Errorf("it says %q", text)
		}
		calls := tu.calls
		again := must[*Tuned](t)(Tune(context.Background(), tu.s, tuning))
		if !again.Cached || again.Winner != "little" || again.Trials[0].Median != got.Trials[0].Median || !again.Measured.Equal(got.Measured) {
			t.Errorf("the second time: %+v", again)
		}
		if tu.calls != calls+3 {
			t.Errorf("%d calls to know the kernels, want 3", tu.calls-calls)
		}
		do(t, again.Launch(tu.s))
		do(t, tu.s.Synchronize(context.Background()))
		if tu.calls != calls+4 {
			t.Error("Launch does not launch the winner")
		}
	})
}

func TestTuneMeasuresAgainWhenSomethingChanges(t *testing.T) {
	d := must[*Device](t)(Open(Config{Device: "cpu"}))
	t.Cleanup(func() { do(t, d.Close()) })
	tu := newTuner(t, d)
	dir := t.TempDir()
	base := tu.tuning(dir, tu.works("a", 64), tu.works("b", 4096))
	must[*Tuned](t)(Tune(context.Background(), tu.s, base))
	other := saxpyInfo
	other.Code = codeOf(module("saxpy", "narrow", saxpyPTX("")), module("saxpy", "wide", saxpyPTX("sub.rn.f32 %f4, %f4, 0f42C80000;")))
	for _, c := range []struct {
		name   string
		cached bool
		change func(t *Tuning)
	}{
		{"nothing", true, func(*Tuning) {}},
		{"the name", false, func(t *Tuning) { t.Name = "other" }},
		{"the problem", false, func(t *Tuning) { t.Problem = "other" }},
		{"a candidate's name", false, func(t *Tuning) { t.Candidates[1].Name = "c" }},
		{"a candidate more", false, func(t *Tuning) { t.Candidates = append(t.Candidates, tu.works("c", 1)) }},
		{"the code of a kernel", false, func(*Tuning) { tu.k = NewKernel(other) }},
		{"the folder", false, func(*Tuning) { dir = filepath.Join(dir, "other") }},
	} {
		tu.k = NewKernel(saxpyInfo)
		tuning := tu.tuning(dir, tu.works("a", 64), tu.works("b", 4096))
		c.change(&tuning)
		tuning.Dir = dir
		if got := must[*Tuned](t)(Tune(context.Background(), tu.s, tuning)); got.Cached != c.cached {
			t.Errorf("after a change of %s: cached is %t", c.name, got.Cached)
		}
	}
}

func TestCandidatesThatFailAreLeftOut(t *testing.T) {
	onHosts(t, func(t *testing.T, d *Device) {
		tu := newTuner(t, d)
		broken := errors.New("broken")
		candidates := []Candidate{
			{"its own error", func(*Stream) error { return broken }},
			{"a block that is too large", func(s *Stream) error {
				return tu.k.Launch(s, Blocks(Dim3{X: 1}, Dim3{X: 4096}), float32(1), 1, tu.x, tu.y)
			}},
			tu.works("a fault of the kernel", tunedLength+1),
		}
		dir := t.TempDir()
		got := must[*Tuned](t)(Tune(context.Background(), tu.s, tu.tuning(dir, append(candidates, tu.works("works", 64))...)))
		if got.Winner != "works" || !errors.Is(got.Trials[0].Err, broken) || !errors.Is(got.Trials[1].Err, ErrInvalid) || got.Trials[3].Err != nil {
			t.Errorf("got %+v", got)
		}
		if _, ok := errors.AsType[*KernelError](got.Trials[2].Err); !ok {
			t.Errorf("the fault is %v", got.Trials[2].Err)
		}
		again := must[*Tuned](t)(Tune(context.Background(), tu.s, tu.tuning(dir, append(candidates, tu.works("works", 64))...)))
		if !again.Cached || again.Trials[0].Err == nil || again.Trials[0].Err.Error() != "broken" || !strings.Contains(again.String(), "broken") {
			t.Errorf("the second time: %+v", again)
		}

		_, err := Tune(context.Background(), tu.s, tu.tuning(dir, candidates...))
		e, ok := errors.AsType[*TuneError](err)
		if !ok || len(e.Trials) != 3 || !errors.Is(err, broken) || !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "gpu: tune saxpy: all candidates failed\n\tits own error: broken\n\ta block") {
			t.Errorf("all fail: %v", err)
		}
		if _, ok := errors.AsType[*KernelError](err); !ok {
			t.Errorf("all fail: no KernelError in %v", err)
		}
		do(t, tu.s.Synchronize(context.Background()))
	})
}

func TestCancellingEndsTheMeasurement(t *testing.T) {
	d := must[*Device](t)(Open(Config{Device: "cpu"}))
	t.Cleanup(func() { do(t, d.Close()) })
	tu := newTuner(t, d)
	dir := t.TempDir()
	for after := range 6 { // the first call only lists the kernels
		ctx, cancel := context.WithCancel(context.Background())
		calls := 0
		c := tu.works("a", 64)
		launch := c.Launch
		c.Launch = func(s *Stream) error {
			if calls++; calls > after {
				cancel()
			}
			return launch(s)
		}
		if got, err := Tune(ctx, tu.s, tu.tuning(dir, c)); !errors.Is(err, context.Canceled) || got != nil {
			t.Errorf("after %d calls: %v, %v", after, got, err)
		}
		cancel()
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Errorf("kept %v, %v", list, err)
	}
}

func TestTuneWithoutAUsableCacheMeasures(t *testing.T) {
	d := must[*Device](t)(Open(Config{Device: "cpu"}))
	t.Cleanup(func() { do(t, d.Close()) })
	tu := newTuner(t, d)
	dir := t.TempDir()
	tuning := tu.tuning(dir, tu.works("a", 64))
	must[*Tuned](t)(Tune(context.Background(), tu.s, tuning))
	files := must[[]string](t)(filepath.Glob(filepath.Join(dir, "*")))
	if len(files) != 1 {
		t.Fatalf("the cache has %v", files)
	}
	do(t, os.WriteFile(files[0], []byte("damaged"), 0o666))
	if got := must[*Tuned](t)(Tune(context.Background(), tu.s, tuning)); got.Cached || got.NotKept != nil {
		t.Errorf("from a damaged entry: %+v", got)
	}
	tuning.Dir = filepath.Join(files[0], "below a file")
	if got := must[*Tuned](t)(Tune(context.Background(), tu.s, tuning)); got.Cached || got.NotKept == nil {
		t.Errorf("without a folder: %+v", got)
	}
}

func TestTuneRefusesInvalidTunings(t *testing.T) {
	d := must[*Device](t)(Open(Config{Device: "cpu"}))
	tu := newTuner(t, d)
	a := tu.works("a", 64)
	for _, c := range []struct {
		name string
		s    *Stream
		want string
		list []Candidate
	}{
		{"no candidates", tu.s, "there are no candidates", nil},
		{"a candidate without a name", tu.s, "candidate 0 has no name", []Candidate{{"", a.Launch}}},
		{"a candidate without a function", tu.s, "candidate b has no Launch", []Candidate{a, {"b", nil}}},
		{"two candidates of one name", tu.s, `two candidates are called "a"`, []Candidate{a, a}},
		{"no stream", nil, "stream is nil", []Candidate{a}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Tune(context.Background(), c.s, Tuning{Name: "x", Candidates: c.list, Dir: t.TempDir()})
			if !errors.Is(err, ErrInvalid) || !strings.HasPrefix(err.Error(), "gpu: tune x: "+c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
	if err := new(Tuned).Launch(tu.s); !errors.Is(err, ErrInvalid) {
		t.Errorf("Launch of the zero value: %v", err)
	}
	closeAll(t, tu.x, tu.y, d)
	if _, err := Tune(context.Background(), tu.s, Tuning{Candidates: []Candidate{a}, Dir: t.TempDir()}); !errors.Is(err, ErrClosed) {
		t.Errorf("on a closed device: %v", err)
	}
}

func TestOfEquallyFastCandidatesTheFirstWins(t *testing.T) {
	failed := errors.New("failed")
	for _, c := range []struct {
		trials []Trial
		want   int
	}{
		{[]Trial{{Median: 1000}, {Median: 995}, {Median: 1003}}, 0},
		{[]Trial{{Median: 1000}, {Median: 995}, {Median: 980}}, 2},
		{[]Trial{{Err: failed}, {Median: 5}, {Err: failed}}, 1},
		{[]Trial{{Err: failed}}, -1},
	} {
		if got := fastest(c.trials); got != c.want {
			t.Errorf("of %v: %d, want %d", c.trials, got, c.want)
		}
	}
}

// Candidates take memory of a pool for the stream on which their kernels are only listed. It
// can be used, and freed, when that stream and the tuned one are gone.
func TestTunedCandidatesTakeMemoryOfPools(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	s := must[*Stream](t)(d.NewStream(t.Context()))
	other := acquire[float32](t, d.Pool(), d.DefaultStream(), 8)
	_, err := Tune(t.Context(), s, Tuning{Name: "pool", Dir: t.TempDir(), Candidates: []Candidate{{"fill", func(s *Stream) error {
		c, err := OpenScratch(s, nil)
		if err != nil {
			return err
		}
		defer c.Close()
		b := Take[float32](c, 8)
		if run, err := c.Ready(); !run {
			return err
		}
		return errors.Join(Fill(s, b, 1), Copy(s, other, b))
	}}}})
	do(t, err)
	closeAll(t, s, other, d)
	if left := lib.Left(); left != "" {
		t.Errorf("left in the driver: %s", left)
	}
}
