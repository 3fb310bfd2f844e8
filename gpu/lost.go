package gpu

import "errors"

// unlessLost drops the error of releasing what was on a device that was lost: it
// is gone with the device, and the program has been told by what failed first.
func unlessLost(err error) error {
	if errors.Is(err, ErrDeviceLost) {
		return nil
	}
	return err
}

// joinLost joins errors, of those of a lost device only the first.
func joinLost(errs []error) error {
	var told []error
	lost := false
	for _, err := range errs {
		if errors.Is(err, ErrDeviceLost) {
			if lost {
				continue
			}
			lost = true
		}
		told = append(told, err)
	}
	return errors.Join(told...)
}
