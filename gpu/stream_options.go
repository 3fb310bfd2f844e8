package gpu

// StreamOption is an option of [Device.NewStream].
type StreamOption func(*streamOptions)

type streamOptions struct {
	priority int
	detached bool
}

// Priority sets the priority of a stream. If several streams have work that is ready, the
// device begins with the highest priority; work that has begun continues. The default is 0.
// Numbers outside [Device.Priorities] are clamped.
//
// Greater numbers go first. In CUDA the sign is reversed.
func Priority(n int) StreamOption {
	return func(o *streamOptions) { o.priority = n }
}

// Priorities returns the range of stream priorities: 0 to 5 on current NVIDIA GPUs, 0 to 0 on
// devices without priorities and on closed devices.
func (d *Device) Priorities() (least, greatest int) {
	if d.acquire() != nil {
		return 0, 0
	}
	defer d.release()
	return priorities(d.drv)
}

// Priority returns the priority of the stream.
func (s *Stream) Priority() int {
	if s == nil {
		return 0
	}
	return s.priority
}

// After makes later work on s begin after all work that was added to other so far. Both
// streams must be of the same device. After itself does not wait.
func (s *Stream) After(other *Stream) error {
	const doing = "wait for stream"
	c, err := s.enter()
	if err != nil {
		return driverError(doing, err)
	}
	defer s.release()
	from, err := other.enter()
	if err != nil {
		return driverError(doing, err)
	}
	defer other.release()
	switch {
	case s.dev != other.dev:
		return driverError(doing, otherDevice("stream", other.dev, s.dev))
	case c != nil && from == nil:
		return driverError(doing, invalid("the stream is recording a graph that the other stream has not joined; first call other.After with this stream"))
	case c != nil && from != c:
		return driverError(doing, invalid("the other stream is recording a different graph; If and While bodies are separate graphs"))
	}
	e, err := s.dev.NewEvent()
	if err != nil {
		return partOf(doing, err)
	}
	defer e.Close() // the device waits for the recorded point, not for the event
	if err := other.record(e, from); err != nil {
		return driverError(doing, err)
	}
	return driverError(doing, s.wait(e, c))
}
