KERNEL(256) saxpy(float a, IN(float, x), OUT(float, y)) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < LEN(y)) y[i] += a * x[i];
}

KERNEL(256) transpose(int w, int h, IN(float, in), OUT(float, out)) {
    __shared__ float tile[32][33];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * 32 + tx, y = blockIdx.y * 32 + ty;
    #pragma unroll
    for (int k = 0; k < 32; k += 8)
        if (x < w && y + k < h) tile[ty + k][tx] = in[(y + k) * w + x];
    __syncthreads();
    x = blockIdx.y * 32 + tx, y = blockIdx.x * 32 + ty;
    #pragma unroll
    for (int k = 0; k < 32; k += 8)
        if (x < h && y + k < w) out[(y + k) * h + x] = tile[tx][ty + k];
}

__device__ float warpSum(float v) {
    #pragma unroll
    for (int mask = 16; mask > 0; mask /= 2) v += __shfl_xor_sync(0xffffffff, v, mask);
    return v;
}

KERNEL(256) reduce(IN(float, x), OUT(float, sum)) {
    __shared__ float partial[8];
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < LEN(x); i += gridDim.x * blockDim.x) s += x[i];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    s = warpSum(s);
    if (lane == 0) partial[warp] = s;
    __syncthreads();
    if (warp == 0) {
        float p = warpSum(lane < 8 ? partial[lane] : 0);
        if (lane == 0) atomicAdd(sum, p);
    }
}

KERNEL(256) histogram(IN(uint8_t, data), OUT(uint32_t, bins)) {
    __shared__ uint32_t local[256];
    int tx = threadIdx.x;
    local[tx] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + tx; i < LEN(data); i += gridDim.x * blockDim.x) atomicAdd(&local[data[i]], 1);
    __syncthreads();
    atomicAdd(&bins[tx], local[tx]);
}
