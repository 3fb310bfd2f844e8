// Package diskcache keeps small files that can be made again, under the user's
// cache directory:
//
//	c := diskcache.User("tune", 512)
//	if data, ok := c.Get(key); ok { ... }
//	err := c.Put(key, data)
//
// A key is a hash of all that the data depends on. An entry is written to a
// temporary file and renamed, so that readers and other processes see all of it
// or nothing; it begins with a checksum, and one that is damaged counts as
// missing. The number of entries is bounded: those that were not used for the
// longest time go first. There are no locks: of two writers of one key the last
// wins. A Cache is safe for concurrent use.
package diskcache
