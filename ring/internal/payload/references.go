package payload

import (
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"quern.dev/ring/actor"
)

// References are the references to payloads in messages of a type. Pointers to messages
// must point to values of that type. Each actor.Payload in them has the layout of a Ref.
type References struct {
	memory *Memory
	failed func(error)    // called with errors of Release
	at     []uintptr      // offsets in a message, in bytes
	of     []reflect.Type // the element type of each
}

// ReferencesIn finds the references in messages of type In. It returns nil if there are
// none.
func ReferencesIn[In any](m *Memory, failed func(error)) *References {
	t := reflect.TypeFor[In]()
	found, known := refsOf.Load(t)
	if !known {
		refs := &References{}
		refs.find(t, 0)
		found, _ = refsOf.LoadOrStore(t, refs)
	}
	refs := found.(*References)
	if len(refs.at) == 0 {
		return nil
	}
	return &References{m, failed, refs.at, refs.of}
}

var refsOf sync.Map // reflect.Type -> *References without a memory

// find adds the references in a value of type t at an offset.
func (p *References) find(t reflect.Type, at uintptr) {
	switch t.Kind() {
	case reflect.Array:
		one := &References{}
		one.find(t.Elem(), 0)
		if len(one.at) == 0 {
			return
		}
		for i := range t.Len() {
			for k, o := range one.at {
				p.at, p.of = append(p.at, at+uintptr(i)*t.Elem().Size()+o), append(p.of, one.of[k])
			}
		}
	case reflect.Struct:
		if t.PkgPath() == actorPackage && strings.HasPrefix(t.Name(), "Payload[") {
			open, _ := t.MethodByName("Open") // func(Payload[T], *Context, []T) []T
			p.at, p.of = append(p.at, at), append(p.of, open.Type.Out(0).Elem())
			return
		}
		for i := range t.NumField() {
			p.find(t.Field(i).Type, at+t.Field(i).Offset)
		}
	}
}

var actorPackage = reflect.TypeFor[actor.Payload[byte]]().PkgPath()

// Retain gives the message a hold on each payload that it refers to. It skips zero
// references.
func (p *References) Retain(msg unsafe.Pointer) error { return p.each(msg, p.memory.retain) }

// Adopt is Retain for a message from an actor on the device. The program need not hold the
// payloads.
func (p *References) Adopt(msg unsafe.Pointer) error { return p.each(msg, p.memory.adopt) }

func (p *References) each(msg unsafe.Pointer, hold func(Ref) error) error {
	for i, at := range p.at {
		r := *(*Ref)(unsafe.Add(msg, at))
		if r == (Ref{}) {
			continue
		}
		err, held := hold(r), i
		if err == nil {
			if err, held = p.memory.requireType(r, p.of[i]), i+1; err == nil {
				continue
			}
		}
		for _, at := range p.at[:held] {
			p.end(*(*Ref)(unsafe.Add(msg, at)))
		}
		return err
	}
	return nil
}

// Release ends the holds of a message.
func (p *References) Release(msg unsafe.Pointer) {
	for _, at := range p.at {
		p.end(*(*Ref)(unsafe.Add(msg, at)))
	}
}

// ReleaseSlot is Release for a message in a ring. words are its words.
func (p *References) ReleaseSlot(words unsafe.Pointer) {
	for _, at := range p.at {
		var r [4]uint32
		for i := range r {
			r[i] = uint32(atomic.LoadUint64((*uint64)(unsafe.Add(words, 2*at+8*uintptr(i))))) // each 8-byte word has 4 bytes of the message
		}
		p.end(Ref{r[0], r[1], r[2], r[3]})
	}
}

func (p *References) end(r Ref) {
	if r == (Ref{}) {
		return
	}
	m := p.memory
	if err := m.release((*m.known.Load())[r.Entry]); err != nil {
		p.failed(err)
	}
}
