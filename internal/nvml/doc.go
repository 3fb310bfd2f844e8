// Package nvml calls NVIDIA's management library, NVML, which is opened at run time. It is part
// of the NVIDIA driver.
//
// Drivers differ in the functions that they have, and GPUs in what they can report. Every
// function but those that find the GPUs is optional: if the driver lacks it, the method returns
// an error that matches [ErrNotSupported], just as if the GPU did not report the value. Where a
// function has several versions, the newest that the driver has is called.
//
// Constants and layouts are those of nvml.h, version 12.9.
package nvml
