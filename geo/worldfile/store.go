package worldfile

import (
	"errors"
	"os"
)

// memoryBytes is how much of an image is kept in memory. Larger ones are in a temporary file.
const memoryBytes = 256 << 20

// store keeps decoded pixels, which are written in order.
type store struct {
	memory []byte
	file   *os.File
	size   int64
}

// newStore makes room for an image. Without inMemory, a large one is in a file.
func newStore(size int64, inMemory bool) (*store, error) {
	if inMemory || size <= memoryBytes {
		return &store{memory: make([]byte, 0, size)}, nil
	}
	f, err := os.CreateTemp("", "quern-image-*")
	if err != nil {
		return nil, err
	}
	return &store{file: f}, nil
}

func (s *store) write(p []byte) error {
	s.size += int64(len(p))
	if s.file == nil {
		s.memory = append(s.memory, p...)
		return nil
	}
	_, err := s.file.Write(p)
	return err
}

func (s *store) readAt(p []byte, offset int64) error {
	if s.file == nil {
		copy(p, s.memory[offset:])
		return nil
	}
	_, err := s.file.ReadAt(p, offset)
	return err
}

func (s *store) close() error {
	if s == nil || s.file == nil {
		return nil
	}
	return errors.Join(s.file.Close(), os.Remove(s.file.Name()))
}
