// Command algobench measures algorithms of the libraries on a device, beside the bandwidth
// of a copy and, on GPUs, the peak rate of fused multiply-adds. It is what quern bench algo
// runs: a program of its own, so that the quern command does not contain the libraries.
package main
