package pool

import "testing"

func TestSizeClasses(t *testing.T) {
	for _, test := range []struct {
		size    int64
		class   int
		rounded int64
	}{
		{1, 0, 512}, {512, 0, 512}, {513, 1, 1024}, {4096, 7, 4096}, {4097, 8, 4608}, {8192, 15, 8192}, {8193, 16, 9216},
		{1 << 30, largeClass - 1, 1 << 30}, {1<<30 + 1, largeClass, 1<<30 + 2<<20}, {1<<62 + 1, largeClass, 1<<62 + 2<<20}, {1<<63 - 1, largeClass, 1<<63 - 1},
	} {
		if class, rounded := classOf(test.size); class != test.class || rounded != test.rounded {
			t.Errorf("%d bytes: class %d of %d, want %d of %d", test.size, class, rounded, test.class, test.rounded)
		}
	}
	last, lastSize := 0, int64(512)
	for size := int64(512); size <= 1<<30; size += 1 + size/50 {
		class, rounded := classOf(size)
		if rounded < size || size > 4096 && rounded-size > size/8 || class < last || class == last && rounded != lastSize {
			t.Fatalf("%d bytes: class %d of %d after class %d of %d", size, class, rounded, last, lastSize)
		}
		if again, same := classOf(rounded); again != class || same != rounded {
			t.Fatalf("%d bytes: class %d of %d, but %d is of class %d", size, class, rounded, rounded, again)
		}
		last, lastSize = class, rounded
	}
}
