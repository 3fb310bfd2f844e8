package monitor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"quern.dev/internal/nvml"
)

// retryAfter is how long a monitor waits before it tries again to open a driver that was
// unavailable.
const retryAfter = 10 * time.Second

// Monitor reads the state of a machine. It is safe for concurrent use.
type Monitor struct {
	reading chan struct{} // holds one token; whoever has it reads
	closed  bool          // with the token

	host    string
	foreign bool
	cpu     cpuReader
	names   processNames

	api    *nvml.API
	err    *UnavailableError // if api is nil
	tried  time.Time
	driver string
	cuda   string
	gpus   []*gpuReader
	xids   *nvml.XIDs // nil if the driver does not report errors
}

// Open returns a monitor of this machine. It does not fail if there is no GPU: snapshots then
// say so.
func Open() *Monitor {
	m := &Monitor{reading: make(chan struct{}, 1), foreign: foreignPIDs()}
	m.host, _ = os.Hostname() // "" if it is unknown
	m.open()
	m.reading <- struct{}{}
	return m
}

// open opens the driver.
func (m *Monitor) open() {
	m.tried, m.err = time.Now(), nil
	api, err := nvml.Open()
	if err != nil {
		m.err = unavailable(err)
		return
	}
	n, err := api.Count()
	switch {
	case err != nil:
		m.err = unavailable(err)
	case n == 0:
		m.err = &UnavailableError{NoDevice, errors.New("the driver has no GPU")}
	}
	if m.err != nil {
		_ = api.Close() // m.err is the reason
		return
	}
	m.api, m.gpus = api, make([]*gpuReader, n)
	m.driver, _ = api.DriverVersion() // "" if it is unknown
	if v, err := api.CUDAVersion(); err == nil {
		m.cuda = fmt.Sprintf("%d.%d", v/1000, v%1000/10)
	}
	m.xids, err = api.NewXIDs()
	if err != nil {
		m.xids = nil
	}
	for i := range m.gpus {
		m.gpus[i] = newGPUReader(api, i)
		if m.gpus[i].device != nil && m.xids != nil {
			m.gpus[i].watched = m.xids.Watch(m.gpus[i].device) == nil
		}
	}
}

// Read measures the machine. Rates are since the previous call. The error is that of ctx, or
// says that the monitor is closed; what is wrong with GPUs is in the snapshot. If the driver
// does not answer, Read returns when ctx ends, and the next Read waits for the driver again.
func (m *Monitor) Read(ctx context.Context) (*Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-m.reading:
	}
	if m.closed {
		m.reading <- struct{}{}
		return nil, errClosed
	}
	done := make(chan *Snapshot, 1)
	go func() {
		s := m.read()
		m.reading <- struct{}{}
		done <- s
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case s := <-done:
		return s, nil
	}
}

func (m *Monitor) read() *Snapshot {
	begin := time.Now()
	if m.api == nil && begin.Sub(m.tried) >= retryAfter {
		m.open()
	}
	s := &Snapshot{Time: begin, Host: m.host, DriverVersion: m.driver, CUDAVersion: m.cuda, ForeignPIDs: m.foreign && m.api != nil, GPUs: make([]GPU, len(m.gpus)), CPU: m.cpu.read()}
	if m.err != nil {
		s.Err, s.Unavailable = m.err, m.err.Error()
	}
	m.readXIDs()
	var all sync.WaitGroup
	for i, r := range m.gpus {
		all.Go(func() { s.GPUs[i] = r.read(m.api) })
	}
	all.Wait()
	if !m.foreign {
		m.names.fill(s.GPUs)
	}
	s.Took = time.Since(begin)
	return s
}

// readXIDs assigns errors that have happened to their GPUs.
func (m *Monitor) readXIDs() {
	const most = 64 // in one reading; the rest comes in the next
	for range most {
		if m.xids == nil {
			return
		}
		d, number, ok, err := m.xids.Next()
		if err != nil || !ok {
			return
		}
		for _, r := range m.gpus {
			if r.device != nil && r.device.Is(d) {
				r.xid = int64(number)
			}
		}
	}
}

// Close ends the use of the driver. Closing again does nothing.
func (m *Monitor) Close() error {
	<-m.reading
	defer func() { m.reading <- struct{}{} }()
	if m.closed {
		return nil
	}
	m.closed = true
	if m.api == nil {
		return nil
	}
	for _, r := range m.gpus {
		r.background.Wait()
	}
	var err error
	if m.xids != nil {
		err = m.xids.Close()
	}
	return errors.Join(err, m.api.Close())
}
