package gpu

// StreamOption is an option of [Device.NewStream].
type StreamOption func(*streamOptions)

type streamOptions struct {
	priority int
	detached bool
}

// Priority makes a stream more urgent than others: where work of several
// streams is ready, the device begins with that of the highest priority. What
// has begun goes on. Streams have priority 0 unless they say otherwise; a number
// outside of [Device.Priorities] counts as the nearest one inside.
//
// Numbers are greater for what goes first. CUDA's have the other sign.
func Priority(n int) StreamOption {
	return func(o *streamOptions) { o.priority = n }
}

// Priorities returns the range of the priorities of streams: 0 to 5 on today's
// NVIDIA GPUs, 0 to 0 on devices on which all streams are alike, and on those
// that are closed.
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

// After makes work that is asked for later begin after all that was asked of
// other so far is done. Both streams are of the same device. It does not itself
// wait.
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
		return driverError(doing, invalid("the stream records a graph that the other one has not joined; call After of the other one with this one first"))
	case c != nil && from != c:
		return driverError(doing, invalid("the other stream records another graph, as which the body of a condition counts"))
	}
	e, err := s.dev.NewEvent()
	if err != nil {
		return partOf(doing, err)
	}
	defer e.Close() // a stream waits for what was recorded, not for the event
	if err := other.record(e, from); err != nil {
		return driverError(doing, err)
	}
	return driverError(doing, s.wait(e, c))
}
