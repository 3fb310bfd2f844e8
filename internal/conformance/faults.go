package conformance

import "quern.dev/kernel"

// Kernels that fail, each in one way, in a thread that the input selects.

//quern:kernel
func indexOutOfRange(t kernel.Thread, at int, in []int32, out []int32) {
	i := t.Global()
	if i < len(out) {
		out[i] = 1
	}
	if i == at {
		out[i] = in[i+len(in)]
	}
}

//quern:kernel
func negativeIndex(t kernel.Thread, at int, in []int32, out []int32) {
	if i := t.Global(); i == at {
		out[i] = in[i-at-3]
	}
}

//quern:kernel
func arrayIndexOutOfRange(t kernel.Thread, at int, in []int32, out []int32) {
	var v [8]int32
	for k := range v {
		v[k] = in[k]
	}
	if i := t.Global(); i == at {
		out[i] = v[in[i]]
	}
}

//quern:kernel
func sharedIndexOutOfRange(t kernel.Thread, at int, in []int32, out []int32) {
	s := kernel.Shared[[16]int32](t)
	if t.ThreadIdx.X < 16 {
		s[t.ThreadIdx.X] = 1
	}
	t.Sync()
	if i := t.Global(); i == at {
		out[i] = s[in[i]]
	}
}

//quern:kernel
func divisionByZero(t kernel.Thread, at int, in []int32, out []int32) {
	if i := t.Global(); i < len(in) {
		d := int32(1)
		if i == at {
			d = in[i] - 1000
		}
		out[i] = in[i] / d
	}
}

//quern:kernel
func negativeShift(t kernel.Thread, at int, in []int32, out []int32) {
	if i := t.Global(); i == at {
		out[i] = 1 << (int32(i) - int32(at) - 1)
	}
}

//quern:kernel
func sliceOutOfRange(t kernel.Thread, at int, in []int32, out []int32) {
	if i := t.Global(); i == at {
		part := in[2 : len(in)+1]
		out[i] = part[0]
	}
}

//quern:kernel
func panics(t kernel.Thread, at int, in []int32, out []int32) {
	if t.Global() == at {
		panic("negative weight")
	}
}

// Kernels in which a pointer is nil in one thread.

type node struct {
	value int32
	many  [8]int32
	next  struct{ value int32 }
}

func (n *node) get() int32 { return n.value + 1 } // of a nil node

func (n node) sum() int32 { return n.value + n.next.value }

// holder has pointers in a struct and in arrays.
type holder struct {
	first *node
	all   [4]*node
}

type embedding struct{ *node }

// nodeOf returns nil for a negative number.
func nodeOf(n int, a, b *node) (p *node) {
	if n == 0 {
		p = a
	} else if n > 0 {
		p = b
	}
	return p
}

// choice is -1 in the selected thread, otherwise 0 or 1.
func choice(i, at int) int {
	if i == at {
		return -1
	}
	return i & 1
}

//quern:kernel
func nilField(t kernel.Thread, at int, in []int32, out []int32) {
	i := t.Global()
	a, b := node{value: 1}, node{value: 2}
	p := nodeOf(choice(i, at), &a, &b)
	if i < len(out) {
		out[i] = p.value // nil field
	}
}

//quern:kernel
func nilNestedField(t kernel.Thread, at int, in []int32, out []int32) {
	i := t.Global()
	a, b := node{value: 1}, node{value: 2}
	p := nodeOf(choice(i, at), &a, &b)
	p.next.value = int32(i) // nil nested field
	if i < len(out) {
		out[i] = a.next.value + b.next.value
	}
}

//quern:kernel
func nilArray(t kernel.Thread, at int, in []int32, out []int32) {
	i := t.Global()
	var p *[8]int32
	var a [8]int32
	if i != at {
		p = &a
	}
	p[i&7] = 5 // nil array
	if i < len(out) {
		out[i] = a[3]
	}
}

//quern:kernel
func nilElement(t kernel.Thread, at int, in []int32, out []int32) {
	i := t.Global()
	var p *int32
	for k := range in {
		if k != at && k == i {
			p = &out[k]
		}
	}
	if i < len(in) {
		*p = in[i] // nil element
	}
}

//quern:kernel
func nilAgain(t kernel.Thread, at int, in []int32, out []int32) {
	i := t.Global()
	if i >= len(in) {
		return
	}
	p, sum := &in[i], int32(0)
	for k := range 4 {
		sum += *p // nil in the last iteration
		if k == 2 && i == at {
			var none *int32
			p = none
		}
	}
	out[i] = sum
}

//quern:kernel
func nilToPointer(t kernel.Thread, at int, in []int32, out []int32) {
	i := t.Global()
	var p *int32
	if i < len(out) && i != at {
		p = &out[i]
	}
	q := &p
	if i < len(in) {
		**q = in[i] // nil behind a pointer
	}
}

//quern:kernel
func nilInStruct(t kernel.Thread, at int, in []int32, out []int32) {
	i := t.Global()
	a := node{value: 3}
	var h holder
	if i != at {
		h.first = &a
	}
	if i < len(out) {
		out[i] = h.first.value // nil in a struct
	}
}

//quern:kernel
func nilInArray(t kernel.Thread, at int, in []int32, out []int32) {
	i := t.Global()
	a, b := node{value: 3}, node{value: 4}
	var h holder
	h.all[i&3] = &a
	if i != at {
		h.all[(i+1)&3] = &b
	}
	if i < len(out) {
		out[i] = h.all[(i+1)&3].value // nil in an array
	}
}

//quern:kernel
func nilReceiver(t kernel.Thread, at int, in []int32, out []int32) {
	i := t.Global()
	a, b := node{value: 1}, node{value: 2}
	if i < len(out) {
		out[i] = nodeOf(choice(i, at), &a, &b).get()
	}
}

//quern:kernel
func nilValueReceiver(t kernel.Thread, at int, in []int32, out []int32) {
	i := t.Global()
	a, b := node{value: 1}, node{value: 2}
	p := nodeOf(choice(i, at), &a, &b)
	if i < len(out) {
		out[i] = p.sum() // nil copied
	}
}

//quern:kernel
func nilEmbedded(t kernel.Thread, at int, in []int32, out []int32) {
	i := t.Global()
	a := node{value: 1}
	var e embedding
	if i != at {
		e.node = &a
	}
	if i < len(out) {
		out[i] = e.value // nil embedded
	}
}

//quern:kernel
func nilFieldAddress(t kernel.Thread, at int, in []int32, out []int32) {
	i := t.Global()
	a, b := node{value: 1}, node{value: 2}
	p := nodeOf(choice(i, at), &a, &b)
	v := &p.next.value // nil address
	if i < len(out) {
		*v = 7
		out[i] = a.next.value + b.next.value
	}
}

//quern:kernel
func nilSliced(t kernel.Thread, at int, in []int32, out []int32) {
	i := t.Global()
	a, b := node{value: 1}, node{value: 2}
	p := nodeOf(choice(i, at), &a, &b)
	s := p.many[i&3:] // nil sliced
	s[0] = 7
	if i < len(out) {
		out[i] = a.many[i&3] + b.many[i&3]
	}
}

//quern:kernel
func nilRange(t kernel.Thread, at int, in []int32, out []int32) {
	i := t.Global()
	var p *[8]int32
	var a [8]int32
	if i != at {
		p = &a
	}
	sum := int32(0)
	for _, v := range p { // nil range
		sum += v
	}
	if i < len(out) {
		out[i] = sum
	}
}

//quern:kernel
func nilShared(t kernel.Thread, at int, in []int32, out []int32) {
	s := kernel.Shared[[32]int32](t)
	s[t.ThreadIdx.X&31] = 3
	t.Sync()
	i := t.Global()
	var p *int32
	if i != at {
		p = &s[i&31]
	}
	if i < len(out) {
		out[i] = *p // nil shared
	}
}

//quern:kernel
func nilAtomic(t kernel.Thread, at int, in []int32, out []int32) {
	i := t.Global()
	var p *int32
	if i < len(out) && i != at {
		out[i] = 1
		p = &out[i]
	}
	if i < len(in) {
		kernel.AtomicAdd(p, 3) // nil atomic
	}
}

//quern:kernel
func nilOrdered(t kernel.Thread, at int, in []int32, out []int32) {
	i := t.Global()
	var p *int32
	if i < len(out) && i != at {
		p = &out[i]
	}
	if i < len(in) {
		kernel.StoreRelaxed(p, 3) // nil ordered
	}
}

//quern:kernel
func nilCopied(t kernel.Thread, at int, in []int32, out []int32) {
	i := t.Global()
	a, b := node{value: 1}, node{value: 2}
	p := nodeOf(choice(i, at), &a, &b)
	c := *p // nil struct
	c.many[i&7] = 3
	if i < len(out) {
		out[i] = c.many[2] + c.value
	}
}

//quern:kernel
func nilDropped(t kernel.Thread, at int, in []int32, out []int32) {
	i := t.Global()
	a, b := node{value: 1}, node{value: 2}
	p := nodeOf(choice(i, at), &a, &b)
	_ = p.value // nil dropped
	if i < len(out) {
		out[i] = 1
	}
}
