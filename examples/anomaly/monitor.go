package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"quern.dev/kernel"
	"quern.dev/ring"
)

// monitor sends each reading to the actor of its sensor.
type monitor struct {
	rt     *ring.Runtime
	opt    options
	begun  time.Time
	took   time.Duration
	judged bool
	alerts *alerts
	alarm  *ring.Actor[finding, struct{}] // on the host; records the alerts

	byName map[string]*sensor
	list   []*sensor // guarded by mu; alerts refer to sensors by index
	mu     sync.Mutex

	sent      atomic.Int64
	listeners sync.WaitGroup
}

// sensor is a sensor and its actor.
type sensor struct {
	name   string
	actor  *ring.Actor[reading, finding]
	number int64     // of the next reading
	batch  []reading // not sent yet

	mu      sync.Mutex
	strange map[int64]bool // known anomalies

	last atomic.Pointer[finding] // the last message of the actor
	err  error                   // why the last message did not arrive; set by the listener
}

// batchSize is the maximum number of readings taken from a source at once.
const batchSize = 4096

// shutdownTimeout is how long the actors may take to empty their mailboxes at the end.
const shutdownTimeout = 20 * time.Second

func newMonitor(ctx context.Context, rt *ring.Runtime, opt options, alerts *alerts) (*monitor, error) {
	m := &monitor{rt: rt, opt: opt, begun: time.Now(), alerts: alerts, byName: map[string]*sensor{}}
	var err error
	m.alarm, err = ring.SpawnHost(ctx, rt, func(_ context.Context, _ *ring.HostContext, in *finding, _ *struct{}) kernel.Action {
		m.alert(in)
		return kernel.Done
	}, ring.Options{Name: "alarm"})
	return m, err
}

// clock returns the time with which readings are stamped.
func (m *monitor) clock() time.Duration { return time.Since(m.begun) }

// stream sends the readings of a source until it ends or ctx is canceled. A
// source that is waiting for a reading may keep waiting after that.
func (m *monitor) stream(ctx context.Context, src source) error {
	m.judged = src.judged()
	type batch struct {
		samples []sample
		err     error
	}
	full, empty := make(chan batch), make(chan []sample, 2)
	empty <- make([]sample, batchSize)
	empty <- make([]sample, batchSize)
	go func() {
		for space := range empty {
			n, err := src.read(ctx, space[:cap(space)])
			select {
			case full <- batch{space[:n], err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	defer close(empty)
	for {
		select {
		case b := <-full:
			if err := m.send(ctx, b.samples); err != nil {
				return err
			}
			if b.err == io.EOF {
				return nil
			}
			if b.err != nil {
				return b.err
			}
			empty <- b.samples
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// send sends readings, one batch per sensor.
func (m *monitor) send(ctx context.Context, samples []sample) error {
	now := m.clock()
	var touched []*sensor
	for _, s := range samples {
		to, err := m.sensor(ctx, s.sensor)
		if err != nil {
			return err
		}
		if s.strange {
			to.mu.Lock()
			to.strange[to.number] = true
			to.mu.Unlock()
		}
		if len(to.batch) == 0 {
			touched = append(touched, to)
		}
		to.batch = append(to.batch, reading{Kind: measured, Number: to.number, Sent: int64(now), Value: s.value})
		to.number++
	}
	for _, to := range touched {
		n, err := to.actor.SendBatch(ctx, to.batch)
		m.sent.Add(int64(n))
		to.batch = to.batch[:0]
		if err != nil {
			return fmt.Errorf("sensor %s: %w", to.name, err)
		}
	}
	return nil
}

// sensor returns the sensor with the given name. It creates the sensor and its actor if needed.
func (m *monitor) sensor(ctx context.Context, name string) (*sensor, error) {
	if s := m.byName[name]; s != nil {
		return s, nil
	}
	if len(m.list) == maxSensors {
		return nil, fmt.Errorf("sensor %s: too many sensors; the limit is %d", name, maxSensors)
	}
	index := int32(len(m.list))
	a, err := SpawnWatch(ctx, m.rt, ring.Options{
		Name:  "sensor " + name,
		State: detector{Sensor: index, Period: int32(m.opt.period), Threshold: m.opt.threshold},
	})
	if err != nil {
		return nil, fmt.Errorf("sensor %s: %w", name, err)
	}
	s := &sensor{name: name, actor: a, strange: map[int64]bool{}}
	m.byName[name] = s
	m.mu.Lock()
	m.list = append(m.list, s)
	m.mu.Unlock()
	m.listeners.Go(func() { s.err = m.listen(s) })
	return s, nil
}

// end tells the actors that the stream has ended, and waits for their remaining
// messages.
func (m *monitor) end() error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	var errs []error
	for _, s := range m.list {
		if err := s.actor.Send(ctx, reading{Kind: ended, Number: s.number}); err != nil {
			errs = append(errs, fmt.Errorf("sensor %s: %w", s.name, err))
		}
	}
	m.listeners.Wait()
	for _, s := range m.list {
		if s.err != nil {
			errs = append(errs, fmt.Errorf("sensor %s: %w", s.name, s.err))
		}
	}
	_, err := m.alarm.Terminate(ctx) // handles the remaining messages first
	m.took = m.clock()
	return errors.Join(append(errs, err)...)
}

// listen forwards the alerts of a sensor's actor until its last message.
func (m *monitor) listen(s *sensor) error {
	for f, err := range s.actor.Replies(context.Background()) {
		if err != nil {
			return err
		}
		if f.Kind == ended {
			s.last.Store(&f)
			return nil
		}
		if err := m.alarm.Tell(context.Background(), f); err != nil {
			return err
		}
	}
	return nil
}
