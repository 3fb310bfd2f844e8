package cpu

import (
	"runtime"

	"quern.dev/internal/driver"
	"quern.dev/internal/driver/interp"
	"quern.dev/internal/driver/synchronous"
	"quern.dev/internal/ptxvm"
)

// Candidate returns the CPU as a device. It can always be opened.
func Candidate() driver.Candidate {
	i := info()
	return driver.Candidate{
		ID:   "cpu",
		Info: i,
		Open: func() (driver.Device, error) {
			return newDevice(i), nil
		},
	}
}

func info() driver.Info {
	_, total := memory()
	i := driver.Info{
		Name:          modelName(),
		DriverVersion: runtime.Version(),
		TotalMemory:   total,
		Limits:        driver.DefaultLimits(),
	}
	i.Limits.Multiprocessors = runtime.GOMAXPROCS(0)
	return i
}

type device struct {
	synchronous.Device

	info   driver.Info
	direct *ptxvm.Memory // its addresses are Go pointers
}

func newDevice(i driver.Info) *device {
	m := goMemory{Memory()}
	return &device{Device: synchronous.Device{Memory: m}, info: i, direct: ptxvm.NewDirectMemory()}
}

func (d *device) Info() *driver.Info { return &d.info }

func (d *device) Memory() (free, total int64, err error) {
	free, total = memory()
	return free, total, nil
}

func (d *device) Alloc(size int64) (driver.Memory, error) {
	return d.Device.Memory.Alloc(size, "buffer")
}

func (d *device) Free(m driver.Memory) error { return d.Device.Memory.Free(m) }

// Load returns the kernel's Go form, or its PTX if it has none.
func (d *device) Load(k *driver.Kernel) (driver.Function, error) {
	if k.Host == nil {
		return synchronous.Interpret(k, interp.Options{Memory: d.direct})
	}
	return &compiled{kernel: k.Host, prints: k.Prints, cooperative: k.Cooperative, cluster: k.Cluster}, nil
}
