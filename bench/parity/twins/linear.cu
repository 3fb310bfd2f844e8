KERNEL(256) atax1(int rows, int cols, IN(float, a), IN(float, x), OUT(float, y)) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0;
    for (int c = 0; c < cols; c++) sum += a[r * cols + c] * x[c];
    y[r] = sum;
}

KERNEL(256) atax2(int rows, int cols, IN(float, a), IN(float, x), OUT(float, y)) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols) return;
    float sum = 0;
    for (int r = 0; r < rows; r++) sum += a[r * cols + c] * x[r];
    y[c] = sum;
}

KERNEL(256) gemm64(int n, float alpha, float beta, IN(float, a), IN(float, b), OUT(float, c)) {
    __shared__ __align__(16) float tileA[16][68], tileB[16][64];
    int tx = threadIdx.x, ty = threadIdx.y, id = ty * 16 + tx;
    int row = blockIdx.y * 64, col = blockIdx.x * 64;
    float sum[4][4] = {};
    for (int k0 = 0; k0 < n; k0 += 16) {
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            int e = id + 256 * j;
            tileA[e % 16][e / 16] = a[(row + e / 16) * n + k0 + e % 16];
            tileB[e / 64][e % 64] = b[(k0 + e / 64) * n + col + e % 64];
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < 16; k++) {
            float4 p = *(const float4 *)&tileA[k][ty * 4], q = *(const float4 *)&tileB[k][tx * 4];
            float x[4] = {p.x, p.y, p.z, p.w}, y[4] = {q.x, q.y, q.z, q.w};
            #pragma unroll
            for (int i = 0; i < 4; i++)
                #pragma unroll
                for (int j = 0; j < 4; j++) sum[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < 4; i++) {
        float4 *to = (float4 *)&c[(row + ty * 4 + i) * n + col + tx * 4];
        float4 v = *to;
        v.x = alpha * sum[i][0] + beta * v.x;
        v.y = alpha * sum[i][1] + beta * v.y;
        v.z = alpha * sum[i][2] + beta * v.z;
        v.w = alpha * sum[i][3] + beta * v.w;
        *to = v;
    }
}

KERNEL(256) dgemm(int n, IN(double, a), IN(double, b), OUT(double, c)) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    double sum = 0;
    for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}

KERNEL(256) lud(int n, int offset, OUT(float, m)) {
    __shared__ float row[16][16], col[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = offset + (blockIdx.x + 1) * 16 + tx, y = offset + (blockIdx.y + 1) * 16 + ty;
    row[ty][tx] = m[(offset + ty) * n + x];
    col[ty][tx] = m[y * n + offset + tx];
    __syncthreads();
    float sum = 0;
    #pragma unroll
    for (int i = 0; i < 16; i++) sum += col[ty][i] * row[i][tx];
    m[y * n + x] -= sum;
}

KERNEL(128) inv8(int n, IN(float, in), OUT(float, out)) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float m[8][8];
    #pragma unroll
    for (int r = 0; r < 8; r++)
        #pragma unroll
        for (int c = 0; c < 8; c++) m[r][c] = in[(r * 8 + c) * n + i];
    #pragma unroll
    for (int k = 0; k < 8; k++) {
        float p = 1 / m[k][k];
        m[k][k] = 1;
        #pragma unroll
        for (int c = 0; c < 8; c++) m[k][c] *= p;
        #pragma unroll
        for (int r = 0; r < 8; r++) {
            if (r == k) continue;
            float f = m[r][k];
            m[r][k] = 0;
            #pragma unroll
            for (int c = 0; c < 8; c++) m[r][c] -= f * m[k][c];
        }
    }
    #pragma unroll
    for (int r = 0; r < 8; r++)
        #pragma unroll
        for (int c = 0; c < 8; c++) out[(r * 8 + c) * n + i] = m[r][c];
}

struct __align__(16) Matrix4 { double e[16]; };
struct __align__(16) Vector4 { double e[4]; };

__device__ void exchange(double &a, double &b) {
    double c = a;
    a = b;
    b = c;
}

KERNEL(128) lu4(IN(Matrix4, a), IN(Vector4, b), OUT(Vector4, x)) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= LEN(a) || i >= LEN(b) || i >= LEN(x)) return;
    Matrix4 m = a[i];
    Vector4 v = b[i];
    #pragma unroll
    for (int k = 0; k < 4; k++) {
        #pragma unroll
        for (int r = k + 1; r < 4; r++)
            if (fabs(m.e[r * 4 + k]) > fabs(m.e[k * 4 + k])) {
                #pragma unroll
                for (int c = 0; c < 4; c++) exchange(m.e[r * 4 + c], m.e[k * 4 + c]);
                exchange(v.e[r], v.e[k]);
            }
        double p = 1 / m.e[k * 4 + k];
        #pragma unroll
        for (int r = k + 1; r < 4; r++) {
            double f = m.e[r * 4 + k] * p;
            #pragma unroll
            for (int c = k + 1; c < 4; c++) m.e[r * 4 + c] -= f * m.e[k * 4 + c];
            v.e[r] -= f * v.e[k];
        }
    }
    #pragma unroll
    for (int r = 3; r >= 0; r--) {
        #pragma unroll
        for (int c = r + 1; c < 4; c++) v.e[r] -= m.e[r * 4 + c] * v.e[c];
        v.e[r] /= m.e[r * 4 + r];
    }
    x[i] = v;
}

KERNEL(128) spmv_warp(int rows, IN(int, starts), IN(int, columns), IN(float, values), IN(float, x), OUT(float, y)) {
    int lane = threadIdx.x % 32, row = blockIdx.x * 4 + threadIdx.x / 32;
    if (row >= rows) return;
    float sum = 0;
    int end = starts[row + 1];
    for (int e = starts[row] + lane; e < end; e += 32) sum += values[e] * x[columns[e]];
    #pragma unroll
    for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffff, sum, mask);
    if (lane == 0) y[row] = sum;
}
