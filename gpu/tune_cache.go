package gpu

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"sync"
	"time"

	"quern.dev/internal/diskcache"
)

// tuneEntries is the maximum number of results on disk.
const tuneEntries = 512

func (t *Tuning) cache() *diskcache.Cache {
	if t.Dir != "" {
		return diskcache.In(t.Dir, tuneEntries)
	}
	return diskcache.User("tune", tuneEntries)
}

// kernelList is the gate of a stream whose launches only record their kernels.
type kernelList struct {
	of *Stream // that the kernels would be launched on

	mu      sync.Mutex
	kernels []*Kernel
}

func (r *kernelList) admit(k *Kernel) (run bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kernels = append(r.kernels, k)
	return false, nil
}

// listsKernels reports whether launches on the stream only record their kernels.
func (s *Stream) listsKernels() bool {
	_, lists := s.gate.(*kernelList)
	return lists
}

// working returns the stream that memory of work on s belongs to: s, or if launches on s only
// record their kernels, the stream that they would be on, which lives longer.
func (s *Stream) working() *Stream {
	if list, ok := s.gate.(*kernelList); ok {
		return list.of
	}
	return s
}

// key returns the hash of everything that the result depends on.
func (t *Tuning) key(s *Stream) diskcache.Key {
	h := sha256.New()
	d := s.dev
	major, minor := d.ComputeCapability()
	fields(h, "tune 1", t.Name, t.Problem, string(d.backend), d.Name(), d.DriverVersion(), fmt.Sprint(major, minor, d.Attributes()))
	for _, c := range t.Candidates {
		fields(h, "candidate", c.Name)
		list := &kernelList{of: s}
		// What fails now fails in the measurement, where it is recorded.
		if err := c.Launch(&Stream{dev: d, drv: s.drv, gate: list}); err != nil {
			fields(h, "failed")
		}
		for _, k := range list.kernels {
			k.fingerprint(h)
		}
	}
	return diskcache.Key(h.Sum(nil))
}

// fields writes texts in a form that differs for different lists of texts.
func fields(w io.Writer, texts ...string) {
	for _, s := range texts {
		fmt.Fprintf(w, "%d:%s", len(s), s)
	}
}

// fingerprint writes the compiled code of the kernel. The CPU's form is compiled from the
// same source.
func (k *Kernel) fingerprint(h hash.Hash) {
	fields(h, "kernel", k.String(), fmt.Sprint(k.info.Block))
	for i := range k.info.Variants {
		v := &k.info.Variants[i]
		text, _ := k.info.module(v.Name, 0) // a variant whose module is missing cannot be launched
		fields(h, v.Name, fmt.Sprint(v.Limits), text)
	}
	for _, f := range k.special {
		f.kernel.fingerprint(h)
	}
}

// tuneRecord is an entry of the cache.
type tuneRecord struct {
	Name     string        `json:"name"`
	Problem  string        `json:"problem"`
	Device   string        `json:"device"`
	Driver   string        `json:"driver"`
	Measured time.Time     `json:"measured"`
	Winner   string        `json:"winner"`
	Trials   []trialRecord `json:"trials"`
}

type trialRecord struct {
	Name     string `json:"name"`
	Median   int64  `json:"median_ns,omitempty"`
	Least    int64  `json:"least_ns,omitempty"`
	Samples  int    `json:"samples,omitempty"`
	Outliers int    `json:"outliers,omitempty"`
	Failed   string `json:"failed,omitempty"`
}

// keep writes the result to the cache.
func (t *Tuned) keep(cache *diskcache.Cache, key diskcache.Key) error {
	r := tuneRecord{t.Name, t.Problem, t.Device, t.Driver, t.Measured, t.Winner, nil}
	for _, tr := range t.Trials {
		rec := trialRecord{tr.Name, int64(tr.Median), int64(tr.Least), tr.Samples, tr.Outliers, ""}
		if tr.Err != nil {
			rec.Failed = tr.Err.Error()
		}
		r.Trials = append(r.Trials, rec)
	}
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return cache.Put(key, append(text, '\n'))
}

// load returns the cached result, or nil.
func (t *Tuning) load(cache *diskcache.Cache, key diskcache.Key) *Tuned {
	data, ok := cache.Get(key)
	if !ok {
		return nil
	}
	var r tuneRecord
	if json.Unmarshal(data, &r) != nil {
		return nil
	}
	best := slices.IndexFunc(t.Candidates, func(c Candidate) bool { return c.Name == r.Winner })
	if best < 0 {
		return nil
	}
	found := &Tuned{
		Name: r.Name, Problem: r.Problem, Device: r.Device, Driver: r.Driver,
		Winner: r.Winner, Measured: r.Measured, Cached: true, winner: t.Candidates[best],
	}
	for _, rec := range r.Trials {
		tr := Trial{Name: rec.Name, Median: time.Duration(rec.Median), Least: time.Duration(rec.Least), Samples: rec.Samples, Outliers: rec.Outliers}
		if rec.Failed != "" {
			tr.Err = errors.New(rec.Failed)
		}
		found.Trials = append(found.Trials, tr)
	}
	return found
}
