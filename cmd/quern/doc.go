// Command quern compiles, checks and diagnoses Quern's GPU kernels.
//
//	quern gen [packages]      compile kernels and write their launchers
//	quern vet [packages]      check kernels without writing anything
//	quern devices [--json]    list the devices that can run kernels
//	quern doctor              find out why a GPU is not used, and how to fix it
//	quern bench algo          measure sorting, products and other algorithms
//	quern ring bench          measure latency and throughput of actors
//	quern version             print the version
//	quern completion SHELL    print a completion script
//
// Packages are named as for the go command; the default is the package in the
// current directory. The exit code is 0 on success, 1 if something failed or
// problems were found, and 2 if the command line is wrong.
package main
