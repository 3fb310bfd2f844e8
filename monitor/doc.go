// Package monitor measures the GPUs of a machine: utilization, memory, power, temperatures,
// clocks, PCIe and NVLink traffic, errors, and the processes that use them. The commands
// quern top and quern export are made of it.
//
//	for s := range monitor.Sample(ctx, time.Second) {
//		for i, g := range s.GPUs {
//			power := s.History.GPU(i, monitor.Power)
//			fmt.Println(g.Name, g.UtilizationPercent, power.Average, power.Max)
//		}
//	}
//
// [Sample] repeats measurements and keeps averages, maxima and timelines. [Open] and
// [Monitor.Read] make single ones. [Handler] serves them to Prometheus, together with what a
// program knows of itself.
//
// # Values
//
// Values come from NVML, which is part of NVIDIA's driver and is opened at run time
// (libnvidia-ml.so.1; the environment variable QUERN_NVML may name its file). A value that the
// driver or the GPU does not report is absent, not zero: see [Optional]. Rates, such as those of
// PCIe and NVLink, need two readings, so they are absent in the first.
//
// UtilizationPercent is the percentage of time in which some kernel was resident. It does not
// say how much of the GPU the kernel used.
//
// # Machines without a GPU
//
// Every snapshot has the load of each core and the memory of the machine, which are what
// kernels use on the device cpu. If no GPU can be read, Snapshot.GPUs is empty and Snapshot.Err
// is an [*UnavailableError] that says why and what to do. NVML and /proc are read on Linux;
// elsewhere, only the number of cores is known.
//
// # Containers
//
// NVML reports process numbers of the host. In a container they belong to other processes, or
// to none, so names are not looked up: Snapshot.ForeignPIDs is true.
package monitor
