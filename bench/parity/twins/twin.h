typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;

// A kernel for blocks of the given number of threads.
#define KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)

// Parameters for a slice, and the length of a slice.
#define IN(T, x) const T *__restrict__ x, long long x##_length
#define OUT(T, x) T *__restrict__ x, long long x##_length
#define LEN(x) ((int)x##_length)
