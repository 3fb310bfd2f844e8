// Command quern compiles, checks and diagnoses Quern's GPU kernels.
//
//	quern gen [packages]      compile kernels and write their launchers
//	quern vet [packages]      check kernels without writing anything
//	quern devices [--json]    list the devices that can run kernels
//	quern doctor              find out why a GPU is not used, and how to fix it
//	quern bench algo          measure sorting, products and other algorithms
//	quern bench device        measure bandwidths and latencies of a device
//	quern bench kernel PACKAGE KERNEL
//	                          measure a kernel
//	quern bench compare OLD NEW
//	                          compare two files of results
//	quern advise PACKAGE KERNEL
//	                          predict whether GPU or CPU is faster
//	quern analyze PACKAGE KERNEL
//	                          find out what limits a kernel, and try what would help
//	quern validate PACKAGE KERNEL
//	                          compare its results on two devices
//	quern ring bench          measure latency and throughput of actors
//	quern profile -- PROGRAM  run a program and report where the time of its GPU goes
//	quern annotate -- PROGRAM run a program on the simulator and show what each line of its kernels does
//	quern top                 show the state of the GPUs, once per second
//	quern export              serve metrics of the GPUs to Prometheus
//	quern version             print the version
//	quern completion SHELL    print a completion script
//
// Packages are named as for the go command; the default is the package in the
// current directory. The exit code is 0 on success, 1 if something failed or
// problems were found, and 2 if the command line is wrong.
package main
