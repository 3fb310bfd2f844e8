// Package npy reads and writes arrays in the files of NumPy: one array in a .npy
// file, several by name in a .npz archive.
//
//	a, err := npy.ReadFile[float32]("weights.npy")
//	x, err := gpu.Upload(s, a.Data)
//	...
//	err = npy.WriteFile("result.npy", npy.Array[float32]{Shape: []int{rows, columns}, Data: result})
//
// Elements are bools, integers, floating-point and complex numbers, and
// [kernel.Float16]. What is read is of the type of the file: nothing is converted
// but the order of bytes and of the elements, which in memory is that of rows. A
// file of another type is a [*TypeError]; [ReadHeader] says which type it has.
//
// Files are written as NumPy writes them, in version 1.0 of the format, and read
// in versions 1.0, 2.0 and 3.0. Text, records, dates and Python objects are not
// read. A file that claims more data than it has is an error that matches
// [ErrFormat], and takes no more memory than its data. A nil reader, writer or
// archive is an error that matches [fs.ErrInvalid].
package npy
