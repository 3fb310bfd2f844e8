package cpu

import (
	"quern.dev/internal/driver"
	"quern.dev/internal/driver/interp"
	"quern.dev/internal/ptxvm"
)

// interpreted is a kernel that exists as PTX alone. Its addresses are Go
// pointers.
type interpreted struct {
	*interp.Function
	memory *ptxvm.Memory
}

func loadPTX(k *driver.Kernel) (driver.Function, error) {
	f, err := interp.Load(k)
	if err != nil {
		return nil, err
	}
	return &interpreted{f, ptxvm.NewDirectMemory()}, nil
}

func (f *interpreted) Close() error { return nil }

func (f *interpreted) run(l *driver.Frame, record []byte) error {
	if err := f.Run(l, interp.Options{Memory: f.memory}); err != nil {
		return err
	}
	fault := driver.Record(record)
	clear(record)
	if fault == nil {
		return nil
	}
	return fault
}
