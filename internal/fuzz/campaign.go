package fuzz

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Campaign checks the programs of many seeds.
type Campaign struct {
	First, Count uint64        // seeds
	Duration     time.Duration // upper limit; 0 for no limit
	Workers      int
	Open         func() ([]*Device, error) // opens the devices of one worker
	Native       *Native                   // nil to skip plain Go and the cpu device
	Metamorphic  bool
	Keep         string    // directory for minimized failing programs; "" to keep none
	Progress     io.Writer // nil for no progress output
}

// chunk is the number of programs per binary.
const chunk = 150

// mostKept is the largest number of failures of one class that are minimized.
const mostKept = 2

// Summary is the result of a campaign.
type Summary struct {
	Programs   uint64
	Faults     uint64 // programs in which a check failed
	Elapsed    time.Duration
	Mismatches []*Mismatch // minimized
	Failed     uint64      // number of programs with a mismatch
}

func (s *Summary) String() string {
	return fmt.Sprintf("%d programs in %v (%.0f per second), %d with a failed check, %d mismatches",
		s.Programs, s.Elapsed.Round(time.Second), float64(s.Programs)/s.Elapsed.Seconds(), s.Faults, s.Failed)
}

// Run runs the campaign until it is done or ctx ends, which is not an error.
func (c *Campaign) Run(ctx context.Context) (*Summary, error) {
	if c.Duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Duration)
		defer cancel()
	}
	var (
		mu      sync.Mutex
		next    = c.First
		summary = &Summary{}
		classes = map[string]int{}
		failure error
		begin   = time.Now()
		shown   = begin
	)
	take := func() (from, to uint64) {
		mu.Lock()
		defer mu.Unlock()
		from = next
		next = min(next+chunk, c.First+c.Count)
		return from, next
	}
	report := func(programs, faults uint64, list []*Mismatch) {
		mu.Lock()
		defer mu.Unlock()
		summary.Programs += programs
		summary.Faults += faults
		summary.Elapsed = time.Since(begin)
		summary.Failed += uint64(len(list))
		if c.Progress == nil || time.Since(shown) < 5*time.Second {
			return
		}
		shown = time.Now()
		rate := float64(summary.Programs) / summary.Elapsed.Seconds()
		left := time.Duration(float64(c.Count-summary.Programs) / rate * float64(time.Second))
		if c.Duration > 0 {
			left = min(left, c.Duration-summary.Elapsed)
		}
		fmt.Fprintf(c.Progress, "%s; %v left\n", summary, left.Round(time.Second))
	}
	work := func() error {
		devices, err := c.Open()
		if err != nil {
			return err
		}
		defer func() {
			for _, d := range devices {
				d.Close()
			}
		}()
		ch := &Checker{Devices: devices, Metamorphic: c.Metamorphic}
		for ctx.Err() == nil {
			from, to := take()
			if from == to {
				return nil
			}
			programs, faults, list, err := c.chunk(ctx, ch, from, to)
			if err != nil && ctx.Err() == nil {
				return err
			}
			report(programs, faults, list)
			for _, m := range list {
				mu.Lock()
				class := m.class()
				classes[class]++
				wanted := classes[class] <= mostKept
				mu.Unlock()
				if !wanted {
					continue
				}
				if c.Progress != nil {
					fmt.Fprintf(c.Progress, "%v\n", m)
				}
				m = c.reduce(ctx, ch, m)
				mu.Lock()
				summary.Mismatches = append(summary.Mismatches, m)
				mu.Unlock()
				if err := c.keep(m); err != nil {
					return err
				}
			}
		}
		return nil
	}
	var group sync.WaitGroup
	for range max(c.Workers, 1) {
		group.Go(func() {
			if err := work(); err != nil {
				mu.Lock()
				failure = err
				mu.Unlock()
			}
		})
	}
	group.Wait()
	summary.Elapsed = time.Since(begin)
	return summary, failure
}

// chunk checks the programs with seeds from from to to.
func (c *Campaign) chunk(ctx context.Context, ch *Checker, from, to uint64) (programs, faults uint64, list []*Mismatch, err error) {
	var cases []*Case
	for seed := from; seed < to && ctx.Err() == nil; seed++ {
		p := Generate(seed)
		ref, m := ch.check(p)
		programs++
		if ref != nil && len(ref.faults) > 0 {
			faults++
		}
		if m != nil {
			list = append(list, m)
			continue
		}
		cases = append(cases, p)
	}
	if c.Native == nil {
		return programs, faults, list, nil
	}
	more, err := c.Native.Check(ctx, cases)
	if err != nil {
		return 0, 0, list, err
	}
	for _, m := range more {
		if m != nil {
			list = append(list, m)
		}
	}
	return programs, faults, list, nil
}

// minimizeTimeout is the time limit for minimizing one program.
const minimizeTimeout = 2 * time.Minute

func (c *Campaign) reduce(ctx context.Context, ch *Checker, m *Mismatch) *Mismatch {
	ctx, cancel := context.WithTimeout(ctx, minimizeTimeout)
	defer cancel()
	if native := strings.HasPrefix(m.Where, "cpu") || strings.HasPrefix(m.Where, "go"); native {
		return c.Native.Reduce(ctx, ch, m)
	}
	return ch.Reduce(ctx, m)
}

// keep writes a failing program to the directory c.Keep.
func (c *Campaign) keep(m *Mismatch) error {
	if c.Keep == "" {
		return nil
	}
	name := fmt.Sprintf("%d-%s.go", m.Seed, strings.ReplaceAll(m.Where, " ", "-"))
	what := strings.ReplaceAll(m.What, "\n", "\n// ")
	text := m.Source + "\n// " + m.Where + ": " + what + "\n"
	if err := os.MkdirAll(c.Keep, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.Keep, name), []byte(text), 0o644)
}

// One runs a kept program. It returns the mismatch, or nil if there is none.
func (c *Campaign) One(ctx context.Context, source string, minimize bool) (*Mismatch, error) {
	p, err := Parse(source)
	if err != nil {
		return nil, err
	}
	devices, err := c.Open()
	if err != nil {
		return nil, err
	}
	defer func() {
		for _, d := range devices {
			d.Close()
		}
	}()
	ch := &Checker{Devices: devices, Metamorphic: c.Metamorphic, AllForms: true}
	m := ch.Check(p)
	if m == nil && c.Native != nil {
		list, err := c.Native.Check(ctx, []*Case{p})
		if err != nil {
			return nil, err
		}
		m = list[0]
	}
	if m != nil && minimize {
		m = c.reduce(ctx, ch, m)
	}
	return m, nil
}
