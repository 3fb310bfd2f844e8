package ring

import (
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"quern.dev/ring/actor"
)

// payloadRefs are the references to payloads in messages of a type. Their offsets come from
// reflection on the very type that pointers to messages have here, and an actor.Payload is
// four words of 32 bits, as payloadRef is.
type payloadRefs struct {
	rt *Runtime
	at []uintptr      // in a message, bytes
	of []reflect.Type // elements, for each
}

// payloadsIn finds the references in messages of type In, nil if there are none.
func payloadsIn[In any](rt *Runtime) references {
	t := reflect.TypeFor[In]()
	found, known := refsOf.Load(t)
	if !known {
		refs := &payloadRefs{}
		refs.find(t, 0)
		found, _ = refsOf.LoadOrStore(t, refs)
	}
	refs := found.(*payloadRefs)
	if len(refs.at) == 0 {
		return nil
	}
	return &payloadRefs{rt, refs.at, refs.of}
}

var refsOf sync.Map // reflect.Type -> *payloadRefs without a runtime

// find adds the references in a value of type t at an offset.
func (p *payloadRefs) find(t reflect.Type, at uintptr) {
	switch t.Kind() {
	case reflect.Array:
		one := &payloadRefs{}
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

// retain gives the message a hold on each payload that it names. A zero reference
// names none.
func (p *payloadRefs) retain(msg unsafe.Pointer) error {
	return p.each(msg, p.rt.payloads.retain)
}

// adopt is retain for a message that an actor on the device has sent, of which the
// program need not hold the payloads.
func (p *payloadRefs) adopt(msg unsafe.Pointer) error { return p.each(msg, p.rt.payloads.adopt) }

func (p *payloadRefs) each(msg unsafe.Pointer, hold func(payloadRef) error) error {
	for i, at := range p.at {
		r := *(*payloadRef)(unsafe.Add(msg, at))
		if r == (payloadRef{}) {
			continue
		}
		err, held := hold(r), i
		if err == nil {
			if err, held = p.rt.payloads.requireType(r, p.of[i]), i+1; err == nil {
				continue
			}
		}
		for _, at := range p.at[:held] {
			p.end(*(*payloadRef)(unsafe.Add(msg, at)))
		}
		return err
	}
	return nil
}

// release ends the holds of a message.
func (p *payloadRefs) release(msg unsafe.Pointer) {
	for _, at := range p.at {
		p.end(*(*payloadRef)(unsafe.Add(msg, at)))
	}
}

// releaseSlot is release of a message in a ring.
func (p *payloadRefs) releaseSlot(words unsafe.Pointer) {
	for _, at := range p.at {
		var r [4]uint32
		for i := range r {
			r[i] = uint32(atomic.LoadUint64((*uint64)(unsafe.Add(words, 2*at+8*uintptr(i))))) // 4 bytes of the message in a word of 8
		}
		p.end(payloadRef{r[0], r[1], r[2], r[3]})
	}
}

func (p *payloadRefs) end(r payloadRef) {
	if r == (payloadRef{}) {
		return
	}
	m := p.rt.payloads
	if err := m.release((*m.known.Load())[r.entry]); err != nil {
		p.rt.record(err)
	}
}
