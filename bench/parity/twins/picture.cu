struct BilateralWeights { float v[7][7]; };

KERNEL(256) bilateral(BilateralWeights weights, float sharpness, int w, int h, IN(float, in), OUT(float, out)) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float centre = in[y * w + x], sum = 0, total = 0;
    #pragma unroll
    for (int j = 0; j < 7; j++) {
        int row = min(max(y + j - 3, 0), h - 1) * w;
        #pragma unroll
        for (int i = 0; i < 7; i++) {
            float v = in[row + min(max(x + i - 3, 0), w - 1)], d = v - centre;
            float weight = weights.v[j][i] * expf(-sharpness * d * d);
            sum += weight * v;
            total += weight;
        }
    }
    out[y * w + x] = sum / total;
}

__device__ void order(uint8_t &a, uint8_t &b) {
    uint8_t low = min(a, b);
    b = max(a, b);
    a = low;
}

KERNEL(256) median(int w, int h, IN(uint8_t, in), OUT(uint8_t, out)) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int left = max(x - 1, 0), right = min(x + 1, w - 1);
    int above = max(y - 1, 0) * w, here = y * w, below = min(y + 1, h - 1) * w;
    uint8_t a = in[above + left], b = in[above + x], c = in[above + right];
    uint8_t d = in[here + left], e = in[here + x], f = in[here + right];
    uint8_t g = in[below + left], k = in[below + x], i = in[below + right];
    order(b, c), order(e, f), order(k, i);
    order(a, b), order(d, e), order(g, k);
    order(b, c), order(e, f), order(k, i);
    order(a, d), order(f, i), order(e, k);
    order(d, g), order(b, e), order(c, f);
    order(e, k), order(e, c), order(g, e), order(e, c);
    out[here + x] = e;
}

KERNEL(256) yuv(IN(uchar3, in), OUT(uint8_t, y), OUT(uint8_t, u), OUT(uint8_t, v)) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= LEN(in)) return;
    int r = in[i].x, g = in[i].y, b = in[i].z;
    y[i] = ((66 * r + 129 * g + 25 * b + 128) >> 8) + 16;
    u[i] = ((-38 * r - 74 * g + 112 * b + 128) >> 8) + 128;
    v[i] = ((112 * r - 94 * g - 18 * b + 128) >> 8) + 128;
}

__device__ uint32_t warp_scan(uint32_t v, int lane) {
    #pragma unroll
    for (int delta = 1; delta < 32; delta *= 2) {
        uint32_t left = __shfl_up_sync(0xffffffff, v, delta);
        if (lane >= delta) v += left;
    }
    return v;
}

KERNEL(256) integral(int w, IN(uint8_t, in), OUT(uint32_t, out)) {
    __shared__ uint32_t warps[8];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = blockIdx.x * w;
    uint32_t carry = 0;
    for (int left = 0; left < w; left += 256) {
        int x = left + threadIdx.x;
        uint32_t v = warp_scan(x < w ? in[row + x] : 0, lane);
        if (lane == 31) warps[warp] = v;
        __syncthreads();
        uint32_t total = 0;
        #pragma unroll
        for (int i = 0; i < 8; i++) {
            if (i < warp) v += warps[i];
            total += warps[i];
        }
        if (x < w) out[row + x] = carry + v;
        carry += total;
        __syncthreads();
    }
}
