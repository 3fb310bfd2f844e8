__device__ float nearest(float d, float box) {
    if (d > box / 2) return d - box;
    if (d < -box / 2) return d + box;
    return d;
}

KERNEL(128) lennard_jones(int cells, float edge, float cutoff, IN(int, starts), IN(float4, positions), OUT(float4, forces)) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= LEN(positions)) return;
    float4 me = positions[i];
    int x = me.x / edge, y = me.y / edge, z = me.z / edge;
    float box = cells * edge;
    float4 force = make_float4(0, 0, 0, 0);
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int cx = (x + dx + cells) % cells, cy = (y + dy + cells) % cells, cz = (z + dz + cells) % cells;
                int cell = (cz * cells + cy) * cells + cx;
                for (int j = starts[cell]; j < starts[cell + 1]; j++) {
                    float4 other = positions[j];
                    float rx = nearest(me.x - other.x, box);
                    float ry = nearest(me.y - other.y, box);
                    float rz = nearest(me.z - other.z, box);
                    float square = rx * rx + ry * ry + rz * rz;
                    if (square >= cutoff * cutoff || j == i) continue;
                    float inverse = 1 / square, sixth = inverse * inverse * inverse;
                    float f = 24 * inverse * sixth * (2 * sixth - 1);
                    force.x += f * rx;
                    force.y += f * ry;
                    force.z += f * rz;
                    force.w += 4 * sixth * (sixth - 1);
                }
            }
    forces[i] = force;
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

struct Chances { float v[5]; };

KERNEL(256) ising(int w, int h, int color, uint32_t seed, uint32_t step, Chances chances, OUT(int8_t, spins)) {
    int tx = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (tx >= w / 8 || y >= h) return;
    int above = (y > 0 ? y - 1 : h - 1) * w, here = y * w, below = (y < h - 1 ? y + 1 : 0) * w;
    uint4 r = philox(make_uint4(here + tx, step, 0, 0), make_uint2(seed, 0));
    uint32_t random[4] = {r.x, r.y, r.z, r.w};
    #pragma unroll
    for (int k = 0; k < 4; k++) {
        int x = 2 * (tx * 4 + k) + ((y + color) & 1);
        int left = x > 0 ? x - 1 : w - 1, right = x < w - 1 ? x + 1 : 0;
        int spin = spins[here + x];
        int sum = spins[above + x] + spins[below + x] + spins[here + left] + spins[here + right];
        if ((random[k] >> 8) * 0x1p-24f < chances.v[(spin * sum + 4) / 2]) spins[here + x] = -spin;
    }
}

struct WaveWeights { float v[5]; };

KERNEL(256) wave(WaveWeights weights, int nx, int ny, int nz, IN(float, previous), IN(float, current), OUT(float, next)) {
    __shared__ float tile[8 + 8][32 + 8];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    int tx = threadIdx.x + 4, ty = threadIdx.y + 4;
    bool within = x < nx && y < ny, inner = x >= 4 && x < nx - 4 && y >= 4 && y < ny - 4;
    int plane = nx * ny, at = y * nx + x;
    float column[9] = {};
    if (within) {
        #pragma unroll
        for (int k = 0; k < 8; k++) column[k + 1] = current[at + k * plane];
    }
    for (int z = 4; z < nz - 4; z++) {
        #pragma unroll
        for (int k = 0; k < 8; k++) column[k] = column[k + 1];
        int here = at + z * plane;
        __syncthreads();
        if (within) {
            column[8] = current[here + 4 * plane];
            tile[ty][tx] = column[4];
            if (threadIdx.x < 4) {
                if (x >= 4) tile[ty][tx - 4] = current[here - 4];
                if (x + 32 < nx) tile[ty][tx + 32] = current[here + 32];
            }
            if (threadIdx.y < 4) {
                if (y >= 4) tile[ty - 4][tx] = current[here - 4 * nx];
                if (y + 8 < ny) tile[ty + 8][tx] = current[here + 8 * nx];
            }
        }
        __syncthreads();
        if (inner) {
            float sum = 3 * weights.v[0] * column[4];
            #pragma unroll
            for (int k = 1; k <= 4; k++)
                sum += weights.v[k] * (tile[ty][tx - k] + tile[ty][tx + k] + tile[ty - k][tx] + tile[ty + k][tx] +
                                       column[4 - k] + column[4 + k]);
            next[here] = 2 * column[4] - previous[here] + sum;
        }
    }
}
