// Package probe is the program that quern bench kernel, quern advise, quern analyze and quern
// validate build around the kernels of a package. Programs do not need it: they use package
// profile.
//
// The command compiles the package with one more file, whose Main calls [Main] with the
// package's kernels. Nothing is written to the package.
package probe
