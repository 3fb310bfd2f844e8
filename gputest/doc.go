// Package gputest tests kernels: on every device that there is, against plain Go, with
// tolerances.
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
// [Compare] runs a launcher on each device and plain Go over copies of the same
// arguments, and compares all of them afterwards. Below it are [Each], which runs a test
// on each device, and [Equal], which compares two slices.
//
// # Devices
//
// Tests run on the CPU, the simulator and every GPU of the machine, each in a subtest of
// its name, as in TestSaxpy/sim. A kind of device that the machine does not have is a
// subtest that is skipped, with the reason. What a test does not close, closing the
// device reports, and the test fails.
//
// The environment variable QUERN_TEST_DEVICES restricts the devices: it is a list such as
// "cpu,sim" or "cuda:1". A device that is named there and cannot be used fails the test
// instead of skipping it, so that a machine that is meant to test a GPU does.
//
// # Tolerances
//
// Without options numbers are equal if Go's == says so. [ULP], [Abs] and [Rel] allow a
// difference; of several, any one that allows it is enough. A NaN equals nothing unless
// [NaNEqual] is given, and an infinity only itself.
//
// The package uses packages gpu and kernel and the standard library.
package gputest
