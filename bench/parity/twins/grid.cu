KERNEL(256) hotspot(int w, int h, int steps, float rx, float ry, float rz, float step, IN(float, temperature), IN(float, power), OUT(float, out)) {
    __shared__ float current[16][16], heat[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, inner = 16 - 2 * steps;
    int x0 = blockIdx.x * inner - steps, y0 = blockIdx.y * inner - steps;
    int x = x0 + tx, y = y0 + ty;
    bool inside = x >= 0 && x < w && y >= 0 && y < h;
    if (inside) {
        current[ty][tx] = temperature[y * w + x];
        heat[ty][tx] = power[y * w + x];
    }
    __syncthreads();
    int west = max(tx - 1, -x0), east = min(tx + 1, w - 1 - x0);
    int north = max(ty - 1, -y0), south = min(ty + 1, h - 1 - y0);
    float v = 0;
    bool mine = false;
    for (int i = 0; i < steps; i++) {
        mine = inside && tx > i && tx < 15 - i && ty > i && ty < 15 - i;
        if (mine) {
            float c = current[ty][tx];
            v = c + step * (heat[ty][tx] + (current[south][tx] + current[north][tx] - 2 * c) * ry +
                            (current[ty][east] + current[ty][west] - 2 * c) * rx + (80 - c) * rz);
        }
        __syncthreads();
        if (mine) current[ty][tx] = v;
        __syncthreads();
    }
    if (mine) out[y * w + x] = v;
}

KERNEL(256) srad1(int w, int h, float q0, IN(float, image), OUT(float, dn), OUT(float, ds), OUT(float, dw), OUT(float, de), OUT(float, c)) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int i = y * w + x;
    float j = image[i];
    float north = image[max(y - 1, 0) * w + x] - j, south = image[min(y + 1, h - 1) * w + x] - j;
    float west = image[y * w + max(x - 1, 0)] - j, east = image[y * w + min(x + 1, w - 1)] - j;
    float g2 = (north * north + south * south + west * west + east * east) / (j * j);
    float l = (north + south + west + east) / j;
    float num = 0.5f * g2 - (1.0f / 16) * (l * l);
    float den = 1 + 0.25f * l;
    float q = num / (den * den);
    den = (q - q0) / (q0 * (1 + q0));
    float v = 1 / (1 + den);
    dn[i] = north, ds[i] = south, dw[i] = west, de[i] = east;
    c[i] = fminf(fmaxf(v, 0), 1);
}

KERNEL(256) srad2(int w, int h, float lambda, IN(float, dn), IN(float, ds), IN(float, dw), IN(float, de), IN(float, c), OUT(float, image)) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int i = y * w + x;
    float here = c[i], south = c[min(y + 1, h - 1) * w + x], east = c[y * w + min(x + 1, w - 1)];
    float d = here * dn[i] + south * ds[i] + here * dw[i] + east * de[i];
    image[i] += 0.25f * lambda * d;
}

KERNEL(256) fdtd(int w, int h, IN(float, ex), IN(float, ey), OUT(float, hz)) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w - 1 || y >= h - 1) return;
    int i = y * w + x;
    hz[i] -= 0.7f * (ex[i + 1] - ex[i] + ey[i + w] - ey[i]);
}

KERNEL(256) stencil27(int n, float c0, float c1, float c2, float c3, IN(float, in), OUT(float, out)) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
    float sums[4] = {};
    #pragma unroll
    for (int dz = -1; dz <= 1; dz++)
        #pragma unroll
        for (int dy = -1; dy <= 1; dy++)
            #pragma unroll
            for (int dx = -1; dx <= 1; dx++)
                sums[dx * dx + dy * dy + dz * dz] += in[((z + dz) * n + y + dy) * n + x + dx];
    out[(z * n + y) * n + x] = c0 * sums[0] + c1 * sums[1] + c2 * sums[2] + c3 * sums[3];
}

KERNEL(256) jacobi(int w, int h, IN(float, a), OUT(float, b)) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
    int i = y * w + x;
    b[i] = 0.2f * (a[i] + a[i - 1] + a[i + 1] + a[i - w] + a[i + w]);
}
