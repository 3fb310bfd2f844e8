package culib

import (
	"errors"
	"sync"

	"quern.dev/gpu"
	"quern.dev/internal/engine"
)

// Provider computes operations with the libraries.
type Provider struct{}

var _ engine.Provider = Provider{}

// device is what the libraries keep for a device.
type device struct {
	dev  *gpu.Device
	cuda int

	mu     sync.Mutex
	blas   *products
	sparse *sparseHandle
	plans  map[*transform]struct{}
}

var devices struct {
	mu sync.RWMutex
	of map[*gpu.Device]*device
}

// deviceOf returns the state of a device, which is made on first use.
func deviceOf(d *gpu.Device) (*device, error) {
	devices.mu.RLock()
	x := devices.of[d]
	devices.mu.RUnlock()
	if x != nil {
		return x, nil
	}
	devices.mu.Lock()
	defer devices.mu.Unlock()
	if x := devices.of[d]; x != nil {
		return x, nil
	}
	x = &device{dev: d, cuda: cudaMajor(d), plans: make(map[*transform]struct{})}
	if err := d.OnClose(x.close); err != nil {
		return nil, err
	}
	if devices.of == nil {
		devices.of = make(map[*gpu.Device]*device)
	}
	devices.of[d] = x
	return x, nil
}

// close destroys the handles, with the context of the device current.
func (d *device) close() error {
	devices.mu.Lock()
	delete(devices.of, d.dev)
	devices.mu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	if d.blas != nil {
		errs = append(errs, d.blas.close())
	}
	if d.sparse != nil {
		errs = append(errs, d.sparse.close())
	}
	for t := range d.plans {
		errs = append(errs, t.destroy())
	}
	return errors.Join(errs...)
}

// libraryOf opens a library for use with a device.
func libraryOf(d *gpu.Device, k engine.Library) (*device, *library, error) {
	if d.Backend() != gpu.CUDA {
		return nil, nil, &engine.Error{Library: k.String(), Reason: d.ID() + " is not a CUDA device", Advice: "use engine Auto or Quern", Err: errors.ErrUnsupported}
	}
	x, err := deviceOf(d)
	if err != nil {
		return nil, nil, err
	}
	l, err := open(k, x.cuda)
	return x, l, err
}

// Version returns the name and the version of a library.
func (Provider) Version(d *gpu.Device, k engine.Library) string {
	if d.Backend() != gpu.CUDA {
		return ""
	}
	x, err := deviceOf(d)
	if err != nil {
		return ""
	}
	l, err := open(k, x.cuda)
	if err != nil {
		return ""
	}
	return l.label
}

// Libraries opens the libraries for a device and describes them.
func Libraries(d *gpu.Device) []Info {
	var list []Info
	for k := range engine.Library(engine.Libraries) {
		i := Info{Name: k.String()}
		if _, l, err := libraryOf(d, k); err != nil {
			i.Err = err
		} else {
			i.Path, i.Version = l.path, l.version
		}
		list = append(list, i)
	}
	return list
}
