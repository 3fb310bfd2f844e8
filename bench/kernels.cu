// The kernels of bench/kernels in CUDA C, as a CUDA programmer writes them:
// 32-bit indices, restrict pointers, launch bounds, unrolled constant loops.
// The algorithms and block shapes are the same.

#define RADIUS 8
#define ROW_TILE 256
#define COLUMN_TILE_WIDTH 32
#define COLUMN_TILE_HEIGHT 64
#define COLUMN_THREADS 8
#define TILE 16
#define BLOCK_TILE 128
#define DEPTH_TILE 16
#define PER_THREAD 8
#define THREADS 256
#define PAD 4

extern "C" {

__global__ void empty(float a, long long n, const float *x, float *y) {}

__global__ void saxpy(float a, int n, const float *__restrict__ x, float *__restrict__ y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}

struct Weights { float v[RADIUS + 1]; };

__global__ void __launch_bounds__(ROW_TILE)
blur_rows(Weights weights, int w, int h, const float *__restrict__ in, float *__restrict__ out) {
    __shared__ float tile[ROW_TILE + 2 * RADIUS];
    int row = blockIdx.y * w, left = blockIdx.x * ROW_TILE;
    for (int k = threadIdx.x; k < ROW_TILE + 2 * RADIUS; k += ROW_TILE)
        tile[k] = in[row + min(max(left + k - RADIUS, 0), w - 1)];
    __syncthreads();

    int x = left + threadIdx.x;
    if (x < w) {
        int centre = threadIdx.x + RADIUS;
        float sum = weights.v[0] * tile[centre];
        #pragma unroll
        for (int k = 1; k <= RADIUS; k++)
            sum += weights.v[k] * (tile[centre - k] + tile[centre + k]);
        out[row + x] = sum;
    }
}

__global__ void __launch_bounds__(COLUMN_TILE_WIDTH * COLUMN_THREADS)
blur_columns(Weights weights, int w, int h, const float *__restrict__ in, float *__restrict__ out) {
    __shared__ float tile[COLUMN_TILE_HEIGHT + 2 * RADIUS][COLUMN_TILE_WIDTH];
    int top = blockIdx.y * COLUMN_TILE_HEIGHT, column = threadIdx.x;
    int x = blockIdx.x * COLUMN_TILE_WIDTH + column;
    if (x < w)
        for (int k = threadIdx.y; k < COLUMN_TILE_HEIGHT + 2 * RADIUS; k += COLUMN_THREADS)
            tile[k][column] = in[min(max(top + k - RADIUS, 0), h - 1) * w + x];
    __syncthreads();

    if (x < w)
        for (int k = threadIdx.y; k < COLUMN_TILE_HEIGHT && top + k < h; k += COLUMN_THREADS) {
            int centre = k + RADIUS;
            float sum = weights.v[0] * tile[centre][column];
            #pragma unroll
            for (int j = 1; j <= RADIUS; j++)
                sum += weights.v[j] * (tile[centre - j][column] + tile[centre + j][column]);
            out[(top + k) * w + x] = sum;
        }
}

__global__ void __launch_bounds__(TILE * TILE)
tile_matmul(int m, int n, int k, const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c) {
    __shared__ float tileA[TILE][TILE], tileB[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, column = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int k0 = 0; k0 < k; k0 += TILE) {
        tileA[ty][tx] = row < m && k0 + tx < k ? a[row * k + k0 + tx] : 0;
        tileB[ty][tx] = k0 + ty < k && column < n ? b[(k0 + ty) * n + column] : 0;
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < TILE; i++) sum += tileA[ty][i] * tileB[i][tx];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

__global__ void __launch_bounds__(THREADS)
register_matmul(int m, int n, int k, const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c) {
    __shared__ __align__(16) float tileA[DEPTH_TILE][BLOCK_TILE + PAD];
    __shared__ __align__(16) float tileB[DEPTH_TILE][BLOCK_TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int thread = ty * (BLOCK_TILE / PER_THREAD) + tx;
    int row0 = blockIdx.y * BLOCK_TILE, column0 = blockIdx.x * BLOCK_TILE;

    float sums[PER_THREAD][PER_THREAD] = {};
    for (int k0 = 0; k0 < k; k0 += DEPTH_TILE) {
        #pragma unroll
        for (int i = 0; i < BLOCK_TILE * DEPTH_TILE / THREADS; i++) {
            int e = thread + i * THREADS;
            tileA[e % DEPTH_TILE][e / DEPTH_TILE] = a[(row0 + e / DEPTH_TILE) * k + k0 + e % DEPTH_TILE];
            tileB[e / BLOCK_TILE][e % BLOCK_TILE] = b[(k0 + e / BLOCK_TILE) * n + column0 + e % BLOCK_TILE];
        }
        __syncthreads();
        #pragma unroll
        for (int p = 0; p < DEPTH_TILE; p++) {
            float va[PER_THREAD], vb[PER_THREAD];
            #pragma unroll
            for (int i = 0; i < PER_THREAD; i++) {
                va[i] = tileA[p][ty * PER_THREAD + i];
                vb[i] = tileB[p][tx * PER_THREAD + i];
            }
            #pragma unroll
            for (int i = 0; i < PER_THREAD; i++)
                #pragma unroll
                for (int j = 0; j < PER_THREAD; j++) sums[i][j] += va[i] * vb[j];
        }
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < PER_THREAD; i++)
        #pragma unroll
        for (int j = 0; j < PER_THREAD; j++)
            c[(row0 + ty * PER_THREAD + i) * n + column0 + tx * PER_THREAD + j] = sums[i][j];
}

}
