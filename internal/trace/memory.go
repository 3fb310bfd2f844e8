package trace

import (
	"io"
	"sync"
)

// Memory keeps the latest events. It is safe for concurrent use.
type Memory struct {
	mu      sync.Mutex
	most    int
	events  []Event // ring buffer; the oldest is at next
	next    int
	removed uint64 // events that gave way to later ones
	lost    uint64 // events that the recorder lost
	before  uint64 // events that the recorder had lost before
	note    string
	profile *Profile
}

// NewMemory makes a sink that keeps the given number of events, and the profile of all.
func NewMemory(events int) *Memory {
	m := &Memory{most: events, profile: NewProfile()}
	if r := Active(); r != nil {
		m.before = r.losses()
	}
	return m
}

// Events keeps events.
func (m *Memory) Events(list []Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range list {
		m.profile.Add(&list[i])
		if len(m.events) < m.most {
			m.events = append(m.events, list[i])
			continue
		}
		m.events[m.next] = list[i]
		m.next = (m.next + 1) % m.most
		m.removed++
	}
}

// Round keeps the number of lost events.
func (m *Memory) Round(s Summary) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lost, m.note = s.Lost-min(s.Lost, m.before), s.Note
}

// Lost returns the number of events that are missing.
func (m *Memory) Lost() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.removed + m.lost
}

// Note returns the message about the recording.
func (m *Memory) Note() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.note
}

// All returns the events, oldest first.
func (m *Memory) All() []Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append(append([]Event(nil), m.events[m.next:]...), m.events[:m.next]...)
}

// WriteTrace writes the events as Chrome's JSON.
func (m *Memory) WriteTrace(w io.Writer) error {
	c := NewChrome(w)
	events := m.All()
	for i := range events {
		c.Write(&events[i])
	}
	if note := m.Note(); note != "" && len(events) > 0 {
		c.Note(note, events[0].Start)
	}
	if lost := m.Lost(); lost > 0 && len(events) > 0 {
		c.Note(lostNote(lost), events[0].Start)
	}
	return c.Close()
}

// WriteRecord writes the events for package internal/report.
func (m *Memory) WriteRecord(w io.Writer) error {
	c := NewEncoder(w)
	events := m.All()
	for i := range events {
		c.Event(&events[i])
	}
	m.mu.Lock()
	note, lost, removed := m.note, m.lost, m.removed
	m.mu.Unlock()
	if note != "" {
		c.Note(note)
	}
	c.Lost(lost+removed, 0)
	return c.Flush()
}

// WriteProfile writes the profile of all events, also of those that were removed.
func (m *Memory) WriteProfile(w io.Writer) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.profile.Write(w, m.note)
}
