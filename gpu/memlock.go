package gpu

import (
	"errors"
	"fmt"
)

// pinnedError makes an error of the driver one that matches ErrPinned, with what
// can be done about size bytes, if page-locking has a limit on the device.
func (d *Device) pinnedError(size int64, err error) error {
	if _, ok := errors.AsType[*Error](err); !ok || d.able.direct {
		return err
	}
	advice := "close host buffers that are not in use, or make smaller ones"
	if memory, ok := hostMemorySize(); ok && uint64(size) > memory {
		advice = fmt.Sprintf("the host has %d MiB of memory in all: make smaller host buffers", memory>>20)
	} else if limit, ok := memlockLimit(); ok {
		advice = fmt.Sprintf("the process may lock %d KiB: raise the limit with ulimit -l or LimitMEMLOCK=, or %s", limit>>10, advice)
	}
	return fmt.Errorf("%w: %w; %s", err, ErrPinned, advice)
}
