// Package cupti records the activity of NVIDIA GPUs through the activity API of CUPTI, the
// CUDA profiling tools interface, which is opened at run time. It is part of the CUDA
// toolkit, not of the driver.
//
// A [Session] enables the activities, passes buffers to CUPTI and reads the records in them.
// One session at a time can be active in a process. CUPTI's worker threads call into Go to
// take and to return buffers; these calls do nothing but send to and receive from a channel
// without waiting.
//
// The caller marks its calls of the driver with [Session.Push] and [Session.Pop], on one OS
// thread. CUPTI writes a record that relates the mark to the correlation number of the
// driver's call, which is also in the records of the kernels and copies that the call caused.
//
// Offsets of the records' fields are those of cupti_activity.h, version 13.0. Up to this
// version fields were only added at the end of the records that are read here.
package cupti
