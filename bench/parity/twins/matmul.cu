KERNEL(256) tile_matmul(int m, int n, int k, IN(float, a), IN(float, b), OUT(float, c)) {
    __shared__ float tileA[16][16], tileB[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
    float sum = 0;
    for (int k0 = 0; k0 < k; k0 += 16) {
        tileA[ty][tx] = row < m && k0 + tx < k ? a[row * k + k0 + tx] : 0;
        tileB[ty][tx] = k0 + ty < k && column < n ? b[(k0 + ty) * n + column] : 0;
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < 16; i++) sum += tileA[ty][i] * tileB[i][tx];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

KERNEL(256) register_matmul(int m, int n, int k, IN(float, a), IN(float, b), OUT(float, c)) {
    __shared__ __align__(16) float tileA[16][128 + 4]; // transposed; the padding prevents bank conflicts
    __shared__ __align__(16) float tileB[16][128];
    int tx = threadIdx.x, ty = threadIdx.y, thread = ty * 16 + tx;
    int row0 = blockIdx.y * 128, column0 = blockIdx.x * 128;
    float sums[8][8] = {};
    for (int k0 = 0; k0 < k; k0 += 16) {
        #pragma unroll
        for (int i = 0; i < 8; i++) {
            int e = thread + i * 256;
            tileA[e % 16][e / 16] = a[(row0 + e / 16) * k + k0 + e % 16];
            tileB[e / 128][e % 128] = b[(k0 + e / 128) * n + column0 + e % 128];
        }
        __syncthreads();
        #pragma unroll
        for (int p = 0; p < 16; p++) {
            float va[8], vb[8];
            #pragma unroll
            for (int i = 0; i < 8; i++) {
                va[i] = tileA[p][ty * 8 + i];
                vb[i] = tileB[p][tx * 8 + i];
            }
            #pragma unroll
            for (int i = 0; i < 8; i++)
                #pragma unroll
                for (int j = 0; j < 8; j++) sums[i][j] += va[i] * vb[j];
        }
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < 8; i++)
        #pragma unroll
        for (int j = 0; j < 8; j++) c[(row0 + ty * 8 + i) * n + column0 + tx * 8 + j] = sums[i][j];
}
