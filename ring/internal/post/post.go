// Package post implements the post memory, through which actors reach each other without
// the host. It has two regions. The region in device memory contains the mailbox of each
// actor. The region in host memory contains the bells of mailboxes, and the rings of
// host actors. Package mail describes their content.
package post

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"quern.dev/gpu"
	"quern.dev/ring/internal/errs"
	"quern.dev/ring/internal/mail"
)

// Memory is the post memory of a runtime. It grows while no launch runs; its words keep
// their positions. It is safe for concurrent use.
type Memory struct {
	dev      *gpu.Device
	resident bool // the device works asynchronously
	pauser   Pauser
	stream   *gpu.Stream

	mu     sync.RWMutex // write-locked while the memory is replaced
	closed bool
	device region
	host   region

	grown atomic.Uint64 // number of times that a region was replaced

	// shared contains the words of both regions if they are garbage-collected host
	// memory. They are read without mu. It is nil on a GPU and after Close.
	shared atomic.Pointer[sharedWords]
}

// Pauser stops all launches from Quiesce to Resume.
type Pauser interface {
	Quiesce(gpu.Operation) error
	Resume() error
}

type sharedWords struct{ device, host []uint64 }

// share sets shared. The caller holds mu, or p is not shared yet.
func (p *Memory) share() {
	if p.resident || p.closed {
		p.shared.Store(nil)
		return
	}
	p.shared.Store(&sharedWords{p.device.source.Data(), p.host.source.Data()})
}

// region is memory from which words are reserved.
type region struct {
	words  *gpu.Buffer[uint64]     // on the device
	source *gpu.HostBuffer[uint64] // the same memory, if the host can access it
	used   int
	free   map[int][]uint32 // positions of released words, by size
}

// Initial words of the regions.
const (
	postWords     = 1 << 16
	postHostWords = 1 << 12
)

// New makes the post memory of a device. resident means that actors run on the device
// asynchronously.
func New(dev *gpu.Device, resident bool, pauser Pauser) (*Memory, error) {
	p := &Memory{dev: dev, resident: resident, pauser: pauser}
	var err error
	if p.stream, err = dev.NewStream(context.Background(), gpu.Detached()); err == nil {
		p.device, err = p.makeRegion(postWords, !resident)
	}
	if err == nil {
		p.host, err = p.makeRegion(postHostWords, true)
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	p.device.used, p.host.used = mail.BoxWords, mail.BoxWords // mailbox and bell 0 are not used
	p.share()
	return p, nil
}

// makeRegion makes a region of zeros, which the host can access if shared is set.
func (p *Memory) makeRegion(words int, shared bool) (region, error) {
	if !shared {
		b, err := gpu.Alloc[uint64](p.dev, words)
		if err == nil {
			err = gpu.Zero(p.stream, b)
		}
		return region{words: b, free: map[int][]uint32{}}, err
	}
	source, err := gpu.AllocHost[uint64](p.dev, words)
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

// Close frees the memory. It must not be used after that.
func (p *Memory) Close() error {
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

// Reserve reserves words in the device's region and returns their position, which is a
// multiple of mail.BoxWords. The words are zero.
func (p *Memory) Reserve(words int) (at uint32, err error) { return p.take(&p.device, words) }

// reserveHost is Reserve in the host's region.
func (p *Memory) reserveHost(words int) (at uint32, err error) { return p.take(&p.host, words) }

func (p *Memory) take(r *region, words int) (uint32, error) {
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

// Release returns words that were reserved in the device's region.
func (p *Memory) Release(at uint32, words int) { p.giveBack(&p.device, at, words) }

func (p *Memory) giveBack(r *region, at uint32, words int) {
	words = (words + mail.BoxWords - 1) / mail.BoxWords * mail.BoxWords
	p.mu.Lock()
	defer p.mu.Unlock()
	r.free[words] = append(r.free[words], at)
}

// grow replaces a region by one with at least the given number of words.
func (p *Memory) grow(r *region, words int) error {
	// The device may call Quiesce to allocate the new region and to free the old one.
	p.mu.RLock()
	closed, size, shared := p.closed, max(words, 2*r.words.Len()), r.source != nil
	p.mu.RUnlock()
	if closed {
		return errs.ErrClosed
	}
	larger, err := p.makeRegion(size, shared)
	if err != nil {
		return errors.Join(err, larger.close())
	}
	if err := p.pauser.Quiesce("grow mailboxes"); err != nil {
		return errors.Join(err, larger.close())
	}
	old, err := p.replace(r, larger, words)
	return errors.Join(err, p.pauser.Resume(), old.close())
}

// replace is grow after Quiesce. It returns the region to close.
func (p *Memory) replace(r *region, larger region, words int) (region, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return larger, errs.ErrClosed
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

// Write stores words in the device's region. Actors may be running.
func (p *Memory) Write(at uint32, words ...uint64) error { return p.put(&p.device, at, words) }

// Read loads words of the device's region. Actors may be running.
func (p *Memory) Read(at uint32, words []uint64) error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.closed {
		return errs.ErrClosed
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

func (p *Memory) put(r *region, at uint32, words []uint64) error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.closed {
		return errs.ErrClosed
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

// Rung reports whether a bell has rung since the last call.
func (p *Memory) Rung(bell uint32) bool {
	if w := p.shared.Load(); w != nil {
		return taken(&w.host[bell])
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	return !p.closed && taken(&p.host.source.Data()[bell])
}

// taken reports whether a word is not 0, and zeroes it.
func taken(word *uint64) bool {
	return atomic.LoadUint64(word) != 0 && atomic.SwapUint64(word, 0) != 0
}

// Arguments returns both regions as arguments of a launch.
func (p *Memory) Arguments() (device, host *gpu.Buffer[uint64]) { return p.device.words, p.host.words }

// Grown returns a number that changes whenever the result of Arguments does.
func (p *Memory) Grown() uint64 { return p.grown.Load() }

// Download copies words from the device to the host while launches are running.
func (p *Memory) Download(words []uint32, from *gpu.Buffer[uint32]) error {
	return gpu.Download(context.Background(), p.stream, words, from)
}

// Box is a mailbox in the post memory.
type Box struct {
	Number uint32 // position of its words divided by mail.BoxWords, 0 for none
	Bell   uint32 // position in the host's region; a host actor's head follows
	Slots  int
	Step   int    // words per slot
	First  uint64 // ticket of the actor's first message
	host   bool   // the ring is in the host's region
}

// A mailbox has as many slots as fit into boxBytes, within these limits.
const (
	boxBytes    = 64 << 10
	minBoxSlots = 8
	maxBoxSlots = 256
)

// NewBox makes a mailbox for an actor on the device whose messages take step words.
func (p *Memory) NewBox(step int, owner uint32) (Box, error) {
	return p.newBox(Box{Slots: slotsFor(step), Step: step}, owner)
}

func slotsFor(step int) int {
	slots := maxBoxSlots
	for slots > minBoxSlots && slots*step*8 > boxBytes {
		slots /= 2
	}
	return slots
}

func (p *Memory) newBox(b Box, owner uint32) (_ Box, err error) {
	at, err := p.Reserve(b.deviceWords())
	if err != nil {
		return Box{}, err
	}
	b.Number = at / mail.BoxWords
	if b.Bell, err = p.reserveHost(b.hostWords()); err == nil {
		words := make([]uint64, mail.BoxWords)
		words[mail.BoxOwner], words[mail.BoxSlots], words[mail.BoxStep] = uint64(owner), uint64(b.Slots), uint64(b.Step)
		words[mail.BoxRing], words[mail.BoxBell] = uint64(b.Ring()), uint64(b.Bell)
		if b.host {
			words[mail.BoxKind] = mail.HostBox
		} else {
			words[mail.BoxKind], words[mail.BoxAsleep] = mail.DeviceBox, 1
		}
		err = p.Write(at, words...)
	}
	if err != nil {
		if b.Bell != 0 {
			p.giveBack(&p.host, b.Bell, b.hostWords())
		}
		p.Release(at, b.deviceWords())
		return Box{}, err
	}
	return b, nil
}

func (b Box) ringWords() int { return b.Slots * b.Step }

// deviceWords and hostWords return the number of words of the mailbox in each region.
func (b Box) deviceWords() int {
	if b.host {
		return mail.BoxWords
	}
	return mail.BoxWords + b.ringWords()
}

func (b Box) hostWords() int {
	if b.host {
		return mail.BoxWords + b.ringWords()
	}
	return 2
}

// Ring returns the position of the mailbox's ring in its region.
func (b Box) Ring() uint32 {
	if b.host {
		return b.Bell + mail.BoxWords
	}
	return b.At() + mail.BoxWords
}

// At returns the position of the mailbox's words in the device's region.
func (b Box) At() uint32 { return b.Number * mail.BoxWords }

// SetOwner assigns the mailbox to an actor. If owner is 0, the mailbox refuses messages.
func (p *Memory) SetOwner(b Box, owner uint32) error {
	return p.Write(b.At()+mail.BoxOwner, uint64(owner))
}

// Waiting returns the number of unhandled messages in a mailbox. It returns 0 if the
// host cannot access the device's region.
func (p *Memory) Waiting(b Box) uint32 {
	w := p.shared.Load()
	if w == nil {
		return 0
	}
	box := w.device[b.At():][:mail.BoxWords]
	tail := atomic.LoadUint64(&box[mail.BoxTail])
	return uint32(tail) - uint32(atomic.LoadUint64(&box[mail.BoxHead]))
}

// Head returns the ticket of the first message that Waiting counts.
func (p *Memory) Head(b Box) uint32 {
	w := p.shared.Load()
	if w == nil {
		return 0
	}
	return uint32(atomic.LoadUint64(&w.device[b.At()+mail.BoxHead]))
}
