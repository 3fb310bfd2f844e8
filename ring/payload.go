package ring

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"unsafe"

	"quern.dev/gpu"
	"quern.dev/ring/actor"
	"quern.dev/ring/internal/errs"
	"quern.dev/ring/internal/payload"
)

// ErrReleased means that a payload was used after it was released, or that a
// reference does not refer to a payload.
var ErrReleased = errs.ErrReleased

// Payload is an array of n elements of type T in the payload memory of a runtime.
// Messages refer to it by [Payload.Ref] instead of carrying the data, so neither the
// host nor the device copies it.
//
// A payload is reference-counted. The program holds it from [NewPayload] to
// [Payload.Release]. A message with a reference holds it from when it is sent until it is
// dropped or handled, and if there is a reply for [Actor.Receive], until that is taken.
// Actors on the device hold it as long as they say (see [quern.dev/ring/actor.Payload]).
// Its memory is reused when there are no holds left.
//
// A Payload is safe for concurrent use. The program must order writes of its elements
// by the host and by actors.
type Payload[T any] struct {
	hold *payload.Hold
	ref  actor.Payload[T]
	view *gpu.Buffer[T]
}

// Sizes of the payload memory.
const (
	DefaultPayloadBytes = 64 << 20
	MaxPayloadBytes     = payload.MaxBytes
)

// PayloadMemory is the payload memory of a runtime. Generated code passes it to
// [PayloadOf].
type PayloadMemory struct{ m *payload.Memory }

// payloadBytes checks the configured size.
func payloadBytes(bytes int64) (int64, error) {
	if bytes < 0 || bytes > MaxPayloadBytes || bytes > 0 && bytes < payload.Align {
		return 0, invalid("PayloadBytes is %d; it is %d to %d", bytes, payload.Align, int64(MaxPayloadBytes))
	}
	return cmp.Or(bytes, DefaultPayloadBytes), nil
}

// PayloadOf passes the payload memory to a launch as elements of type P. Generated code
// calls it.
func PayloadOf[P any](l *gpu.Launch, m *PayloadMemory) { gpu.SliceArg(l, elements[P](m.m)) }

// elements returns the memory as elements of type T, as many as fit.
func elements[T any](m *payload.Memory) *gpu.Buffer[T] {
	size, b := int(unsafe.Sizeof(*new(T))), m.Buffer()
	return gpu.Reinterpret[T](b.Slice(0, b.Len()/size*size))
}

// NewPayload makes a payload of n elements. The caller releases it. Its contents are
// undefined. Elements must be plain data, otherwise the error matches [ErrInvalid].
// The payload memory has [Config.PayloadBytes] bytes and is allocated with the first
// payload. If there is no room, the error is a [*PayloadMemoryError].
func NewPayload[T any](rt *Runtime, n int) (*Payload[T], error) {
	const doing = "new payload"
	if err := rt.usable(doing); err != nil {
		return nil, err
	}
	p, err := newPayload[T](rt, n)
	return p, during(doing, err)
}

func newPayload[T any](rt *Runtime, n int) (*Payload[T], error) {
	t := reflect.TypeFor[T]()
	size := int64(t.Size())
	if n < 1 || size == 0 {
		return nil, invalid("a payload of %d elements of type %v; it needs at least one byte", n, t)
	}
	if err := plain(t); err != nil {
		return nil, fmt.Errorf("elements of %v: %w", t, err)
	}
	if rt.ending() {
		return nil, errs.ErrRuntimeClosed
	}
	m := rt.payloads.m
	if int64(n) > m.Size()/size {
		return nil, &PayloadMemoryError{Want: satMul(int64(n), size), Size: m.Size(), Free: m.Size(), Largest: m.Size()}
	}
	if err := m.Make(); err != nil {
		return nil, err
	}
	p := &Payload[T]{}
	h, err := m.Allocate(int64(n), t, p.show(m))
	if _, full := errors.AsType[*payload.FullError](err); full {
		// Messages that were handled hold their payloads until their slots are reused.
		for _, c := range rt.living() {
			if c.refs != nil {
				c.sweep()
			}
		}
		h, err = m.Allocate(int64(n), t, p.show(m))
	}
	if full, is := errors.AsType[*payload.FullError](err); is {
		err = (*PayloadMemoryError)(full)
	}
	if err != nil {
		return nil, err
	}
	p.hold = h
	return p, nil
}

// show returns a function that makes p the payload of a reference.
func (p *Payload[T]) show(m *payload.Memory) func(r payload.Ref) {
	return func(r payload.Ref) {
		p.ref = actor.Payload[T]{Entry: r.Entry, Generation: r.Generation, Offset: r.Offset, Length: r.Length}
		p.view = elements[T](m).Slice(int(r.Offset), int(r.Offset)+int(r.Length))
	}
}

// OpenPayload gives the program its own hold on the payload of a reference. The caller
// releases it. A host actor uses it to read the payload of the message that it is
// handling. If the payload has no holds, the error matches [ErrReleased].
func OpenPayload[T any](rt *Runtime, ref actor.Payload[T]) (*Payload[T], error) {
	return openPayload("open payload", rt, ref, false)
}

// TakePayload is [OpenPayload] for a reference that an actor on the device has sent,
// or replied with, after retaining the payload: the program takes over that hold.
func TakePayload[T any](rt *Runtime, ref actor.Payload[T]) (*Payload[T], error) {
	return openPayload("take payload", rt, ref, true)
}

func openPayload[T any](doing string, rt *Runtime, ref actor.Payload[T], take bool) (*Payload[T], error) {
	if err := rt.usable(doing); err != nil {
		return nil, err
	}
	t := reflect.TypeFor[T]()
	if err := plain(t); err != nil {
		return nil, during(doing, fmt.Errorf("elements of %v: %w", t, err))
	}
	r := payload.Ref{Entry: ref.Entry, Generation: ref.Generation, Offset: ref.Offset, Length: ref.Length}
	p := &Payload[T]{}
	h, err := rt.payloads.m.Open(r, t, take, p.show(rt.payloads.m))
	if err != nil {
		return nil, during(doing, err)
	}
	p.hold = h
	return p, nil
}

// Buffer returns the payload's elements as a buffer for copies and launches. It is
// valid until p is released, and work with it must be done before that. Work that
// fills it must be done before a message with the reference is sent.
func (p *Payload[T]) Buffer() *gpu.Buffer[T] {
	if p.made("buffer") != nil {
		return nil
	}
	return p.view
}

// made returns an error if p is nil or a zero value.
func (p *Payload[T]) made(op string) error {
	if p == nil || p.hold == nil {
		return notMade(op, "payload")
	}
	return nil
}

// Len returns the number of elements.
func (p *Payload[T]) Len() int {
	if p.made("length") != nil {
		return 0
	}
	return p.view.Len()
}

// Ref returns a reference to the payload, for fields of messages and states. Sending
// the reference after p was released is an error.
func (p *Payload[T]) Ref() actor.Payload[T] {
	if p == nil {
		return actor.Payload[T]{}
	}
	return p.ref
}

// Write copies elements to the start of the payload, and waits for the copy.
func (p *Payload[T]) Write(ctx context.Context, elements []T) error {
	ctx = orBackground(ctx)
	if err := p.made("write payload"); err != nil {
		return err
	}
	s := p.hold.Device().DefaultStream()
	err := p.holds(len(elements))
	if err == nil && ctx.Err() != nil {
		err = s.Synchronize(ctx) // returns the error of the copy
	}
	if err == nil {
		err = gpu.CopyIn(s, p.view.Slice(0, len(elements)), elements)
	}
	if err == nil {
		err = s.Synchronize(ctx)
	}
	return during("write payload", p.explain(err))
}

// Read copies elements from the start of the payload.
func (p *Payload[T]) Read(ctx context.Context, elements []T) error {
	ctx = orBackground(ctx)
	if err := p.made("read payload"); err != nil {
		return err
	}
	err := p.holds(len(elements))
	if err == nil {
		err = gpu.Download(ctx, p.hold.Device().DefaultStream(), elements, p.view.Slice(0, len(elements)))
	}
	return during("read payload", p.explain(err))
}

// holds returns an error if the payload has fewer than n elements.
func (p *Payload[T]) holds(n int) error {
	if n > p.Len() {
		return invalid("%d elements, the payload has %d", n, p.Len())
	}
	return nil
}

// explain returns err, or ErrReleased if that is the cause.
func (p *Payload[T]) explain(err error) error {
	if err != nil && p.hold.Released.Load() {
		return ErrReleased
	}
	return err
}

// Release ends the program's hold. After that, neither p nor its buffer may be used.
// Releasing again returns an error that matches [ErrReleased].
func (p *Payload[T]) Release() error {
	const doing = "release payload"
	if err := p.made(doing); err != nil {
		return err
	}
	if p.hold.Released.Swap(true) {
		return during(doing, fmt.Errorf("%w: it was released before", ErrReleased))
	}
	return during(doing, errors.Join(p.view.Close(), p.hold.Release()))
}

// PayloadMemoryError means that the payload memory of a runtime has no room for a
// payload.
type PayloadMemoryError struct {
	Want    int64 // bytes
	Size    int64 // of the memory: Config.PayloadBytes
	Free    int64
	Largest int64 // largest free piece
}

// Error states how much memory is free, and which option to change.
func (e *PayloadMemoryError) Error() string {
	return fmt.Sprintf("ring: no room for a payload of %d bytes: the payload memory has %d, of which %d are free, %d in one piece; release payloads, or set a larger PayloadBytes in ring.Config", e.Want, e.Size, e.Free, e.Largest)
}

func satMul(x, y int64) int64 {
	if x > (1<<63-1)/y {
		return 1<<63 - 1
	}
	return x * y
}

// PayloadHolder is a line of the program that made payloads which were not released.
type PayloadHolder struct {
	Function string // "main.load"
	File     string
	Line     int

	Payloads int
	Bytes    int64
}

// PayloadLeakError is returned by Close of a runtime if the program has not released
// all payloads. Their memory has been freed nevertheless.
type PayloadLeakError struct {
	Payloads int
	Bytes    int64
	Holders  []PayloadHolder // most bytes first
}

// Error names the lines that hold the most bytes.
func (e *PayloadLeakError) Error() string {
	const shown = 5
	var b strings.Builder
	fmt.Fprintf(&b, "ring: payloads that were not released: %d (%d bytes)", e.Payloads, e.Bytes)
	for i, h := range e.Holders[:min(shown, len(e.Holders))] {
		fmt.Fprintf(&b, "%c %s (%s:%d): %d, %d bytes", ":;"[min(i, 1)], h.Function, filepath.Base(h.File), h.Line, h.Payloads, h.Bytes)
	}
	if more := len(e.Holders) - shown; more > 0 {
		fmt.Fprintf(&b, "; and %d more lines", more)
	}
	return b.String()
}

// close frees the memory. No actor may be running.
func (m *PayloadMemory) close() error {
	leaks, err := m.m.Close()
	if len(leaks) == 0 {
		return err
	}
	e := &PayloadLeakError{}
	for _, l := range leaks {
		e.Payloads += l.Payloads
		e.Bytes += l.Bytes
		e.Holders = append(e.Holders, PayloadHolder(l))
	}
	return errors.Join(e, err)
}
