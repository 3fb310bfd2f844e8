package ptxvm

// Bytes returns the n bytes at address themselves, for a host that shares them
// with kernels. They count as initialised from then on.
func (m *Memory) Bytes(address uint64, n int) ([]byte, error) {
	b, mark, err := m.span("share", address, n)
	if err != nil {
		return nil, err
	}
	mark()
	return b, nil
}
