// Package filemap maps files into memory.
//
// Map maps size > 0 bytes of a file. The process may write to the mapping; the file does
// not change. Unmap removes the mapping. Both return errors.ErrUnsupported on systems
// without mapped files.
package filemap
