package ptxvm

// Bytes returns the n bytes at address without copying them, for a host that shares memory
// with kernels. It marks them as initialized.
func (m *Memory) Bytes(address uint64, n int) ([]byte, error) {
	b, mark, err := m.span("share", address, n)
	if err != nil {
		return nil, err
	}
	mark()
	return b, nil
}
