// Package diskcache stores small files that can be recreated in the user's cache
// directory:
//
//	c := diskcache.User("tune", 512)
//	if data, ok := c.Get(key); ok { ... }
//	err := c.Put(key, data)
//
// A key is a hash of everything that the data depends on. An entry is written to
// a temporary file and then renamed, so readers and other processes see all of it
// or nothing. Each entry starts with a checksum; a damaged entry counts as
// missing. The number of entries is limited: the least recently used ones are
// removed first. There are no locks: if two writers write the same key, the last
// one wins. A Cache is safe for concurrent use.
package diskcache
