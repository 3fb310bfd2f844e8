// A library that consumes and produces DLPack tensors, for the tests.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct { int32_t type, id; } DLDevice;
typedef struct { uint8_t code, bits; uint16_t lanes; } DLDataType;
typedef struct {
	void *data;
	DLDevice device;
	int32_t ndim;
	DLDataType dtype;
	int64_t *shape, *strides;
	uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
	DLTensor dl_tensor;
	void *manager_ctx;
	void (*deleter)(struct DLManagedTensor *);
} DLManagedTensor;
typedef struct DLManagedTensorVersioned {
	struct { uint32_t major, minor; } version;
	void *manager_ctx;
	void (*deleter)(struct DLManagedTensorVersioned *);
	uint64_t flags;
	DLTensor dl_tensor;
} DLManagedTensorVersioned;

// sum adds row*100+column times each element of a matrix of float.
static int64_t sum(const DLTensor *t) {
	if (t->ndim != 2 || t->dtype.code != 2 || t->dtype.bits != 32 || t->dtype.lanes != 1 || t->device.type != 1)
		return -1;
	double s = 0;
	const float *x = (const float *)((const char *)t->data + t->byte_offset);
	for (int64_t i = 0; i < t->shape[0]; i++)
		for (int64_t j = 0; j < t->shape[1]; j++)
			s += (double)(i * 100 + j) * x[i * t->strides[0] + j * t->strides[1]];
	return (int64_t)s;
}

static void *end(void *p) {
	DLManagedTensorVersioned *t = p;
	t->deleter(t);
	return NULL;
}

// consume_versioned ends the tensor on a thread of its own.
int64_t consume_versioned(DLManagedTensorVersioned *t) {
	int64_t s = t->version.major == 1 ? sum(&t->dl_tensor) : -2;
	pthread_t thread;
	if (pthread_create(&thread, NULL, end, t) != 0)
		return -3;
	pthread_join(thread, NULL);
	return s;
}

int64_t consume(DLManagedTensor *t) {
	int64_t s = sum(&t->dl_tensor);
	t->deleter(t);
	return s;
}

static int64_t ended;

int64_t tensors_ended(void) { return ended; }

static void free_versioned(DLManagedTensorVersioned *t) {
	ended++;
	free(t->manager_ctx);
	free(t);
}

// produce makes a matrix of 3 rows of 4 elements, 0 to 11, which begins behind its
// data pointer.
DLManagedTensorVersioned *produce(void) {
	struct { int64_t shape[2]; float data[16]; } *c = malloc(sizeof *c);
	DLManagedTensorVersioned *t = calloc(1, sizeof *t);
	c->shape[0] = 3, c->shape[1] = 4;
	for (int i = 0; i < 12; i++)
		c->data[4 + i] = i;
	t->version.major = 1;
	t->manager_ctx = c;
	t->deleter = free_versioned;
	t->dl_tensor = (DLTensor){
		.data = c->data, .device = {1, 0}, .ndim = 2, .dtype = {2, 32, 1},
		.shape = c->shape, .byte_offset = 4 * sizeof(float),
	};
	return t;
}
