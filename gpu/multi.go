package gpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
)

// OpenAll opens all devices of the kind that [Open] would choose: all usable GPUs, or the CPU.
// If the configuration names a device by number, OpenAll opens only that one. If the error is
// nil, there is at least one device. The caller closes each.
func OpenAll(config Config) ([]*Device, error) {
	first, err := Open(config)
	if err != nil {
		return nil, err
	}
	devs := []*Device{first}
	c, err := config.normalize()
	if err != nil {
		return nil, errors.Join(err, first.Close())
	}
	for _, b := range backends {
		if b.name != first.backend {
			continue
		}
		for _, candidate := range b.list(c) {
			if candidate.ID == first.id || !c.selects(candidate) {
				continue
			}
			drv, err := open(candidate)
			if err != nil {
				continue // Open also skips devices that cannot be used
			}
			d, err := newDevice(b.name, candidate.ID, drv, nil, c)
			if err != nil {
				return nil, errors.Join(err, CloseAll(devs))
			}
			devs = append(devs, d)
		}
	}
	return devs, nil
}

// CloseAll closes devices, and returns all of their errors.
func CloseAll(devs []*Device) error {
	var errs []error
	for _, d := range devs {
		errs = append(errs, d.Close())
	}
	return errors.Join(errs...)
}

// OnEach calls f concurrently, on one goroutine per device, and waits for all calls. The first
// error cancels the context of the others. A panic of f is a [*PanicError].
//
// The result joins the errors, each with the number and ID of its device. If one call
// canceled the others, OnEach drops their errors if they are just [context.Canceled], or
// that of a wait of this package.
func OnEach(ctx context.Context, devs []*Device, f func(ctx context.Context, i int, d *Device) error) error {
	if f == nil {
		return driverError("on each", invalid("function is nil"))
	}
	return onEach("", ctx, len(devs), func(i int) *Device { return devs[i] }, func(ctx context.Context, i int) error {
		return f(ctx, i, devs[i])
	})
}

// onEach is OnEach for the operation doing of this package, or for the program if
// doing is empty.
func onEach(doing string, parent context.Context, n int, device func(i int) *Device, f func(ctx context.Context, i int) error) error {
	parent = orBackground(parent)
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if errs[i] = onGoroutine(func() error { return f(ctx, i) }); errs[i] != nil {
				cancel()
			}
		})
	}
	all.Wait()
	var failed, told []error
	for i, err := range errs {
		if err == nil {
			continue
		}
		named := deviceError(doing, i, device(i), err)
		failed = append(failed, named)
		if !onlyCanceled(err) {
			told = append(told, named)
		}
	}
	if len(told) == 0 || parent.Err() != nil {
		told = failed
	}
	return errors.Join(told...)
}

// onlyCanceled reports whether an error is context.Canceled itself, without anything
// that the program has added to it.
func onlyCanceled(err error) bool {
	for {
		e, ok := err.(*operationError)
		if !ok {
			return err == context.Canceled
		}
		err = e.err
	}
}

// deviceError adds the device to an error. Errors of a function of the program get no
// operation.
func deviceError(doing string, i int, d *Device, err error) error {
	if doing == "" {
		return fmt.Errorf("device %d (%s): %w", i, d.ID(), err)
	}
	return &operationError{fmt.Sprintf("%s: device %d (%s)", doing, i, d.ID()), err}
}

// Distributed is a matrix whose rows are spread over devices. It is safe for
// concurrent use, and so are its buffers.
type Distributed[T any] struct {
	rows, rowLen int
	parts        []Part[T]
}

// Part contains the rows of a [Distributed] that are on one device.
type Part[T any] struct {
	Device *Device
	First  int        // index of the first row
	Rows   int        // number of rows, possibly 0
	Data   *Buffer[T] // elements of the rows
}

// AllocDistributed allocates a matrix with the given number of rows. Its contents are
// undefined. The caller closes it. Each device gets rows/len(devs) rows, rounded down, and
// the last device also gets the remainder: 14 rows on 3 devices are 4, 4 and 6. With fewer
// rows than devices, the last device gets all rows; with only a few more, it gets most of
// them.
func AllocDistributed[T any](devs []*Device, rows, rowLen int) (*Distributed[T], error) {
	return allocDistributed[T]("alloc distributed", devs, rows, rowLen)
}

func allocDistributed[T any](doing string, devs []*Device, rows, rowLen int) (*Distributed[T], error) {
	switch {
	case len(devs) == 0:
		return nil, driverError(doing, invalid("no devices"))
	case rows < 0 || rowLen < 0:
		return nil, driverError(doing, invalid("%d rows of %d elements", rows, rowLen))
	case rowLen > 0 && rows > math.MaxInt/rowLen:
		return nil, driverError(doing, invalid("too large: %d rows of %d elements", rows, rowLen))
	}
	x := &Distributed[T]{rows: rows, rowLen: rowLen}
	each := rows / len(devs)
	for i, d := range devs {
		n := each
		if i == len(devs)-1 {
			n = rows - i*each
		}
		b, err := Alloc[T](d, n*rowLen)
		if err != nil {
			return nil, errors.Join(deviceError(doing, i, d, err), x.Close())
		}
		x.parts = append(x.parts, Part[T]{Device: d, First: i * each, Rows: n, Data: b})
	}
	return x, nil
}

// Distribute allocates a matrix and copies host, which has rows*rowLen elements, to it on the
// default streams of the devices. When it returns, host may be changed. The caller closes the
// matrix.
func Distribute[T any](devs []*Device, rows, rowLen int, host []T) (*Distributed[T], error) {
	const doing = "distribute"
	x, err := allocDistributed[T](doing, devs, rows, rowLen)
	if err != nil {
		return nil, err
	}
	if err := x.checkHost(host); err != nil {
		return nil, errors.Join(driverError(doing, err), x.Close())
	}
	err = x.onEach(doing, context.Background(), func(_ context.Context, p Part[T]) error {
		return CopyIn(p.Device.DefaultStream(), p.Data, x.of(p, host))
	})
	if err != nil {
		return nil, errors.Join(err, x.Close())
	}
	return x, nil
}

// Gather copies the rows to host, whose length must be rows*rowLen. It waits for the
// work on the devices' default streams, and returns the faults of their kernels.
// After an error the contents of host are undefined.
func (x *Distributed[T]) Gather(ctx context.Context, host []T) error {
	const doing = "gather"
	if err := x.checkHost(host); err != nil {
		return driverError(doing, err)
	}
	return x.onEach(doing, ctx, func(ctx context.Context, p Part[T]) error {
		return Download(ctx, p.Device.DefaultStream(), x.of(p, host), p.Data)
	})
}

// OnEach calls f concurrently for the part of each device, including parts without rows, like
// the function [OnEach].
func (x *Distributed[T]) OnEach(ctx context.Context, f func(ctx context.Context, p Part[T]) error) error {
	const doing = "on each"
	if err := x.check(); err != nil {
		return driverError(doing, err)
	}
	if f == nil {
		return driverError(doing, invalid("function is nil"))
	}
	return x.onEach("", ctx, f)
}

// onEach is OnEach for a matrix that was checked, for the operation doing of this
// package, or for the program if doing is empty.
func (x *Distributed[T]) onEach(doing string, ctx context.Context, f func(ctx context.Context, p Part[T]) error) error {
	device := func(i int) *Device { return x.parts[i].Device }
	return onEach(doing, ctx, len(x.parts), device, func(ctx context.Context, i int) error { return f(ctx, x.parts[i]) })
}

// Parts returns the parts in the order of their rows.
func (x *Distributed[T]) Parts() []Part[T] {
	if x == nil {
		return nil
	}
	return append([]Part[T](nil), x.parts...)
}

// Rows returns the number of rows, on all devices.
func (x *Distributed[T]) Rows() int {
	if x == nil {
		return 0
	}
	return x.rows
}

// RowLen returns the number of elements in a row.
func (x *Distributed[T]) RowLen() int {
	if x == nil {
		return 0
	}
	return x.rowLen
}

// Close frees the memory on all devices once the work that uses it is done.
// Closing again does nothing.
func (x *Distributed[T]) Close() error {
	if x == nil {
		return nil
	}
	var errs []error
	for _, p := range x.parts {
		errs = append(errs, p.Data.Close())
	}
	return partOf("close distributed matrix", errors.Join(errs...))
}

// of returns the elements of host that belong to a part.
func (x *Distributed[T]) of(p Part[T], host []T) []T {
	return host[p.First*x.rowLen:][:p.Rows*x.rowLen]
}

// check returns an error if the matrix cannot be used.
func (x *Distributed[T]) check() error {
	switch {
	case x == nil:
		return invalid("distributed matrix is nil")
	case x.parts == nil:
		return invalid("distributed matrix was not made by Distribute or AllocDistributed")
	default:
		return nil
	}
}

func (x *Distributed[T]) checkHost(host []T) error {
	if err := x.check(); err != nil {
		return err
	}
	if len(host) != x.rows*x.rowLen {
		return invalid("slice of %s for %d rows of %d", count(len(host), "element"), x.rows, x.rowLen)
	}
	return nil
}
