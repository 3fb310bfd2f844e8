package actors

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/kernel"
	"quern.dev/ring"
	"quern.dev/ring/metrics"
)

// awkward is a name with what has to be escaped.
const awkward = "a \"total\"\\ of all"

// busy makes an actor that has handled 20 messages and failed on two, and was
// restarted after the first of these, and one that has done nothing.
func busy(t *testing.T, ctx context.Context, rt *ring.Runtime) *ring.Actor[Sample, Reply] {
	t.Helper()
	a, err := SpawnAccumulate(ctx, rt, ring.Options{Name: awkward})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := SpawnEcho(ctx, rt, ring.Options{Name: "idle", Inactive: true}); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if _, err := a.Ask(ctx, Sample{Value: 1}); err != nil {
			t.Fatal(err)
		}
	}
	var failed *ring.HandlerError
	if _, err := a.Ask(ctx, Sample{Kind: Crash}); !errors.As(err, &failed) {
		t.Fatalf("a message that makes the handler fail: %v", err)
	}
	if err := a.Restart(false); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Ask(ctx, Sample{Kind: Crash}); !errors.As(err, &failed) {
		t.Fatalf("a message that makes the handler fail: %v", err)
	}
	return a
}

func TestTheAccountingAddsUp(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		a := busy(t, ctx, rt)
		i := a.Info()
		if i.Accepted != 22 || i.Handled != 20 || i.Failed != 2 || i.Queued != 0 || i.Restarts != 1 || i.State != ring.Failed {
			t.Errorf("%+v", i)
		}
		waiting := uint64(1) // of message 0
		if rt.Device().Backend() == gpu.CUDA {
			waiting = 20
		}
		if i.Handler.Count != 20 || i.Waiting.Count != waiting || i.RoundTrip.Count != 2 {
			t.Errorf("durations of %d, %d and %d messages, want of 20, %d and of messages 0 and 16", i.Handler.Count, i.Waiting.Count, i.RoundTrip.Count, waiting)
		}
		if d := i.RoundTrip; d.P50 <= 0 || d.P50 > d.Max || d.Sum < d.Max {
			t.Errorf("round trips: %+v", d)
		}
		if _, err := a.Terminate(ctx); err != nil {
			t.Fatal(err)
		}
		s := rt.Stats()
		if s.Accepted != 22 || s.Handled != 20 || s.Failed != 2 || s.Restarts != 1 || s.Actors[ring.Launched] != 1 || s.Actors[ring.Failed] != 0 {
			t.Errorf("the runtime, after the actor is gone: %+v", s)
		}
	})
}

func TestMessagesThatAreNotHandledAreInTheAccount(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		dropping, err := SpawnAccumulate(ctx, rt, ring.Options{Capacity: 4, Full: ring.DropOldest, Inactive: true})
		if err != nil {
			t.Fatal(err)
		}
		rejecting, err := SpawnAccumulate(ctx, rt, ring.Options{Capacity: 4, Full: ring.Reject, Inactive: true})
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			if err := dropping.Tell(ctx, Sample{Value: 1}); err != nil {
				t.Fatal(err)
			}
			if err := rejecting.Tell(ctx, Sample{Value: 1}); err != nil && !errors.Is(err, ring.ErrQueueFull) {
				t.Fatal(err)
			}
		}
		for _, c := range []struct {
			name string
			got  ring.Info
			want ring.Info
		}{
			{"messages dropped for others", dropping.Info(), ring.Info{Accepted: 10, Queued: 4, Dropped: 6, DeadLetters: 6}},
			{"messages that are rejected", rejecting.Info(), ring.Info{Accepted: 4, Queued: 4, Rejected: 6}},
		} {
			g := c.got
			got := ring.Info{Accepted: g.Accepted, Queued: g.Queued, Handled: g.Handled, Failed: g.Failed, Expired: g.Expired, Dropped: g.Dropped, DeadLetters: g.DeadLetters, Rejected: g.Rejected}
			if got != c.want {
				t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
			}
		}
		if _, err := rejecting.Terminate(ctx); err != nil {
			t.Fatal(err)
		}
		if i := rejecting.Info(); i.Queued != 0 || i.Dropped != 4 || i.Accepted != 4 || i.DeadLetters != 4 {
			t.Errorf("messages that a terminated actor left: %+v", i)
		}
		if _, err := dropping.Terminate(ctx); err != nil {
			t.Fatal(err)
		}
		if s := rt.Stats(); s.Accepted != s.Queued+s.Handled+s.Failed+s.Expired+s.Dropped || s.Accepted != 14 {
			t.Errorf("the runtime: %+v", s)
		}
	})
}

func TestMessagesBetweenActorsAreInTheAccount(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		const turns = 50
		end := spawned(t, ctx, rt, SpawnCollect, ring.Options{})
		a := spawned(t, ctx, rt, SpawnBounce, ring.Options{State: Match{Result: end.Ref()}})
		b := spawned(t, ctx, rt, SpawnBounce, ring.Options{State: Match{Result: end.Ref()}})
		if err := a.Tell(ctx, Ball{Back: b.Ref(), Left: turns}); err != nil {
			t.Fatal(err)
		}
		for {
			if got, err := end.Ask(ctx, Ball{}); err != nil {
				t.Fatal(err)
			} else if got.Count != 0 {
				break
			}
		}
		for a.Info().Queued+b.Info().Queued > 0 && ctx.Err() == nil { // the last one ends after its reply has come
		}
		x, y := a.Info(), b.Info()
		if x.Accepted+y.Accepted != turns+1 || x.Handled+y.Handled != turns+1 || x.Refused+y.Refused != 0 {
			t.Errorf("of %d turns one has %+v, the other %+v", turns+1, x, y)
		}
		if _, err := b.Terminate(ctx); err != nil {
			t.Fatal(err)
		}
		if after := b.Info(); after.Accepted != y.Accepted || after.Handled != y.Handled {
			t.Errorf("after its end it has %+v, before %+v", after, y)
		}
	})
}

func TestTheAccountIsReadAtAnyTime(t *testing.T) {
	rt := open(t, "cpu")
	ctx := t.Context()
	const senders, each = 4, 2000
	a, err := SpawnEcho(ctx, rt, ring.Options{})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, senders)
	for range senders {
		go func() {
			for range each {
				if _, err := a.Ask(ctx, Message{}); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	last := ring.Info{}
	for left := senders; left > 0; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			left--
		default:
		}
		i := a.Info()
		if i.Accepted != i.Queued+i.Handled || i.Handled < last.Handled || i.Accepted < last.Accepted || i.Queued > senders {
			t.Fatalf("%+v after %+v", i, last)
		}
		if err := rt.WritePrometheus(io.Discard); err != nil {
			t.Fatal(err)
		}
		last = i
	}
	if i := a.Info(); i.Handled != senders*each || i.Handler.Count != senders*each || i.RoundTrip.Count == 0 || i.Rate <= 0 {
		t.Errorf("at the end: %+v", i)
	}
}

func TestPrometheusText(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		a := busy(t, ctx, rt)
		var text bytes.Buffer
		if err := rt.WritePrometheus(&text); err != nil {
			t.Fatal(err)
		}
		got, err := parsePrometheus(text.String())
		if err != nil {
			t.Fatalf("%v in\n%s", err, text.String())
		}
		id := rt.Device().ID()
		of := func(name string, more ...string) string {
			return name + fmt.Sprint(append([]string{"device=" + id, fmt.Sprint("runtime=", rt.Number())}, more...))
		}
		for _, c := range []struct {
			name, series string
			want         float64
		}{
			{"actors that failed", of("quern_ring_actors", "state=failed"), 1},
			{"actors that do nothing", of("quern_ring_actors", "state=launched"), 1},
			{"actors that are active", of("quern_ring_actors", "state=active"), 0},
			{"the state", of("quern_ring_actor_state", "actor="+awkward, "state=failed"), 1},
			{"accepted", of("quern_ring_accepted_messages_total", "actor="+awkward), 22},
			{"accepted by actors that are gone", of("quern_ring_accepted_messages_total"), 0},
			{"handled", of("quern_ring_messages_total", "actor="+awkward, "outcome=handled"), 20},
			{"failed", of("quern_ring_messages_total", "actor="+awkward, "outcome=failed"), 2},
			{"expired", of("quern_ring_messages_total", "actor="+awkward, "outcome=expired"), 0},
			{"queued", of("quern_ring_queued_messages", "actor=idle"), 0},
			{"restarts", of("quern_ring_restarts_total", "actor="+awkward), 1},
			{"handler times", of("quern_ring_handler_seconds_count", "actor="+awkward), 20},
			{"handler times of any length", of("quern_ring_handler_seconds_bucket", "actor="+awkward, "le=+Inf"), 20},
			{"round trips", of("quern_ring_round_trip_seconds_count", "actor="+awkward), 2},
		} {
			if v, ok := got[c.series]; !ok || v != c.want {
				t.Errorf("%s: %q is %v, want %v", c.name, c.series, v, c.want)
			}
		}
		if sum := got[of("quern_ring_round_trip_seconds_sum", "actor="+awkward)]; sum <= 0 || sum > 10 {
			t.Errorf("the round trips add up to %v seconds", sum)
		}
		if _, err := a.Terminate(ctx); err != nil {
			t.Fatal(err)
		}
		text.Reset()
		if err := ring.WritePrometheus(&text, rt); err != nil {
			t.Fatal(err)
		}
		if got, err = parsePrometheus(text.String()); err != nil {
			t.Fatal(err)
		}
		if v := got[of("quern_ring_messages_total", "outcome=handled")]; v != 20 {
			t.Errorf("%v messages handled by actors that are gone, want 20", v)
		}
	})
}

// Messages that wait, in the program's queue or in the rings, wait as long as it takes
// until their actor begins with them.
func TestWaitingIsMeasured(t *testing.T) {
	for _, b := range []gpu.Backend{gpu.CPU, gpu.Sim} {
		for _, kind := range []string{"the device", "the host"} {
			t.Run(fmt.Sprintf("%s, an actor on %s", b, kind), func(t *testing.T) {
				rt, ctx := open(t, b), within(t, 20*time.Second)
				o := ring.Options{Inactive: true}
				var a *ring.Actor[Message, Message]
				var err error
				if kind == "the device" {
					a, err = SpawnEcho(ctx, rt, o)
				} else {
					a, err = ring.SpawnHost(ctx, rt, func(_ context.Context, _ *ring.HostContext, in, out *Message) kernel.Action {
						*out = *in
						return kernel.Reply
					}, o)
				}
				if err != nil {
					t.Fatal(err)
				}
				const n, measured = 256, 256 / 64
				begin := time.Now()
				if _, err := a.SendBatch(ctx, make([]Message, n)); err != nil {
					t.Fatal(err)
				}
				sent := time.Now()
				for time.Since(sent) < 20*time.Millisecond {
				}
				waited := time.Since(sent)
				if err := a.Activate(); err != nil {
					t.Fatal(err)
				}
				replies := make([]Message, n)
				for got := 0; got < n; {
					k, err := a.ReceiveBatch(ctx, replies[got:])
					if err != nil {
						t.Fatal(err)
					}
					got += k
				}
				longest := time.Since(begin)
				if i := a.Info(); i.Waiting.Count != measured || i.Waiting.P50 < waited || i.Waiting.Max > longest+time.Millisecond {
					t.Errorf("waiting %+v, want %d messages of %v to %v", i.Waiting, measured, waited, longest)
				}
				for range n { // these find the actor idle
					if _, err := a.Ask(ctx, Message{}); err != nil {
						t.Fatal(err)
					}
				}
				if i := a.Info(); i.Waiting.Count <= measured || i.Waiting.Sum <= 0 {
					t.Errorf("waiting %+v after %d more messages", i.Waiting, n)
				}
			})
		}
	}
}

// Two runtimes of a device may have actors of the same names.
func TestPrometheusTextOfTwoRuntimes(t *testing.T) {
	dev, err := gpu.Open(gpu.Config{Require: gpu.CPU})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	var runtimes []*ring.Runtime
	for range 2 {
		rt, err := ring.New(dev, ring.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer rt.Close()
		busy(t, t.Context(), rt)
		runtimes = append(runtimes, rt)
	}
	var text bytes.Buffer
	if err := ring.WritePrometheus(&text, append(runtimes, runtimes[0])...); err != nil {
		t.Fatal(err)
	}
	got, err := parsePrometheus(text.String())
	if err != nil {
		t.Fatal(err)
	}
	for _, rt := range runtimes {
		series := fmt.Sprintf("quern_ring_accepted_messages_total[device=cpu runtime=%d actor=%s]", rt.Number(), awkward)
		if v := got[series]; v != 22 {
			t.Errorf("%s is %v, want 22", series, v)
		}
	}
}

// full is a writer that fails.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestMetricsOverHTTP(t *testing.T) {
	rt := open(t, "cpu")
	busy(t, t.Context(), rt)
	if err := rt.WritePrometheus(full{}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("a writer that fails: %v", err)
	}
	h := metrics.Handler(rt)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if _, err := parsePrometheus(w.Body.String()); err != nil || w.Code != http.StatusOK {
		t.Errorf("status %d, %v", w.Code, err)
	}
	if got, want := w.Header().Get("Content-Type"), "text/plain; version=0.0.4; charset=utf-8"; got != want {
		t.Errorf("content type %q, want %q", got, want)
	}
	w = httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/metrics", nil))
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") == "" {
		t.Errorf("POST: status %d, headers %v", w.Code, w.Header())
	}
}

func TestATraceIsATimeline(t *testing.T) {
	each(t, func(t *testing.T, ctx context.Context, rt *ring.Runtime) {
		trace, err := rt.StartTrace(0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rt.StartTrace(0); !errors.Is(err, ring.ErrInvalid) {
			t.Errorf("a second trace at the same time: %v, want ErrInvalid", err)
		}
		a := busy(t, ctx, rt)
		trace.Stop()
		trace.Stop()
		if _, err := a.Terminate(ctx); err != nil {
			t.Fatal(err)
		}
		events := readTrace(t, trace)
		var of []string
		for _, e := range events[awkward] {
			if e.Phase == "i" {
				of = append(of, e.Name)
			}
		}
		if want := []string{"launched", "active", "failed", "failure", "active", "failed", "failure"}; !slices.Equal(sorted(of), sorted(want)) {
			t.Errorf("events of the actor are %q, want %q in some order", of, want)
		}
		if names := events["idle"]; len(names) != 1 || names[0].Name != "launched" {
			t.Errorf("events of the other are %+v", names)
		}
	})
}

func TestLaunchesAndPausesAreInTheTrace(t *testing.T) {
	rt, _ := double(t, 32, ring.Config{})
	ctx := t.Context()
	trace, err := rt.StartTrace(0)
	if err != nil {
		t.Fatal(err)
	}
	a, err := SpawnEcho(ctx, rt, ring.Options{Name: "echo"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Ask(ctx, Message{}); err != nil {
		t.Fatal(err)
	}
	if err := makeWay(rt.Device()); err != nil {
		t.Fatal(err)
	}
	trace.Stop()
	events := readTrace(t, trace)
	launches, pauses := events["launches with echo"], events["pauses"]
	if len(launches) != 1 || launches[0].Name != "echo" || launches[0].Args["n"] != 1.0 {
		t.Errorf("launches: %+v", launches)
	}
	if n := len(pauses); n == 0 || pauses[n-1].Name != "free" {
		t.Fatalf("pauses: %+v", pauses)
	}
	s := rt.Stats()
	i := slices.IndexFunc(s.Pauses, func(p ring.Pause) bool { return p.Cause == "free" })
	if i < 0 || s.Pauses[i].Duration.Count == 0 || s.Launches < 2 || s.Pauses[i].Away.Sum <= 0 || s.Pauses[i].Away.Sum >= s.Pauses[i].Duration.Sum {
		t.Errorf("statistics: %+v", s)
	}
	var text bytes.Buffer
	if err := rt.WritePrometheus(&text); err != nil {
		t.Fatal(err)
	}
	series, err := parsePrometheus(text.String())
	if name := fmt.Sprintf("quern_ring_pause_seconds_count[device=cuda:0 runtime=%d cause=free]", rt.Number()); err != nil || series[name] != float64(s.Pauses[i].Duration.Count) {
		t.Errorf("%s is %v, want %d; %v", name, series[name], s.Pauses[i].Duration.Count, err)
	}
}

func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }

func TestATraceKeepsTheLatestEvents(t *testing.T) {
	rt := open(t, "cpu")
	ctx := t.Context()
	a, err := SpawnEcho(ctx, rt, ring.Options{Name: "echo"})
	if err != nil {
		t.Fatal(err)
	}
	trace, err := rt.StartTrace(4)
	if err != nil {
		t.Fatal(err)
	}
	defer trace.Stop()
	for range 5 {
		if err := errors.Join(a.Deactivate(), a.Activate()); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for _, e := range readTrace(t, trace)["echo"] {
		names = append(names, e.Name)
	}
	if want := []string{"deactivated", "active", "deactivated", "active"}; !slices.Equal(names, want) || trace.Lost() != 1+10-4 {
		t.Errorf("%q with %d lost, want %q with 7", names, trace.Lost(), want)
	}
	if _, err := rt.StartTrace(-1); !errors.Is(err, ring.ErrInvalid) {
		t.Errorf("a trace of -1 events: %v", err)
	}
}

// chromeEvent is an event of Chrome's trace-event format.
type chromeEvent struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"`
	PID   *int           `json:"pid"`
	TID   *int           `json:"tid"`
	Time  *float64       `json:"ts"`
	Dur   *float64       `json:"dur"`
	Args  map[string]any `json:"args"`
}

// readTrace returns the events of a trace by the name of their thread, after it has
// checked what the format asks for.
func readTrace(t *testing.T, trace *ring.Trace) map[string][]chromeEvent {
	t.Helper()
	var text bytes.Buffer
	if n, err := trace.WriteTo(&text); err != nil || n != int64(text.Len()) {
		t.Fatalf("%d bytes of %d, %v", n, text.Len(), err)
	}
	var file struct {
		TraceEvents     []chromeEvent `json:"traceEvents"`
		DisplayTimeUnit string        `json:"displayTimeUnit"`
	}
	if err := json.Unmarshal(text.Bytes(), &file); err != nil {
		t.Fatalf("%v in\n%s", err, text.String())
	}
	threads, events := map[int]string{}, map[string][]chromeEvent{}
	for _, e := range file.TraceEvents {
		switch {
		case e.PID == nil || e.TID == nil || e.Time == nil || *e.Time < 0:
			t.Errorf("an event without process, thread or time: %+v", e)
		case e.Phase == "M" && e.Name == "thread_name":
			threads[*e.TID] = e.Args["name"].(string)
		case e.Phase == "M" && e.Name == "process_name":
		case e.Phase == "X" && e.Dur != nil && *e.Dur >= 0, e.Phase == "i" && e.Dur == nil:
			events[threads[*e.TID]] = append(events[threads[*e.TID]], e)
		default:
			t.Errorf("unexpected event %+v", e)
		}
	}
	if events[""] != nil {
		t.Errorf("events of threads without a name: %+v", events[""])
	}
	return events
}

// parsePrometheus reads Prometheus' text format, strictly, into a map from a
// series' name and labels to its value. It checks that families have a help and a
// type before their samples and do not come twice, that no series does, that
// counters are named so, and that histograms add up.
func parsePrometheus(text string) (map[string]float64, error) {
	series, kinds := map[string]float64{}, map[string]string{}
	family, helped := "", ""
	type histogram struct{ last, bound, inf, count float64 }
	histograms := map[string]*histogram{}
	if !strings.HasSuffix(text, "\n") {
		return nil, errors.New("no end of line at the end")
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, "# HELP "); ok {
			helped, _, _ = strings.Cut(rest, " ")
			continue
		}
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			var kind string
			family, kind, _ = strings.Cut(rest, " ")
			if _, twice := kinds[family]; twice || helped != family || !slices.Contains([]string{"counter", "gauge", "histogram"}, kind) {
				return nil, fmt.Errorf("type in %q", line)
			}
			if kind == "counter" != strings.HasSuffix(family, "_total") {
				return nil, fmt.Errorf("the name of %s %s", kind, family)
			}
			kinds[family] = kind
			continue
		}
		name, labels, value, err := parseSample(line)
		if err != nil {
			return nil, fmt.Errorf("%w in %q", err, line)
		}
		suffix, ok := strings.CutPrefix(name, family)
		if !ok || family == "" || (suffix != "") != (kinds[family] == "histogram") {
			return nil, fmt.Errorf("%q is in family %q", name, family)
		}
		key := name + fmt.Sprint(labels)
		if _, twice := series[key]; twice {
			return nil, fmt.Errorf("%q comes twice", key)
		}
		series[key] = value
		if suffix == "" {
			continue
		}
		bound := ""
		if suffix == "_bucket" {
			last := labels[len(labels)-1]
			if bound, ok = strings.CutPrefix(last, "le="); !ok {
				return nil, fmt.Errorf("a bucket without le: %q", line)
			}
			labels = labels[:len(labels)-1]
		}
		of := family + fmt.Sprint(labels)
		h := histograms[of]
		if h == nil {
			h = &histogram{inf: -1, count: -1}
			histograms[of] = h
		}
		switch suffix {
		case "_bucket":
			le := 0.0
			if _, err := fmt.Sscan(bound, &le); err != nil || le <= h.bound || value < h.last {
				return nil, fmt.Errorf("bucket out of order: %q", line)
			}
			h.last, h.bound = value, le
			if bound == "+Inf" {
				h.inf = value
			}
		case "_count":
			h.count = value
		case "_sum":
		default:
			return nil, fmt.Errorf("suffix %q", suffix)
		}
	}
	for name, h := range histograms {
		if h.inf < 0 || h.inf != h.count {
			return nil, fmt.Errorf("histogram %s has %v in its last bucket and a count of %v", name, h.inf, h.count)
		}
	}
	return series, nil
}

// parseSample reads a line such as name{label="value"} 1.
func parseSample(line string) (name string, labels []string, value float64, err error) {
	word := func(s string) bool {
		return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") == ""
	}
	rest := ""
	if i := strings.IndexAny(line, "{ "); i >= 0 {
		name, rest = line[:i], line[i:]
	}
	if !word(name) {
		return "", nil, 0, errors.New("no name")
	}
	if rest[0] == '{' {
		for rest = rest[1:]; ; rest = rest[1:] {
			key, after, ok := strings.Cut(rest, `="`)
			if !ok || !word(key) {
				return "", nil, 0, errors.New("no label")
			}
			var v strings.Builder
			i := 0
			for ; i < len(after) && after[i] != '"'; i++ {
				c := after[i]
				if c == '\\' {
					if i++; i == len(after) {
						return "", nil, 0, errors.New("end in an escape")
					}
					decoded := map[byte]byte{'n': '\n', '\\': '\\', '"': '"'}[after[i]]
					if c = decoded; c == 0 {
						return "", nil, 0, errors.New("unknown escape")
					}
				}
				v.WriteByte(c)
			}
			if i+1 >= len(after) {
				return "", nil, 0, errors.New("a label without an end")
			}
			labels = append(labels, key+"="+v.String())
			if rest = after[i+1:]; rest[0] == '}' {
				rest = rest[1:]
				break
			} else if rest[0] != ',' {
				return "", nil, 0, errors.New("no comma")
			}
		}
	}
	number, ok := strings.CutPrefix(rest, " ")
	if !ok || strings.Contains(number, " ") {
		return "", nil, 0, errors.New("no single value")
	}
	_, err = fmt.Sscanf(number+"\n", "%g\n", &value)
	return name, labels, value, err
}
