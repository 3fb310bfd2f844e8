// Package filemap maps files into memory.
//
// Map maps size > 0 bytes of a file. The process may write the mapping; the file stays as
// it is. Unmap ends the mapping. Both return errors.ErrUnsupported on systems that have
// no mapped files.
package filemap
