package cpu

// Call runs f in the caller.
func (s *stream) Call(f func()) error {
	s.begin()
	defer s.end()
	f()
	return nil
}
