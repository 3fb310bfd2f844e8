package ring

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"quern.dev/ring/internal/measure"
)

// WritePrometheus writes what is known of the runtime and its actors in the text
// format of Prometheus, version 0.0.4. See [WritePrometheus].
func (rt *Runtime) WritePrometheus(w io.Writer) error { return WritePrometheus(w, rt) }

// WritePrometheus writes what is known of runtimes in the text format of
// Prometheus, version 0.0.4. Runtimes that are nil are left out. All series have the
// labels device and runtime, which is [Runtime.Number], and those of an actor the label
// actor; what actors have counted
// that are gone is in series without it, so that sums never fall. [Info] and [Stats]
// say what the numbers mean. Durations
// are histograms in seconds, whose bounds are powers of two of nanoseconds on every
// device.
func WritePrometheus(w io.Writer, runtimes ...*Runtime) error {
	if w == nil {
		return invalid("write metrics: the writer is nil")
	}
	var list []exposed
	for i, rt := range runtimes {
		if !rt.made() || slices.Contains(runtimes[:i], rt) {
			continue // no series may come twice
		}
		rt.recountInboxes()
		e := exposed{labels: []label{{"device", rt.dev.ID()}, {"runtime", strconv.FormatUint(rt.number, 10)}}, gone: rt.departed.load(), launches: rt.launches.Load(), pauses: rt.pauses.all(),
			letters: rt.DeadLetters().Len(), lost: rt.DeadLetters().Overflow()}
		for _, c := range rt.living() {
			e.actors = append(e.actors, exposedActor{c.info(), &c.meter})
		}
		list = append(list, e)
	}
	p := &exposition{w: bufio.NewWriter(w)}
	for _, f := range families {
		p.head(f)
		for i := range list {
			f.write(p, f.name, &list[i])
		}
	}
	return p.w.Flush()
}

// exposed is what is known of a runtime.
type exposed struct {
	labels   []label // of all series
	actors   []exposedActor
	gone     Stats
	launches uint64
	pauses   []*pause
	letters  int
	lost     uint64
}

// with returns the labels of all series and more.
func (e *exposed) with(more ...label) []label {
	return append(e.labels[:len(e.labels):len(e.labels)], more...)
}

type exposedActor struct {
	Info
	meter *meter
}

// family is the series with a name.
type family struct {
	name, kind, help string
	write            func(p *exposition, name string, e *exposed)
}

var families = []family{
	{"quern_ring_actors", "gauge", "Actors by state.", writeStates},
	{"quern_ring_actor_state", "gauge", "1 for the state that the actor is in.", func(p *exposition, name string, e *exposed) {
		for _, a := range e.actors {
			p.sample(name, 1, e.with(label{"actor", a.Name}, label{"state", a.State.String()})...)
		}
	}},
	{"quern_ring_accepted_messages_total", "counter", "Messages that mailboxes have taken.",
		count(func(i Info) uint64 { return i.Accepted }, func(s Stats) uint64 { return s.Accepted })},
	{"quern_ring_queued_messages", "gauge", "Messages that are not handled yet, or at the moment.", func(p *exposition, name string, e *exposed) {
		for _, a := range e.actors {
			p.sample(name, float64(a.Queued), e.with(label{"actor", a.Name})...)
		}
	}},
	{"quern_ring_messages_total", "counter", "Messages that are done with, by what became of them.", writeOutcomes},
	{"quern_ring_dead_letters_total", "counter", "Dead letters made of messages that failed, expired or were dropped.",
		count(func(i Info) uint64 { return i.DeadLetters }, func(s Stats) uint64 { return s.DeadLetters })},
	{"quern_ring_dead_letters", "gauge", "Dead letters that are kept, to be taken.", func(p *exposition, name string, e *exposed) {
		p.sample(name, float64(e.letters), e.labels...)
	}},
	{"quern_ring_lost_dead_letters_total", "counter", "Dead letters that were not kept, since newer ones came before anybody had taken them.", func(p *exposition, name string, e *exposed) {
		p.sample(name, float64(e.lost), e.labels...)
	}},
	{"quern_ring_rejected_messages_total", "counter", "Messages that were not accepted, since the mailbox was full.",
		count(func(i Info) uint64 { return i.Rejected }, func(s Stats) uint64 { return s.Rejected })},
	{"quern_ring_refused_sends_total", "counter", "Calls of actor.Send whose message was not accepted.",
		count(func(i Info) uint64 { return i.Refused }, func(s Stats) uint64 { return s.Refused })},
	{"quern_ring_restarts_total", "counter", "Restarts after failures.",
		count(func(i Info) uint64 { return i.Restarts }, func(s Stats) uint64 { return s.Restarts })},
	{"quern_ring_waiting_seconds", "histogram", "Time from when the actor had a message until its handler began; where actors are not resident, of a sample of the messages.",
		spread(func(m *meter) *measure.Histogram { return &m.waiting })},
	{"quern_ring_handler_seconds", "histogram", "Time that the handler took for a message, by the clock of the device.",
		spread(func(m *meter) *measure.Histogram { return &m.handler })},
	{"quern_ring_round_trip_seconds", "histogram", "Time that callers of Ask waited for replies; a sample of them.",
		spread(func(m *meter) *measure.Histogram { return &m.trip })},
	{"quern_ring_launches_total", "counter", "Launches of resident loops.", func(p *exposition, name string, e *exposed) {
		p.sample(name, float64(e.launches), e.labels...)
	}},
	{"quern_ring_pause_seconds", "histogram", "Time that resident actors made way for what waits for an idle device.", func(p *exposition, name string, e *exposed) {
		for _, v := range e.pauses {
			p.histogram(name, &v.whole, e.with(label{"cause", v.cause})...)
		}
	}},
}

func writeStates(p *exposition, name string, e *exposed) {
	for s := range stateNames {
		n := 0
		for _, a := range e.actors {
			if a.State == State(s) {
				n++
			}
		}
		p.sample(name, float64(n), e.with(label{"state", stateNames[s]})...)
	}
}

func writeOutcomes(p *exposition, name string, e *exposed) {
	outcomes := func(labels []label, handled, failed, expired, dropped uint64) {
		for _, o := range []struct {
			name string
			n    uint64
		}{{"handled", handled}, {"failed", failed}, {"expired", expired}, {"dropped", dropped}} {
			p.sample(name, float64(o.n), append(labels[:len(labels):len(labels)], label{"outcome", o.name})...)
		}
	}
	for _, a := range e.actors {
		outcomes(e.with(label{"actor", a.Name}), a.Handled, a.Failed, a.Expired, a.Dropped)
	}
	g := e.gone
	outcomes(e.labels, g.Handled, g.Failed, g.Expired, g.Dropped)
}

// count writes a count of each actor, and of those that are gone.
func count(of func(Info) uint64, gone func(Stats) uint64) func(*exposition, string, *exposed) {
	return func(p *exposition, name string, e *exposed) {
		for _, a := range e.actors {
			p.sample(name, float64(of(a.Info)), e.with(label{"actor", a.Name})...)
		}
		p.sample(name, float64(gone(e.gone)), e.labels...)
	}
}

// spread writes a histogram of each actor.
func spread(of func(*meter) *measure.Histogram) func(*exposition, string, *exposed) {
	return func(p *exposition, name string, e *exposed) {
		for _, a := range e.actors {
			p.histogram(name, of(a.meter), e.with(label{"actor", a.Name})...)
		}
	}
}

// exposition is Prometheus' text format. Its writer keeps the first error.
type exposition struct{ w *bufio.Writer }

type label struct{ name, value string }

var (
	escapeHelp  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	escapeLabel = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

func (p *exposition) head(f family) {
	fmt.Fprintf(p.w, "# HELP %s %s\n# TYPE %s %s\n", f.name, escapeHelp.Replace(f.help), f.name, f.kind)
}

func (p *exposition) sample(name string, value float64, labels ...label) {
	p.w.WriteString(name)
	for i, l := range labels {
		if i == 0 {
			p.w.WriteByte('{')
		} else {
			p.w.WriteByte(',')
		}
		p.w.WriteString(l.name)
		p.w.WriteString(`="`)
		escapeLabel.WriteString(p.w, strings.ToValidUTF8(l.value, "\uFFFD"))
		p.w.WriteByte('"')
	}
	if len(labels) > 0 {
		p.w.WriteByte('}')
	}
	p.w.WriteByte(' ')
	p.w.WriteString(decimal(value))
	p.w.WriteByte('\n')
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// The bounds of histograms are powers of two of nanoseconds: from 256 ns every one
// to a millisecond, then every second one to 4.3 s.
const (
	firstBound = 8
	fineBound  = 20
	lastBound  = 32
)

// histogram writes a histogram of nanoseconds in seconds.
func (p *exposition) histogram(name string, h *measure.Histogram, labels ...label) {
	counts, n := h.Load()
	with := func(bound string) []label { return append(labels[:len(labels):len(labels)], label{"le", bound}) }
	below, next := uint64(0), 0
	for power := firstBound; power <= lastBound; power++ {
		if power > fineBound && power%2 != 0 {
			continue
		}
		for ; next < measure.Buckets && measure.Above(next) <= 1<<power; next++ {
			below += counts[next]
		}
		p.sample(name+"_bucket", float64(below), with(decimal(float64(uint64(1)<<power)/1e9))...)
	}
	p.sample(name+"_bucket", float64(n), with("+Inf")...)
	p.sample(name+"_sum", float64(h.Sum())/1e9, labels...)
	p.sample(name+"_count", float64(n), labels...)
}
