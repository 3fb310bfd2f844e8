package sim

// Call runs f in the caller. Only calls of the same stream wait for it: the
// device's turn would keep all streams waiting.
func (s *stream) Call(f func()) error {
	s.calls.Lock()
	defer s.calls.Unlock()
	f()
	return nil
}
