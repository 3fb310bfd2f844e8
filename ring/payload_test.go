package ring

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"quern.dev/gpu"
	"quern.dev/ring/actor"
	"quern.dev/ring/internal/mail"
	"quern.dev/ring/internal/payload"
)

// wordsOfTheHost is a post memory that is not shared with a device.
type wordsOfTheHost struct {
	mu    sync.Mutex
	words []uint64
}

func (w *wordsOfTheHost) Reserve(n int) (uint32, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := len(w.words)
	w.words = append(w.words, make([]uint64, n)...)
	return uint32(at), nil
}

func (w *wordsOfTheHost) Write(at uint32, words ...uint64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	copy(w.words[at:], words)
	return nil
}

func (w *wordsOfTheHost) Read(at uint32, words []uint64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	copy(words, w.words[at:])
	return nil
}

// add counts a hold as an actor does.
func (w *wordsOfTheHost) add(r payload.Ref, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.words[r.Entry+mail.PayloadActors] += uint64(n)
}

// live makes the check that an actor makes before it opens a payload.
func (w *wordsOfTheHost) live(r payload.Ref) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	host, actors := w.words[r.Entry], w.words[r.Entry+mail.PayloadActors]
	return uint32(host>>32) == r.Generation && (host&1 != 0 || uint32(actors) > uint32(host)>>1)
}

func testMemory(t *testing.T, bytes int64) (*PayloadMemory, *wordsOfTheHost, *Runtime) {
	dev, err := gpu.Open(gpu.Config{Require: gpu.CPU})
	if err != nil {
		t.Fatal(err)
	}
	post := &wordsOfTheHost{}
	m := &PayloadMemory{payload.New(dev, post, bytes)}
	t.Cleanup(func() {
		if err := errors.Join(m.close(), dev.Close()); err != nil {
			t.Error(err)
		}
	})
	return m, post, &Runtime{dev: dev, payloads: *m}
}

func mustPayload[T any](t *testing.T, rt *Runtime, n int) *Payload[T] {
	t.Helper()
	p, err := NewPayload[T](rt, n)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func payloadsIn[In any](rt *Runtime) *payload.References {
	return payload.ReferencesIn[In](rt.payloads.m, rt.record)
}

func refOf[T any](p *Payload[T]) payload.Ref {
	r := p.Ref()
	return *(*payload.Ref)(unsafe.Pointer(&r))
}

func TestPayloadsKeepWhatIsWrittenToThem(t *testing.T) {
	_, _, rt := testMemory(t, 1<<16)
	ctx := t.Context()
	var all []*Payload[[3]int32]
	for i := range 10 {
		p := mustPayload[[3]int32](t, rt, 100)
		values := make([][3]int32, 100)
		for k := range values {
			values[k] = [3]int32{int32(i), int32(k), int32(i * k)}
		}
		if err := p.Write(ctx, values); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	for i, p := range all {
		values := make([][3]int32, 100)
		if err := p.Read(ctx, values); err != nil {
			t.Fatal(err)
		}
		for k, v := range values {
			if v != ([3]int32{int32(i), int32(k), int32(i * k)}) {
				t.Fatalf("element %d of payload %d is %v", k, i, v)
			}
		}
		if at := 12 * int(refOf(p).Offset); at%payload.Align != 0 || at%12 != 0 {
			t.Errorf("payload %d begins at byte %d", i, at)
		}
		if err := p.Release(); err != nil {
			t.Error(err)
		}
	}
}

func TestPayloadsThatWereReleasedAreErrors(t *testing.T) {
	_, post, rt := testMemory(t, 1<<16)
	p := mustPayload[uint32](t, rt, 16)
	r, ref := refOf(p), p.Ref()
	if err := p.Release(); err != nil {
		t.Fatal(err)
	}
	retain := func(r payload.Ref) error {
		return payloadsIn[actor.Payload[uint32]](rt).Retain(unsafe.Pointer(&r))
	}
	for _, c := range []struct {
		name string
		err  error
	}{
		{"a second release", p.Release()},
		{"sending it", retain(r)},
		{"opening it", func() error { _, err := OpenPayload(rt, ref); return err }()},
		{"taking it", func() error { _, err := TakePayload(rt, ref); return err }()},
		{"writing it", p.Write(t.Context(), []uint32{1})},
		{"reading it", p.Read(t.Context(), make([]uint32, 1))},
		{"sending what was never made", retain(payload.Ref{Entry: 77, Generation: 1, Length: 1})},
	} {
		if !errors.Is(c.err, ErrReleased) {
			t.Errorf("%s: %v, want ErrReleased", c.name, c.err)
		}
	}
	if err := gpu.Fill(rt.dev.DefaultStream(), p.Buffer(), 1); !errors.Is(err, gpu.ErrClosed) {
		t.Errorf("filling its buffer: %v, want gpu.ErrClosed", err)
	}
	if post.live(r) {
		t.Error("actors could open it")
	}
	if next := mustPayload[uint32](t, rt, 1<<14); refOf(next).Entry == r.Entry && post.live(r) {
		t.Error("actors could open it once its memory is another's")
	} else if err := next.Release(); err != nil {
		t.Error(err)
	}
}

func TestMessagesHoldPayloads(t *testing.T) {
	type inner struct {
		_ byte
		P actor.Payload[float32]
	}
	type message struct {
		N    int64
		Some [2]inner
		One  actor.Payload[float32]
	}
	_, post, rt := testMemory(t, 256)
	refs := payloadsIn[message](rt)
	p := mustPayload[float32](t, rt, 64)
	msg := message{One: p.Ref()}
	msg.Some[1].P = p.Ref().Slice(3, 7)
	if err := refs.Retain(unsafe.Pointer(&msg)); err != nil {
		t.Fatal(err)
	}
	if err := p.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := NewPayload[float32](rt, 1); err == nil {
		t.Fatal("memory is reused that a message holds")
	}
	if !post.live(refOf(p)) {
		t.Error("the handler could not open the payload")
	}
	if err := refs.Retain(unsafe.Pointer(&msg)); !errors.Is(err, ErrReleased) {
		t.Errorf("sending it again: %v, want ErrReleased", err)
	}
	words := make([]uint64, (unsafe.Sizeof(msg)+3)/4)
	for i := range words {
		words[i] = 5<<32 | uint64(*(*uint32)(unsafe.Add(unsafe.Pointer(&msg), 4*i)))
	}
	refs.ReleaseSlot(unsafe.Pointer(&words[0]))
	if post.live(refOf(p)) {
		t.Error("the payload is open after its message was handled")
	}
	again := mustPayload[float32](t, rt, 64)
	msg = message{One: again.Ref().Slice(60, 65)}
	msg.Some[0].P = again.Ref()
	if err := refs.Retain(unsafe.Pointer(&msg)); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "60 to 65 of a payload that has 64") {
		t.Errorf("a reference beyond the payload: %v", err)
	}
	if err := again.Release(); err != nil {
		t.Fatal(err)
	}
	if last := mustPayload[float32](t, rt, 64); last.Release() != nil {
		t.Error("a message that was not sent holds a payload")
	}
}

func TestActorsHoldPayloads(t *testing.T) {
	_, post, rt := testMemory(t, 256)
	p := mustPayload[byte](t, rt, 200)
	r := refOf(p)
	post.add(r, 2) // two actors retain it
	if err := p.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := NewPayload[byte](rt, 1); err == nil {
		t.Fatal("memory is reused that actors hold")
	}
	taken, err := TakePayload(rt, p.Ref())
	if err != nil {
		t.Fatal(err)
	}
	opened, err := OpenPayload(rt, p.Ref().Slice(1, 3))
	if err != nil || opened.Len() != 2 {
		t.Fatal(opened, err)
	}
	if err := errors.Join(taken.Release(), opened.Release()); err != nil {
		t.Fatal(err)
	}
	if !post.live(r) {
		t.Error("the second actor could not open the payload")
	}
	if _, err := NewPayload[byte](rt, 1); err == nil {
		t.Fatal("memory is reused that an actor holds")
	}
	post.add(r, -1)
	if post.live(r) {
		t.Error("the payload has no holds, and an actor could open it")
	}
	if _, err := TakePayload(rt, p.Ref()); !errors.Is(err, ErrReleased) {
		t.Errorf("taking it: %v, want ErrReleased", err)
	}
	again := mustPayload[byte](t, rt, 200)
	if _, err := TakePayload(rt, again.Ref()); !errors.Is(err, ErrInvalid) {
		t.Errorf("taking what no actor has: %v, want ErrInvalid", err)
	}
	if err := again.Release(); err != nil {
		t.Error(err)
	}
}

func TestAFullPayloadMemorySaysHowFull(t *testing.T) {
	_, _, rt := testMemory(t, 4096)
	a, b := mustPayload[byte](t, rt, 1000), mustPayload[byte](t, rt, 2000)
	_, err := NewPayload[uint64](rt, 200)
	full, ok := errors.AsType[*PayloadMemoryError](err)
	if !ok || *full != (PayloadMemoryError{Want: 1600, Size: 4096, Free: 1096, Largest: 1072}) || !strings.Contains(err.Error(), "PayloadBytes") {
		t.Errorf("%v", err)
	}
	if _, err := NewPayload[[1 << 40]byte](rt, 1<<30); !errors.As(err, &full) {
		t.Errorf("a payload beyond all memory: %v", err)
	}
	for _, n := range []int{0, -1} {
		if _, err := NewPayload[byte](rt, n); !errors.Is(err, ErrInvalid) {
			t.Errorf("%d elements: %v, want ErrInvalid", n, err)
		}
	}
	if err := errors.Join(a.Release(), b.Release()); err != nil {
		t.Error(err)
	}
	if whole := mustPayload[byte](t, rt, 4096); whole.Release() != nil {
		t.Error("what was released is not one piece")
	}
}

func TestLeakedPayloadsAreNamedAtClose(t *testing.T) {
	m, _, rt := testMemory(t, 1<<16)
	for range 3 {
		mustPayload[byte](t, rt, 100)
	}
	if p, err := NewPayload[byte](rt, 1000); err != nil {
		t.Fatal(p, err)
	}
	err := m.close()
	leak, ok := errors.AsType[*PayloadLeakError](err)
	if !ok || leak.Payloads != 4 || leak.Bytes != 1300 || len(leak.Holders) != 2 {
		t.Fatalf("%v", err)
	}
	if h := leak.Holders[0]; h.Function != "ring.TestLeakedPayloadsAreNamedAtClose" || h.Bytes != 1000 || !strings.Contains(err.Error(), "ring.TestLeakedPayloadsAreNamedAtClose (payload_test.go:") {
		t.Errorf("%v", err)
	}
	if _, err := NewPayload[byte](rt, 1); !errors.Is(err, ErrClosed) {
		t.Errorf("a payload after the end: %v, want ErrClosed", err)
	}
}

func TestManyThreadsSharePayloads(t *testing.T) {
	_, post, rt := testMemory(t, 1<<16)
	refs := payloadsIn[actor.Payload[uint32]](rt)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(g)))
			for range 300 {
				n := 1 + random.IntN(1000)
				p, err := NewPayload[uint32](rt, n)
				if err != nil {
					t.Error(err)
					return
				}
				ref := p.Ref()
				var senders sync.WaitGroup
				for range 3 {
					if err := refs.Retain(unsafe.Pointer(&ref)); err != nil {
						t.Error(err)
					}
					senders.Go(func() {
						if !post.live(refOf(p)) {
							t.Error("a payload that a message holds is released")
						}
						refs.Release(unsafe.Pointer(&ref))
					})
				}
				if err := p.Release(); err != nil {
					t.Error(err)
				}
				senders.Wait()
				if post.live(refOf(p)) {
					t.Error("a payload without holds is not released")
				}
			}
		})
	}
	wg.Wait()
	if whole := mustPayload[byte](t, rt, 1<<16); whole.Release() != nil {
		t.Error("not all memory has come back")
	}
}

func TestPayloadsHavePlainElements(t *testing.T) {
	_, _, rt := testMemory(t, 1<<16)
	refused := func(name string, err error) {
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
	_, err := NewPayload[string](rt, 1)
	refused("string", err)
	_, err = NewPayload[struct{ Rows [2]*int }](rt, 1)
	refused("field Rows", err)
	_, err = NewPayload[uintptr](rt, 1)
	refused("uintptr", err)
	_, err = TakePayload(rt, actor.Payload[string]{})
	refused("string", err)
}

func TestSizesOfThePayloadMemory(t *testing.T) {
	dev, err := gpu.Open(gpu.Config{Require: gpu.CPU})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	for _, bytes := range []int64{-1, payload.Align - 1, MaxPayloadBytes + 1} {
		if _, err := New(dev, Config{PayloadBytes: bytes}); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "PayloadBytes") {
			t.Errorf("%d bytes: %v, want ErrInvalid", bytes, err)
		}
	}
	rt, err := New(dev, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if rt.payloads.m.Buffer() != nil || rt.payloads.m.Size() != DefaultPayloadBytes {
		t.Error("without a payload the memory is there, or it is of another size")
	}
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
}

func TestErrorsOfPayloadsNameTheOperation(t *testing.T) {
	_, _, rt := testMemory(t, 1<<12)
	p := mustPayload[int32](t, rt, 4)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, missing := OpenPayload[int32](rt, actor.Payload[int32]{Entry: 99})
	_, many := NewPayload[int32](rt, 1<<20)
	_, pointers := NewPayload[*int32](rt, 1)
	written, read := p.Write(cancelled, []int32{1}), p.Read(cancelled, make([]int32, 1))
	long := p.Write(t.Context(), make([]int32, 5))
	first, second := p.Release(), p.Release()
	for _, c := range []struct {
		err  error
		is   error
		want string
	}{
		{written, context.Canceled, "ring: write payload: gpu: synchronize: context canceled"},
		{read, context.Canceled, "ring: read payload: gpu: download: context canceled"},
		{long, ErrInvalid, "ring: write payload: invalid option: 5 elements, the payload has 4"},
		{first, nil, "<nil>"},
		{second, ErrReleased, "ring: release payload: payload released: it was released before"},
		{p.Write(t.Context(), []int32{1}), ErrReleased, "ring: write payload: payload released"},
		{missing, ErrReleased, "ring: open payload: payload released"},
		{many, nil, "ring: new payload: no room for a payload of 4194304 bytes"},
		{pointers, ErrInvalid, "ring: new payload: elements of *int32: "},
	} {
		if got := fmt.Sprint(c.err); !strings.HasPrefix(got, c.want) || c.is != nil && !errors.Is(c.err, c.is) {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
