struct AESKeys { uint32_t v[44]; };
struct AESNonce { uint32_t v[3]; };

__device__ uint32_t aes_column(const uint32_t *te, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    uint32_t y = te[b >> 16 & 0xff], z = te[c >> 8 & 0xff], w = te[d & 0xff];
    return te[a >> 24] ^ __funnelshift_r(y, y, 8) ^ __funnelshift_r(z, z, 16) ^ __funnelshift_r(w, w, 24);
}

__device__ uint32_t aes_last(const uint32_t *te, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    return (te[a >> 24] << 16 & 0xff000000) | (te[b >> 16 & 0xff] << 8 & 0xff0000) |
           (te[c >> 8 & 0xff] & 0xff00) | (te[d & 0xff] >> 8 & 0xff);
}

__device__ uint32_t reverse_bytes(uint32_t x) { return __byte_perm(x, 0, 0x0123); }

KERNEL(256) aes(AESKeys keys, AESNonce nonce, IN(uint32_t, table), IN(uint4, in), OUT(uint4, out)) {
    __shared__ uint32_t te[256];
    te[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    int block = blockIdx.x * blockDim.x + threadIdx.x;
    if (block >= LEN(in)) return;
    const uint32_t *k = keys.v;
    uint32_t a = nonce.v[0] ^ k[0], b = nonce.v[1] ^ k[1], c = nonce.v[2] ^ k[2], d = block ^ k[3];
    #pragma unroll
    for (int round = 1; round < 10; round++) {
        uint32_t a1 = aes_column(te, a, b, c, d) ^ k[4 * round];
        uint32_t b1 = aes_column(te, b, c, d, a) ^ k[4 * round + 1];
        uint32_t c1 = aes_column(te, c, d, a, b) ^ k[4 * round + 2];
        uint32_t d1 = aes_column(te, d, a, b, c) ^ k[4 * round + 3];
        a = a1, b = b1, c = c1, d = d1;
    }
    uint4 plain = in[block];
    out[block] = make_uint4(
        plain.x ^ reverse_bytes(aes_last(te, a, b, c, d) ^ k[40]),
        plain.y ^ reverse_bytes(aes_last(te, b, c, d, a) ^ k[41]),
        plain.z ^ reverse_bytes(aes_last(te, c, d, a, b) ^ k[42]),
        plain.w ^ reverse_bytes(aes_last(te, d, a, b, c) ^ k[43]));
}

__constant__ const uint64_t keccakConstants[24] = {
    0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000,
    0x000000000000808b, 0x0000000080000001, 0x8000000080008081, 0x8000000000008009,
    0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
    0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003,
    0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008};

__device__ uint64_t rotate_left(uint64_t x, int n) { return x << n | x >> (64 - n); }

KERNEL(128) sha3(IN(uint64_t, messages), OUT(uint64_t, digests)) {
    const int lanes[24] = {10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1};
    const int rotations[24] = {1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44};
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= LEN(digests) / 4) return;
    uint64_t state[25] = {};
    #pragma unroll
    for (int k = 0; k < 8; k++) state[k] = messages[i * 8 + k];
    state[8] = 0x06;
    state[16] = 1ull << 63;
    for (int round = 0; round < 24; round++) {
        uint64_t columns[5];
        #pragma unroll
        for (int x = 0; x < 5; x++) columns[x] = state[x] ^ state[x + 5] ^ state[x + 10] ^ state[x + 15] ^ state[x + 20];
        #pragma unroll
        for (int x = 0; x < 5; x++) {
            uint64_t d = columns[(x + 4) % 5] ^ rotate_left(columns[(x + 1) % 5], 1);
            #pragma unroll
            for (int y = 0; y < 25; y += 5) state[x + y] ^= d;
        }
        uint64_t lane = state[1];
        #pragma unroll
        for (int k = 0; k < 24; k++) {
            uint64_t moved = state[lanes[k]];
            state[lanes[k]] = rotate_left(lane, rotations[k]);
            lane = moved;
        }
        #pragma unroll
        for (int y = 0; y < 25; y += 5) {
            uint64_t row[5];
            #pragma unroll
            for (int x = 0; x < 5; x++) row[x] = state[x + y];
            #pragma unroll
            for (int x = 0; x < 5; x++) state[x + y] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5]);
        }
        state[0] ^= keccakConstants[round];
    }
    #pragma unroll
    for (int k = 0; k < 4; k++) digests[i * 4 + k] = state[k];
}
