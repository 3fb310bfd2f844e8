// Package gputest tests kernels. It runs them on every available device and
// compares the results with plain Go, within tolerances.
//
//	func TestSaxpy(t *testing.T) {
//		x, y := gputest.Slice("x", xs), gputest.Slice("y", ys, gputest.ULP(1))
//		gputest.Compare(t,
//			func(s *gpu.Stream) error {
//				return LaunchSaxpy(s, gpu.Blocks(grid, block), 2, x.Device(), y.Device())
//			},
//			func() {
//				kernel.Each(grid, block, func(t kernel.Thread) { saxpy(t, 2, x.Host(), y.Host()) })
//			},
//			x, y)
//	}
//
// [Compare] runs a launcher on each device, and plain Go, over copies of the same
// arguments. It then compares all arguments. [Each] runs a test on each device.
// [Equal] compares two slices.
//
// # Devices
//
// Tests run on the CPU, the simulator and every GPU of the machine. Each device
// has a subtest with its name, such as TestSaxpy/sim. If the machine lacks a kind
// of device, its subtest is skipped with the reason. When a device is closed, it
// reports the resources that the test has not closed, and the test fails.
//
// The environment variable QUERN_TEST_DEVICES restricts the devices. It is a list
// such as "cpu,sim" or "cuda:1". If a listed device cannot be used, the test
// fails instead of being skipped, so a machine set up for GPU tests cannot
// silently skip them.
//
// # Tolerances
//
// By default, numbers are equal if Go's == says so. [ULP], [Abs] and [Rel] allow
// a difference; if several are given, a difference that any of them allows is
// accepted. A NaN equals nothing unless [NaNEqual] is given, and an infinity
// equals only itself.
//
// The package depends only on packages gpu and kernel and the standard library.
package gputest
