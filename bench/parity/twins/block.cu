KERNEL(128) spmv(IN(int, starts), IN(int, columns), IN(float, values), IN(float, x), OUT(float, y)) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= LEN(y)) return;
    float sum = 0;
    for (int e = starts[i]; e < starts[i + 1]; e++) sum += values[e] * x[columns[e]];
    y[i] = sum;
}

KERNEL(512) bitonic_sort(OUT(uint32_t, keys)) {
    __shared__ uint32_t tile[1024];
    int tx = threadIdx.x, first = blockIdx.x * 1024;
    tile[tx] = keys[first + tx];
    tile[tx + 512] = keys[first + tx + 512];
    for (int size = 2; size <= 1024; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            int i = 2 * tx - (tx & (stride - 1));
            uint32_t a = tile[i], b = tile[i + stride];
            if ((a > b) == ((i & size) == 0)) tile[i] = b, tile[i + stride] = a;
        }
    __syncthreads();
    keys[first + tx] = tile[tx];
    keys[first + tx + 512] = tile[tx + 512];
}

__device__ uint32_t warpScan(uint32_t v, int lane) {
    #pragma unroll
    for (int delta = 1; delta < 32; delta *= 2) {
        uint32_t left = __shfl_up_sync(0xffffffff, v, delta);
        if (lane >= delta) v += left;
    }
    return v;
}

KERNEL(256) block_scan(IN(uint32_t, in), OUT(uint32_t, out), OUT(uint32_t, totals)) {
    __shared__ uint32_t warps[8];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int first = blockIdx.x * 1024 + threadIdx.x * 4;
    uint32_t mine[4], sum = 0;
    #pragma unroll
    for (int k = 0; k < 4; k++) {
        if (first + k < LEN(in)) sum += in[first + k];
        mine[k] = sum;
    }
    uint32_t upTo = warpScan(sum, lane);
    if (lane == 31) warps[warp] = upTo;
    __syncthreads();
    if (warp == 0) {
        uint32_t w = warpScan(lane < 8 ? warps[lane] : 0, lane);
        if (lane < 8) warps[lane] = w;
    }
    __syncthreads();
    uint32_t before = upTo - sum;
    if (warp > 0) before += warps[warp - 1];
    #pragma unroll
    for (int k = 0; k < 4; k++)
        if (first + k < LEN(in)) out[first + k] = before + mine[k];
    if (threadIdx.x == 255) totals[blockIdx.x] = before + sum;
}

KERNEL(128) align(int length, IN(uint8_t, queries), IN(uint8_t, targets), OUT(int, scores)) {
    __shared__ int row[2][129], best;
    __shared__ uint8_t target[512];
    int k = threadIdx.x, pair = blockIdx.x;
    for (int i = k; i < length; i += 128) target[i] = targets[pair * length + i];
    uint8_t letter = queries[pair * 128 + k];
    row[0][k + 1] = row[1][k + 1] = 0;
    if (k == 0) row[0][0] = row[1][0] = best = 0;
    int left = 0, diagonal = 0, most = 0;
    for (int step = 0; step < length + 127; step++) {
        __syncthreads();
        int up = row[(step + 1) & 1][k], column = step - k;
        if (column >= 0 && column < length) {
            int match = target[column] == letter ? 3 : -3;
            int score = max(max(0, diagonal + match), max(up - 2, left - 2));
            row[step & 1][k + 1] = score;
            most = max(most, score);
            left = score;
            diagonal = up;
        }
    }
    atomicMax(&best, most);
    __syncthreads();
    if (k == 0) scores[pair] = best;
}

__device__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ float2 operator-(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
__device__ float2 operator*(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
__device__ float2 turn(float2 a) { return make_float2(a.y, -a.x); }

__device__ void butterfly(float2 *v) {
    const float half = 0.70710678f;
    float2 a0 = v[0] + v[4], a4 = v[0] - v[4];
    float2 a1 = v[1] + v[5], a5 = v[1] - v[5];
    float2 a2 = v[2] + v[6], a6 = turn(v[2] - v[6]);
    float2 a3 = v[3] + v[7], a7 = v[3] - v[7];
    a5 = make_float2(half * (a5.x + a5.y), half * (a5.y - a5.x));
    a7 = make_float2(half * (a7.y - a7.x), -half * (a7.y + a7.x));
    float2 b0 = a0 + a2, b2 = a0 - a2;
    float2 b1 = a1 + a3, b3 = turn(a1 - a3);
    float2 b4 = a4 + a6, b6 = a4 - a6;
    float2 b5 = a5 + a7, b7 = turn(a5 - a7);
    v[0] = b0 + b1, v[4] = b0 - b1;
    v[2] = b2 + b3, v[6] = b2 - b3;
    v[1] = b4 + b5, v[5] = b4 - b5;
    v[3] = b6 + b7, v[7] = b6 - b7;
}

__device__ int padded(int i) { return i + i / 32; }

KERNEL(64) fft(IN(float2, twiddles), IN(float2, in), OUT(float2, out)) {
    __shared__ float re[512 + 16], im[512 + 16];
    int j = threadIdx.x, first = blockIdx.x * 512;
    float2 v[8];
    #pragma unroll
    for (int r = 0; r < 8; r++) v[r] = in[first + j + r * 64];
    butterfly(v);
    #pragma unroll
    for (int done = 8; done < 512; done *= 8) {
        int last = done / 8, to = j / last * done + j % last;
        #pragma unroll
        for (int r = 0; r < 8; r++) {
            int place = padded(to + r * last);
            re[place] = v[r].x, im[place] = v[r].y;
        }
        __syncthreads();
        #pragma unroll
        for (int r = 0; r < 8; r++) {
            int place = padded(j + r * 64);
            v[r] = make_float2(re[place], im[place]);
        }
        __syncthreads();
        #pragma unroll
        for (int r = 1; r < 8; r++) v[r] = v[r] * twiddles[r * (j % done) * (64 / done)];
        butterfly(v);
    }
    #pragma unroll
    for (int r = 0; r < 8; r++) out[first + j + r * 64] = v[r];
}
