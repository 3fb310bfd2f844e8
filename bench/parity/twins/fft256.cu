__device__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ float2 operator-(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
__device__ float2 operator*(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

__device__ void fft4(float2 *v) {
    float2 a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3], d = v[1] - v[3];
    d = make_float2(d.y, -d.x);
    v[0] = a + c, v[1] = b + d, v[2] = a - c, v[3] = b - d;
}

KERNEL(256) fft256(IN(float2, twiddles), IN(float2, in), OUT(float2, out)) {
    __shared__ float2 rows[4][256];
    int j = threadIdx.x, base = (blockIdx.x * 4 + threadIdx.y) * 256;
    float2 *row = rows[threadIdx.y], v[4];
    #pragma unroll
    for (int r = 0; r < 4; r++) v[r] = in[base + j + 64 * r];
    #pragma unroll
    for (int pass = 0; pass < 4; pass++) {
        int ns = 1 << (2 * pass), k = j % ns;
        if (pass > 0) {
            #pragma unroll
            for (int r = 1; r < 4; r++) v[r] = v[r] * twiddles[r * k * (64 / ns)];
        }
        fft4(v);
        int to = (j - k) * 4 + k;
        if (pass == 3) {
            #pragma unroll
            for (int r = 0; r < 4; r++) out[base + to + ns * r] = v[r];
            break;
        }
        __syncthreads();
        #pragma unroll
        for (int r = 0; r < 4; r++) row[to + ns * r] = v[r];
        __syncthreads();
        #pragma unroll
        for (int r = 0; r < 4; r++) v[r] = row[j + 64 * r];
    }
}
