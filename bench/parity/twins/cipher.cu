__constant__ const uint32_t roundConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

__device__ uint32_t rotateRight(uint32_t x, int n) { return __funnelshift_r(x, x, n); }
__device__ uint32_t rotateLeft(uint32_t x, int n) { return __funnelshift_l(x, x, n); }

__device__ void compress(uint32_t *state, uint32_t *w) {
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    #pragma unroll
    for (int i = 0; i < 64; i++) {
        if (i >= 16) {
            uint32_t x = w[(i + 1) % 16], y = w[(i + 14) % 16];
            uint32_t s0 = rotateRight(x, 7) ^ rotateRight(x, 18) ^ x >> 3;
            uint32_t s1 = rotateRight(y, 17) ^ rotateRight(y, 19) ^ y >> 10;
            w[i % 16] += s0 + w[(i + 9) % 16] + s1;
        }
        uint32_t t1 = h + (rotateRight(e, 6) ^ rotateRight(e, 11) ^ rotateRight(e, 25)) +
                      ((e & f) ^ (~e & g)) + roundConstants[i] + w[i % 16];
        uint32_t t2 = (rotateRight(a, 2) ^ rotateRight(a, 13) ^ rotateRight(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

KERNEL(128) sha256(IN(uint32_t, messages), OUT(uint32_t, digests)) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= LEN(digests) / 8) return;
    uint32_t state[8] = {
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    uint32_t w[16];
    #pragma unroll
    for (int k = 0; k < 16; k++) w[k] = messages[i * 16 + k];
    compress(state, w);
    #pragma unroll
    for (int k = 0; k < 16; k++) w[k] = 0;
    w[0] = 1u << 31;
    w[15] = 8 * 64;
    compress(state, w);
    #pragma unroll
    for (int k = 0; k < 8; k++) digests[i * 8 + k] = state[k];
}

__device__ void quarter(uint32_t &a, uint32_t &b, uint32_t &c, uint32_t &d) {
    a += b, d = rotateLeft(d ^ a, 16);
    c += d, b = rotateLeft(b ^ c, 12);
    a += b, d = rotateLeft(d ^ a, 8);
    c += d, b = rotateLeft(b ^ c, 7);
}

struct Key { uint32_t v[8]; };
struct Nonce { uint32_t v[3]; };

KERNEL(128) chacha20(Key key, Nonce nonce, IN(uint32_t, in), OUT(uint32_t, out)) {
    int block = blockIdx.x * blockDim.x + threadIdx.x;
    if (block >= LEN(in) / 16) return;
    uint32_t start[16] = {
        0x61707865, 0x3320646e, 0x79622d32, 0x6b206574,
        key.v[0], key.v[1], key.v[2], key.v[3], key.v[4], key.v[5], key.v[6], key.v[7],
        (uint32_t)block, nonce.v[0], nonce.v[1], nonce.v[2]};
    uint32_t x[16];
    #pragma unroll
    for (int i = 0; i < 16; i++) x[i] = start[i];
    for (int i = 0; i < 10; i++) {
        quarter(x[0], x[4], x[8], x[12]);
        quarter(x[1], x[5], x[9], x[13]);
        quarter(x[2], x[6], x[10], x[14]);
        quarter(x[3], x[7], x[11], x[15]);
        quarter(x[0], x[5], x[10], x[15]);
        quarter(x[1], x[6], x[11], x[12]);
        quarter(x[2], x[7], x[8], x[13]);
        quarter(x[3], x[4], x[9], x[14]);
    }
    #pragma unroll
    for (int i = 0; i < 16; i++) out[block * 16 + i] = in[block * 16 + i] ^ (x[i] + start[i]);
}
