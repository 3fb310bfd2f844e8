KERNEL(128) binomial(int steps, float rate, float volatility, IN(float, spots), IN(float, strikes), IN(float, years),
                     OUT(float, puts)) {
    __shared__ float firsts[2][129];
    int option = blockIdx.x, tx = threadIdx.x;
    float spot = spots[option], strike = strikes[option], step = years[option] / steps;
    float deviation = volatility * sqrtf(step);
    float up = expf(deviation), down = 1 / up, discount = expf(-rate * step);
    float rise = (1 / discount - down) / (up - down) * discount, fall = discount - rise;
    float price[4], value[5];
    #pragma unroll
    for (int k = 0; k < 4; k++) {
        price[k] = spot * expf(deviation * (2 * (tx * 4 + k) - steps));
        value[k] = fmaxf(strike - price[k], 0);
    }
    if (tx == 0) firsts[0][128] = firsts[1][128] = 0;
    for (int left = steps; left > 0; left--) {
        float *buffer = firsts[left & 1];
        buffer[tx] = value[0];
        __syncthreads();
        value[4] = buffer[tx + 1];
        #pragma unroll
        for (int k = 0; k < 4; k++) {
            price[k] *= up;
            value[k] = fmaxf(rise * value[k + 1] + fall * value[k], strike - price[k]);
        }
    }
    if (tx == 0) puts[option] = value[0];
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

// Two normally distributed numbers (Box and Muller, 1958).
__device__ float2 normal_pair(uint32_t a, uint32_t b) {
    float radius = sqrtf(-2 * logf(1 - (a >> 8) * 0x1p-24f)), s, c;
    sincosf(6.2831853f * ((b >> 8) * 0x1p-24f), &s, &c);
    return make_float2(radius * c, radius * s);
}

KERNEL(256) asian(uint64_t seed, int rounds, float spot, float strike, float drift, float deviation, OUT(float, payoffs)) {
    int path = blockIdx.x * blockDim.x + threadIdx.x;
    if (path >= LEN(payoffs)) return;
    uint2 key = make_uint2((uint32_t)seed, (uint32_t)(seed >> 32));
    float price = spot, sum = 0;
    for (int round = 0; round < rounds; round++) {
        uint4 r = philox(make_uint4(round, 0, path, 0), key);
        float2 a = normal_pair(r.x, r.y), b = normal_pair(r.z, r.w);
        price *= expf(drift + deviation * a.x);
        sum += price;
        price *= expf(drift + deviation * a.y);
        sum += price;
        price *= expf(drift + deviation * b.x);
        sum += price;
        price *= expf(drift + deviation * b.y);
        sum += price;
    }
    payoffs[path] = fmaxf(sum / (4 * rounds) - strike, 0);
}
