package synchronous

import (
	"errors"

	"quern.dev/internal/driver"
)

// control is a stream's device memory for kernels in PTX: the control block, the fault
// record and the output of kernel.Printf. The parts are allocated when a kernel first
// needs them; the zero value has none.
type control struct {
	block, record, output driver.Memory

	// Buffers for the first two, kept here so that a launch does not allocate.
	blockBytes  [driver.ControlSize]byte
	recordBytes [driver.RecordSize]byte
}

// open allocates what a kernel needs and resets it for the next launch.
func (c *control) open(m Memory, prints bool) error {
	if err := need(m, &c.block, driver.ControlSize, "fault control"); err != nil {
		return err
	}
	if err := need(m, &c.record, driver.RecordSize, "fault record"); err != nil {
		return err
	}
	if prints {
		if err := need(m, &c.output, driver.OutputSize, "output of kernel.Printf"); err != nil {
			return err
		}
	}
	capacity := 0
	if c.output.Addr != 0 {
		capacity = driver.OutputSize
	}
	driver.PutControl(c.blockBytes[:], c.record.Addr, c.output.Addr, capacity)
	clear(c.recordBytes[:])
	if err := m.Write(c.block, c.blockBytes[:]); err != nil {
		return err
	}
	return m.Write(c.record, c.recordBytes[:])
}

// need allocates a part, filled with zeros, unless it exists.
func need(m Memory, part *driver.Memory, size int64, name string) error {
	if part.Addr != 0 {
		return nil
	}
	at, err := m.Alloc(size, name)
	if err != nil {
		return err
	}
	*part = at
	return m.Write(at, make([]byte, size))
}

func (c *control) free(m Memory) error {
	var errs []error
	for _, part := range []*driver.Memory{&c.block, &c.record, &c.output} {
		if part.Addr != 0 {
			errs = append(errs, m.Free(*part))
		}
		*part = driver.Memory{}
	}
	return errors.Join(errs...)
}

// recorded returns the fault found by the kernel's own checks.
func (c *control) recorded(m Memory) (*driver.Fault, error) {
	if err := m.Read(c.recordBytes[:], c.record); err != nil {
		return nil, err
	}
	return driver.Record(c.recordBytes[:]), nil
}

// printed returns and clears what the kernel has printed.
func (c *control) printed(m Memory) (messages []driver.Message, dropped int, err error) {
	if err := m.Read(c.blockBytes[:], c.block); err != nil {
		return nil, 0, err
	}
	said := driver.ReadControl(c.blockBytes[:])
	if said.Printed == 0 {
		return nil, said.Dropped, nil
	}
	records := make([]byte, min(said.Printed, driver.OutputSize))
	if err := m.Read(records, c.output); err != nil {
		return nil, said.Dropped, err
	}
	return driver.Messages(records), said.Dropped, m.Write(c.output, make([]byte, len(records)))
}

// Print stores what a kernel has printed for Output. The caller holds the stream's
// turn.
func (s *Stream) Print(dropped int, messages ...driver.Message) {
	s.messages = append(s.messages, messages...)
	s.dropped += dropped
}

// PrintLater is Print for callers that do not hold the turn.
func (s *Stream) PrintLater(dropped int, messages ...driver.Message) {
	s.begin()
	defer s.end()
	s.Print(dropped, messages...)
}

// Output returns and clears what kernels have printed.
func (s *Stream) Output() ([]driver.Message, int, error) {
	s.begin()
	defer s.end()
	messages, dropped := s.messages, s.dropped
	s.messages, s.dropped = nil, 0
	return messages, dropped, nil
}
