KERNEL(256) mandelbrot(int w, int h, int limit, OUT(int, steps)) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h) return;
    float cr = px * (3 / (float)w) - 2.25f, ci = py * (3 / (float)h) - 1.5f;
    float zr = 0, zi = 0;
    int n = 0;
    while (n < limit) {
        float rr = zr * zr, ii = zi * zi;
        if (rr + ii > 4) break;
        zi = 2 * zr * zi + ci;
        zr = rr - ii + cr;
        n++;
    }
    steps[py * w + px] = n;
}

struct Acceleration { float x, y, z; };

KERNEL(256) nbody(IN(float4, bodies), OUT(Acceleration, accelerations)) {
    __shared__ float4 tile[256];
    int tx = threadIdx.x, mine = blockIdx.x * 512 + tx;
    float4 me[2];
    #pragma unroll
    for (int k = 0; k < 2; k++) me[k] = mine + k * 256 < LEN(bodies) ? bodies[mine + k * 256] : make_float4(0, 0, 0, 0);
    Acceleration a[2] = {};
    for (int first = 0; first < LEN(bodies); first += 256) {
        int j = first + tx;
        tile[tx] = j < LEN(bodies) ? bodies[j] : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (int j = 0; j < 256; j++) {
            float4 b = tile[j];
            #pragma unroll
            for (int k = 0; k < 2; k++) {
                float dx = b.x - me[k].x, dy = b.y - me[k].y, dz = b.z - me[k].z;
                float inverse = rsqrtf(1e-3f + dx * dx + dy * dy + dz * dz);
                float f = b.w * inverse * inverse * inverse;
                a[k].x += f * dx;
                a[k].y += f * dy;
                a[k].z += f * dz;
            }
        }
        __syncthreads();
    }
    #pragma unroll
    for (int k = 0; k < 2; k++)
        if (mine + k * 256 < LEN(bodies)) accelerations[mine + k * 256] = a[k];
}

__device__ float normal(float d) {
    float k = 1 / (1 + 0.2316419f * fabsf(d));
    float tail = 0.39894228f * expf(-0.5f * d * d) *
        (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1 - tail : tail;
}

KERNEL(256) black_scholes(float rate, float volatility, IN(float, spots), IN(float, strikes), IN(float, years),
                          OUT(float, calls), OUT(float, puts)) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= LEN(spots)) return;
    float spot = spots[i], strike = strikes[i], time = years[i];
    float deviation = volatility * sqrtf(time);
    float d1 = (logf(spot / strike) + (rate + 0.5f * volatility * volatility) * time) / deviation;
    float n1 = normal(d1), n2 = normal(d1 - deviation);
    float discounted = strike * expf(-rate * time);
    calls[i] = spot * n1 - discounted * n2;
    puts[i] = discounted * (1 - n2) - spot * (1 - n1);
}

__device__ bool within(uint32_t a, uint32_t b) {
    float x = (a >> 8) * (1.f / (1 << 24)), y = (b >> 8) * (1.f / (1 << 24));
    return x * x + y * y < 1;
}

// Philox4x32-10 (Salmon and others, 2011).
__device__ uint4 philox(uint4 c, uint2 k) {
    #pragma unroll
    for (int i = 0; i < 10; i++) {
        uint32_t h0 = __umulhi(0xD2511F53, c.x), l0 = 0xD2511F53 * c.x;
        uint32_t h1 = __umulhi(0xCD9E8D57, c.z), l1 = 0xCD9E8D57 * c.z;
        c = make_uint4(h1 ^ c.y ^ k.x, l1, h0 ^ c.w ^ k.y, l0);
        k.x += 0x9E3779B9;
        k.y += 0xBB67AE85;
    }
    return c;
}

KERNEL(256) pi(int rounds, uint32_t seed, OUT(uint32_t, hits)) {
    __shared__ uint32_t total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    uint32_t count = 0, thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int round = 0; round < rounds; round++) {
        uint4 r = philox(make_uint4(thread, round, 0, 0), make_uint2(seed, 0));
        count += within(r.x, r.y);
        count += within(r.z, r.w);
    }
    atomicAdd(&total, count);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(hits, total);
}
