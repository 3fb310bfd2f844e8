package ring

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"quern.dev/gpu"
	"quern.dev/ring/internal/mail"
)

// post is the memory in which actors reach each other without the host: a
// mailbox for each, in the device's memory, and in memory of the host the bells of
// mailboxes, and the mailboxes of host actors. Package actor describes its content.
// It grows while no launch runs; what lies in it keeps its place.
type post struct {
	rt     *Runtime
	stream *gpu.Stream

	mu     sync.RWMutex // held to write while the memory is replaced
	closed bool
	device region
	host   region

	grown atomic.Uint64 // how often a region has been replaced

	// shared has the regions' words where both are the host's memory, and the garbage
	// collector frees it: they are read without mu. It is nil on a GPU, and once the
	// memory has been given back.
	shared atomic.Pointer[sharedWords]

	owners sync.Map // mailbox number -> *core
}

type sharedWords struct{ device, host []uint64 }

// share sets shared. mu is held, or nobody else is there.
func (p *post) share() {
	if p.rt.resident || p.closed {
		p.shared.Store(nil)
		return
	}
	p.shared.Store(&sharedWords{p.device.source.Data(), p.host.source.Data()})
}

// region is memory of which parts are given out.
type region struct {
	words  *gpu.Buffer[uint64]     // on the device
	source *gpu.HostBuffer[uint64] // the same memory, where the host reaches it
	used   int
	free   map[int][]uint32 // places of parts that were given back, by size
}

// Words of the regions to begin with.
const (
	postWords     = 1 << 16
	postHostWords = 1 << 12
)

func newPost(rt *Runtime) (*post, error) {
	p := &post{rt: rt}
	var err error
	if p.stream, err = rt.dev.NewStream(context.Background(), gpu.Detached()); err == nil {
		p.device, err = p.makeRegion(postWords, !rt.resident)
	}
	if err == nil {
		p.host, err = p.makeRegion(postHostWords, true)
	}
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	p.device.used, p.host.used = mail.BoxWords, mail.BoxWords // nobody's mailbox and bell
	p.share()
	return p, nil
}

// makeRegion makes a region of zeros. If shared the host reaches it.
func (p *post) makeRegion(words int, shared bool) (region, error) {
	if !shared {
		b, err := gpu.Alloc[uint64](p.rt.dev, words)
		if err == nil {
			err = gpu.Zero(p.stream, b)
		}
		return region{words: b, free: map[int][]uint32{}}, err
	}
	source, err := gpu.AllocHost[uint64](p.rt.dev, words)
	if err != nil {
		return region{}, err
	}
	clear(source.Data())
	b, err := source.Mapped()
	return region{words: b, source: source, free: map[int][]uint32{}}, err
}

func (r *region) close() error {
	if r.source != nil {
		return r.source.Close()
	}
	return r.words.Close()
}

func (p *post) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.share()
	var errs []error
	if p.stream != nil {
		errs = append(errs, p.stream.Close())
	}
	return errors.Join(append(errs, p.device.close(), p.host.close())...)
}

// reserve gives out words of the device's region, zero, at a multiple of
// mail.BoxWords.
func (p *post) reserve(words int) (at uint32, err error) { return p.take(&p.device, words) }

// reserveHost gives out words of the host's region, which are zero.
func (p *post) reserveHost(words int) (at uint32, err error) { return p.take(&p.host, words) }

func (p *post) take(r *region, words int) (uint32, error) {
	words = (words + mail.BoxWords - 1) / mail.BoxWords * mail.BoxWords
	p.mu.Lock()
	list := r.free[words]
	if len(list) > 0 {
		at := list[len(list)-1]
		r.free[words] = list[:len(list)-1]
		p.mu.Unlock()
		return at, p.put(r, at, make([]uint64, words))
	}
	at, size := r.used, r.words.Len()
	if at+words <= size {
		r.used += words
		p.mu.Unlock()
		return uint32(at), nil
	}
	p.mu.Unlock()
	if at+words > math.MaxInt32 {
		return 0, fmt.Errorf("ring: the mailboxes need more than %d words of memory: %w", math.MaxInt32, gpu.ErrOutOfMemory)
	}
	if err := p.grow(r, at+words); err != nil {
		return 0, fmt.Errorf("ring: memory for mailboxes: %w", err)
	}
	return p.take(r, words)
}

// release gives words back that were reserved.
func (p *post) release(at uint32, words int)     { p.giveBack(&p.device, at, words) }
func (p *post) releaseHost(at uint32, words int) { p.giveBack(&p.host, at, words) }

func (p *post) giveBack(r *region, at uint32, words int) {
	words = (words + mail.BoxWords - 1) / mail.BoxWords * mail.BoxWords
	p.mu.Lock()
	defer p.mu.Unlock()
	r.free[words] = append(r.free[words], at)
}

// grow replaces a region by one of at least so many words.
func (p *post) grow(r *region, words int) error {
	// The device may call Quiesce to allocate it and to free what is left over.
	p.mu.RLock()
	closed, size, shared := p.closed, max(words, 2*r.words.Len()), r.source != nil
	p.mu.RUnlock()
	if closed {
		return ErrClosed
	}
	larger, err := p.makeRegion(size, shared)
	if err != nil {
		return errors.Join(err, larger.close())
	}
	if err := p.rt.Quiesce("grow mailboxes"); err != nil {
		return errors.Join(err, larger.close())
	}
	old, err := p.replace(r, larger, words)
	return errors.Join(err, p.rt.Resume(), old.close())
}

// replace is grow while no launch runs. It returns the region that is to be closed.
func (p *post) replace(r *region, larger region, words int) (region, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return larger, ErrClosed
	case r.words.Len() >= words: // another call has grown it
		return larger, nil
	}
	var err error
	if r.source != nil {
		copy(larger.source.Data(), r.source.Data())
	} else if err = gpu.Copy(p.stream, larger.words.Slice(0, r.words.Len()), r.words); err == nil {
		err = p.stream.Synchronize(context.Background())
	}
	if err != nil {
		return larger, err
	}
	larger.used, larger.free = r.used, r.free
	old := *r
	*r = larger
	p.share()
	p.grown.Add(1)
	return old, nil
}

// write stores words in the device's region, while actors may run.
func (p *post) write(at uint32, words ...uint64) error { return p.put(&p.device, at, words) }

// read loads words of the device's region, while actors may run.
func (p *post) read(at uint32, words []uint64) error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.closed {
		return ErrClosed
	}
	r := &p.device
	if r.source == nil {
		return gpu.Download(context.Background(), p.stream, words, r.words.Slice(int(at), int(at)+len(words)))
	}
	for i := range words {
		words[i] = atomic.LoadUint64(&r.source.Data()[int(at)+i])
	}
	return nil
}

func (p *post) put(r *region, at uint32, words []uint64) error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.closed {
		return ErrClosed
	}
	if r.source == nil {
		if err := gpu.CopyIn(p.stream, r.words.Slice(int(at), int(at)+len(words)), words); err != nil {
			return err
		}
		return p.stream.Synchronize(context.Background())
	}
	for i, v := range words {
		atomic.StoreUint64(&r.source.Data()[int(at)+i], v)
	}
	return nil
}

// withHost calls f with the host's region, if it has not been given back. The slice is
// valid until f returns.
func (p *post) withHost(f func(words []uint64)) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if !p.closed {
		f(p.host.source.Data())
	}
}

// rung reports whether the bell of a mailbox has rung since it was asked last.
func (p *post) rung(bell uint32) bool {
	if w := p.shared.Load(); w != nil {
		return taken(&w.host[bell])
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	return !p.closed && taken(&p.host.source.Data()[bell])
}

// taken reports whether a word is not 0, which it is after that.
func taken(word *uint64) bool {
	return atomic.LoadUint64(word) != 0 && atomic.SwapUint64(word, 0) != 0
}

// mailbox of an actor in the post memory.
type postbox struct {
	box   uint32 // its number
	bell  uint32
	slots int
	words int    // of the device's region
	first uint64 // ticket of the actor's first message
}

// A mailbox has as many slots as fill boxBytes, within limits.
const (
	boxBytes    = 64 << 10
	minBoxSlots = 8
	maxBoxSlots = 256
)

// newBox makes a mailbox for an actor on the device whose messages take step words.
func (p *post) newBox(step int, owner uint32) (postbox, error) {
	b := postbox{slots: maxBoxSlots}
	for b.slots > minBoxSlots && b.slots*step*8 > boxBytes {
		b.slots /= 2
	}
	b.words = mail.BoxWords + b.slots*step
	at, err := p.reserve(b.words)
	if err != nil {
		return postbox{}, err
	}
	b.box = at / mail.BoxWords
	if b.bell, err = p.reserveHost(2); err == nil {
		words := make([]uint64, mail.BoxWords)
		words[mail.BoxAsleep], words[mail.BoxOwner] = 1, uint64(owner)
		words[mail.BoxSlots], words[mail.BoxStep] = uint64(b.slots), uint64(step)
		words[mail.BoxKind], words[mail.BoxRing] = mail.DeviceBox, uint64(at)+mail.BoxWords
		words[mail.BoxBell] = uint64(b.bell)
		err = p.write(at, words...)
	}
	if err != nil {
		p.release(at, b.words)
		return postbox{}, err
	}
	return b, nil
}

// shutBox has messages of actors on the device refused.
func (c *core) shutBox() error {
	if h, ok := c.server.(*hostActor); ok {
		return h.shutInbox()
	}
	if c.box.box == 0 || !c.rt.referred.Load() {
		return nil // nobody can send one
	}
	return c.rt.post.write(c.box.box*mail.BoxWords+mail.BoxOwner, 0)
}

// waiting counts the messages in a mailbox that are not handled, where the host
// reaches it.
func (p *post) waiting(b postbox) uint32 {
	w := p.shared.Load()
	if w == nil {
		return 0
	}
	box := w.device[b.box*mail.BoxWords:][:mail.BoxWords]
	tail := atomic.LoadUint64(&box[mail.BoxTail])
	return uint32(tail) - uint32(atomic.LoadUint64(&box[mail.BoxHead]))
}

// head is the ticket of the first of them.
func (p *post) head(b postbox) uint32 {
	w := p.shared.Load()
	if w == nil {
		return 0
	}
	return uint32(atomic.LoadUint64(&w.device[b.box*mail.BoxWords+mail.BoxHead]))
}

// answerBells has the actors served whose bells have rung.
func (rt *Runtime) answerBells() {
	if !rt.post.rung(mail.AnyBell) {
		return
	}
	rt.post.owners.Range(func(_, known any) bool {
		if a := known.(*core); a.box.box != 0 && rt.post.rung(a.box.bell) {
			a.kick()
		}
		return true
	})
}
