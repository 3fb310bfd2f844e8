package cuda

import (
	"errors"
	"unsafe"

	"quern.dev/internal/driver"
)

var (
	cuMemAllocManaged  = optional("cuMemAllocManaged")
	cuMemPrefetchAsync = optional("cuMemPrefetchAsync")
	cuMemAdvise        = optional("cuMemAdvise")
)

// Attributes of devices (CUdevice_attribute).
const (
	hasManagedMemory        = 83
	concurrentManagedAccess = 89
)

const (
	attachGlobal = 1          // CU_MEM_ATTACH_GLOBAL
	deviceHost   = 1<<32 - 1  // CU_DEVICE_CPU, -1 as an int
	adviseUnset  = uintptr(1) // added to a set advice, gives the unset advice
	setReadMost  = uintptr(1) // CU_MEM_ADVISE_SET_READ_MOSTLY
	setPreferred = uintptr(3) // CU_MEM_ADVISE_SET_PREFERRED_LOCATION
	setAccessed  = uintptr(5) // CU_MEM_ADVISE_SET_ACCESSED_BY
)

func (d *device) AllocManaged(size int64) (driver.Memory, unsafe.Pointer, error) {
	has, err := d.api.attribute(d.handle, hasManagedMemory)
	if err == nil && (has == 0 || !d.api.has(cuMemAllocManaged)) {
		err = errors.ErrUnsupported
	}
	if err != nil {
		return driver.Memory{}, nil, err
	}
	p := new(unsafe.Pointer)
	err = d.call(cuMemAllocManaged, uintptr(unsafe.Pointer(p)), uintptr(size), attachGlobal)
	return driver.Memory{Addr: uint64(uintptr(*p))}, *p, err
}

// moves reports whether managed memory can migrate while the host uses it. If not, the
// driver migrates all of it when it is used, and ignores hints.
func (d *device) moves(s symbol) bool {
	v, err := d.api.attribute(d.handle, concurrentManagedAccess)
	return err == nil && v != 0 && d.api.has(s)
}

func (d *device) Advise(m driver.Memory, size int64, a driver.Advice) error {
	if !d.moves(cuMemAdvise) {
		return nil
	}
	advise := func(what, where uintptr) error {
		return d.handles(cuMemAdvise, uintptr(m.Addr), uintptr(size), what, where)
	}
	own := uintptr(d.handle)
	switch a {
	case driver.AdviceReadMostly:
		return advise(setReadMost, own)
	case driver.AdvicePreferDevice:
		return advise(setPreferred, own)
	case driver.AdvicePreferHost:
		return advise(setPreferred, deviceHost)
	case driver.AdviceAccessedByHost:
		return advise(setAccessed, deviceHost)
	default:
		return errors.Join(
			advise(setReadMost+adviseUnset, own),
			advise(setPreferred+adviseUnset, own),
			advise(setAccessed+adviseUnset, deviceHost),
		)
	}
}

func (d *device) Prefetch(on driver.Stream, m driver.Memory, size int64, toHost bool) error {
	s := on.(*stream)
	if !d.moves(cuMemPrefetchAsync) {
		return nil
	}
	to := uintptr(d.handle)
	if toHost {
		to = deviceHost
	}
	return d.handles(cuMemPrefetchAsync, uintptr(m.Addr), uintptr(size), to, s.handle)
}
