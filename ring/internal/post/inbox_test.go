package post

import (
	"slices"
	"testing"
	"unsafe"

	"quern.dev/gpu"
	"quern.dev/ring/internal/rings"
)

// pauser stands for launches. There are none.
type pauser struct{}

func (pauser) Quiesce(gpu.Operation) error { return nil }
func (pauser) Resume() error               { return nil }

// open returns the post memory of a CPU.
func open(t *testing.T) *Memory {
	dev, err := gpu.Open(gpu.Config{Require: gpu.CPU})
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(dev, false, pauser{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// post puts a message into the ring.
func (b *Inbox) post(ticket uint64, msg uint64, deadline uint32) {
	b.visit(func([]uint64) { b.ring.Put(ticket, &rings.Header{Deadline: deadline}, unsafe.Pointer(&msg)) })
}

func TestDeadlinesOfWaitingMessagesAreReplaced(t *testing.T) {
	b, err := open(t).NewInbox(8, 8, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(3) {
		b.post(i, 10*i, 100*uint32(i))
	}
	b.SetDeadlines(func(word uint32) uint32 { return word + 1 })
	var msg uint64
	var got []uint64
	if n := b.Collect(unsafe.Pointer(&msg), func(h rings.Header) bool {
		got = append(got, msg, uint64(h.Deadline))
		return true
	}); n != 3 || !slices.Equal(got, []uint64{0, 1, 10, 101, 20, 201}) {
		t.Errorf("%d messages: numbers and deadlines %v", n, got)
	}
}
