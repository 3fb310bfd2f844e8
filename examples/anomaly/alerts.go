package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
)

// recent is the number of latest alerts whose latency is kept.
const recent = 1 << 16

// alerts counts the actors' alerts and writes them to a file. It is safe for
// concurrent use.
type alerts struct {
	mu      sync.Mutex
	count   int64
	right   int64 // alerts for known anomalies
	latency []time.Duration
	last    string

	file *os.File // nil unless createAlerts created it
	rows *csv.Writer
}

// createAlerts creates the alerts file if the user has asked for one.
func createAlerts(name string, stdout io.Writer) (*alerts, error) {
	a := &alerts{}
	switch name {
	case "":
		return a, nil
	case "-":
		a.rows = csv.NewWriter(stdout)
	default:
		f, err := os.Create(name)
		if err != nil {
			return nil, err
		}
		a.file, a.rows = f, csv.NewWriter(f)
	}
	return a, a.rows.Write([]string{"sensor", "reading", "value", "forecast", "score"})
}

func (a *alerts) close() error {
	if a.rows == nil {
		return nil
	}
	err := a.rows.Error()
	if a.file != nil {
		err = errors.Join(err, a.file.Close())
	}
	return err
}

// alert records an alert from a sensor's actor.
func (m *monitor) alert(f *finding) {
	m.mu.Lock()
	s := m.list[f.Sensor]
	m.mu.Unlock()
	s.mu.Lock()
	right := s.strange[f.Number]
	s.mu.Unlock()
	m.alerts.add(s.name, *f, right, m.clock()-time.Duration(f.Sent))
}

func (a *alerts) add(sensor string, f finding, right bool, latency time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.latency) < recent {
		a.latency = append(a.latency, latency)
	} else {
		a.latency[a.count%recent] = latency
	}
	a.count++
	if right {
		a.right++
	}
	a.last = fmt.Sprintf("%s #%d is %.4g, want %.4g", sensor, f.Number, f.Value, f.Want)
	if a.rows != nil {
		number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
		// The writer keeps its first error, and close returns it. Flushing each
		// row lets programs that follow the file see every alert immediately.
		a.rows.Write([]string{sensor, strconv.FormatInt(f.Number, 10), number(f.Value), number(f.Want), number(f.Score)})
		a.rows.Flush()
	}
}

// figures are the statistics of the alerts so far.
type figures struct {
	count, right  int64
	p50, p99, max time.Duration // latency from reading the source to the alert
	last          string
}

func (a *alerts) figures() figures {
	a.mu.Lock()
	f := figures{count: a.count, right: a.right, last: a.last}
	sorted := slices.Clone(a.latency)
	a.mu.Unlock()
	if len(sorted) == 0 {
		return f
	}
	slices.Sort(sorted)
	at := func(share float64) time.Duration {
		return sorted[int(share*float64(len(sorted)-1))].Round(100 * time.Nanosecond)
	}
	f.p50, f.p99, f.max = at(0.5), at(0.99), at(1)
	return f
}
