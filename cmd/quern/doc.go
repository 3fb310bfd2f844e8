// Command quern compiles, checks and diagnoses Quern's GPU kernels.
//
//	quern gen [packages]      compile kernels and write their launchers
//	quern vet [packages]      check kernels without writing anything
//	quern devices [--json]    list what kernels can run on
//	quern doctor              say what is missing to use a GPU, and how to get it
//	quern ring bench          measure latency and throughput of actors
//	quern version             print the version
//	quern completion SHELL    print a completion script
//
// Packages are named as for the go command; the default is the package in the
// current directory. Exit codes: 0 all is well, 1 something was found or
// failed, 2 the command line is wrong.
package main
