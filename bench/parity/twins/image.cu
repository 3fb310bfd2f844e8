struct StencilWeights { float v[4]; };

KERNEL(256) stencil(StencilWeights weights, int nx, int ny, int nz, IN(float, in), OUT(float, out)) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || x >= nx - 1 || y < 1 || y >= ny - 1 || z < 1 || z >= nz - 1) return;
    float sum = 0;
    #pragma unroll
    for (int dz = -1; dz <= 1; dz++)
        #pragma unroll
        for (int dy = -1; dy <= 1; dy++)
            #pragma unroll
            for (int dx = -1; dx <= 1; dx++)
                sum += weights.v[dx * dx + dy * dy + dz * dz] * in[((z + dz) * ny + y + dy) * nx + x + dx];
    out[(z * ny + y) * nx + x] = sum;
}

struct Filter { float v[7][7]; };

KERNEL(256) convolve(Filter filter, int w, int h, IN(float, in), OUT(float, out)) {
    __shared__ float tile[38][38];
    int tx = threadIdx.x, ty = threadIdx.y;
    int left = blockIdx.x * 32, top = blockIdx.y * 32;
    for (int i = ty * 32 + tx; i < 38 * 38; i += 256) {
        int row = i / 38, column = i % 38;
        int x = min(max(left + column - 3, 0), w - 1), y = min(max(top + row - 3, 0), h - 1);
        tile[row][column] = in[y * w + x];
    }
    __syncthreads();
    int x = left + tx;
    if (x >= w) return;
    for (int row = ty; row < 32 && top + row < h; row += 8) {
        float sum = 0;
        #pragma unroll
        for (int j = 0; j < 7; j++)
            #pragma unroll
            for (int i = 0; i < 7; i++) sum += filter.v[j][i] * tile[row + j][tx + i];
        out[(top + row) * w + x] = sum;
    }
}

KERNEL(256) life(int w, int h, IN(uint8_t, in), OUT(uint8_t, out)) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int left = x > 0 ? x - 1 : w - 1, right = x < w - 1 ? x + 1 : 0;
    int above = (y > 0 ? y - 1 : h - 1) * w, here = y * w, below = (y < h - 1 ? y + 1 : 0) * w;
    int neighbours = in[above + left] + in[above + x] + in[above + right] +
                     in[here + left] + in[here + right] +
                     in[below + left] + in[below + x] + in[below + right];
    out[here + x] = neighbours == 3 || (neighbours == 2 && in[here + x] == 1);
}

__constant__ const int latticeX[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ const int latticeY[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ const float latticeWeight[9] = {
    4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};

KERNEL(128) lbm(int w, int h, float omega, IN(float, in), OUT(float, out)) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float f[9], density = 0, ux = 0, uy = 0;
    #pragma unroll
    for (int i = 0; i < 9; i++) {
        int sx = x - latticeX[i], sy = y - latticeY[i];
        if (sx < 0) sx += w;
        if (sx >= w) sx -= w;
        if (sy < 0) sy += h;
        if (sy >= h) sy -= h;
        f[i] = in[(i * h + sy) * w + sx];
        density += f[i];
        ux += latticeX[i] * f[i];
        uy += latticeY[i] * f[i];
    }
    ux /= density;
    uy /= density;
    float square = 1.5f * (ux * ux + uy * uy);
    #pragma unroll
    for (int i = 0; i < 9; i++) {
        float u = 3 * (latticeX[i] * ux + latticeY[i] * uy);
        float equilibrium = latticeWeight[i] * density * (1 + u + 0.5f * u * u - square);
        out[(i * h + y) * w + x] = f[i] + omega * (equilibrium - f[i]);
    }
}

struct Affine { float a, b, c, d, e, f; };

__device__ float pixel(int w, int h, const float *__restrict__ image, int x, int y) {
    return x < 0 || x >= w || y < 0 || y >= h ? 0 : image[y * w + x];
}

__device__ float lerp(float a, float b, float t) { return a + t * (b - a); }

KERNEL(256) rotate(Affine m, int w, int h, IN(float, in), OUT(float, out)) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float sx = m.a * x + m.b * y + m.c, sy = m.d * x + m.e * y + m.f;
    float left = floorf(sx), top = floorf(sy);
    int x0 = left, y0 = top;
    float upper = lerp(pixel(w, h, in, x0, y0), pixel(w, h, in, x0 + 1, y0), sx - left);
    float lower = lerp(pixel(w, h, in, x0, y0 + 1), pixel(w, h, in, x0 + 1, y0 + 1), sx - left);
    out[y * w + x] = lerp(upper, lower, sy - top);
}
