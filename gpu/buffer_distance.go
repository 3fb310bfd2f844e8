package gpu

// Distance returns how many bytes after the first element of a the first element of b is. It
// returns false if the buffers cannot have elements in common: one is nil or has no elements,
// or they are on different devices.
func Distance[A, B any](a *Buffer[A], b *Buffer[B]) (bytes int, ok bool) {
	if a.Len() == 0 || b.Len() == 0 || a.mem == nil || b.mem == nil || a.mem.dev != b.mem.dev {
		return 0, false
	}
	return int(int64(b.at().Addr - a.at().Addr)), true
}
