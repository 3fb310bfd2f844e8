// Package sampling finds out in which lines of their kernels the GPUs of a process spend their
// time, and what for: a [Collector] samples what warps do, through CUPTI, and keeps a file of the
// samples by line. The driver tells it which contexts there are and what code was loaded.
package sampling
