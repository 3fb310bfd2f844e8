package ptxvm

// Forget marks the n bytes at address as uninitialized again. It ignores bytes outside of
// any allocation.
func (m *Memory) Forget(address uint64, n int) {
	if m.direct {
		return
	}
	a := m.lookup(address)
	if a == nil || a.freed || address-a.base >= a.size || a.size-(address-a.base) < uint64(n) {
		return
	}
	off := address - a.base
	if off == 0 && uint64(n) == a.size {
		a.init.clear()
		a.untracked.Store(false)
		return
	}
	for i := range uint64(n) {
		a.init[(off+i)>>6] &^= 1 << ((off + i) & 63)
	}
}
