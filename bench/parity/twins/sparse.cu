KERNEL(256) ell(int width, IN(int, columns), IN(float, values), IN(float, x), OUT(float, y)) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, rows = LEN(y);
    if (i >= rows) return;
    float sum = 0;
    for (int k = 0; k < width; k++) {
        int column = columns[k * rows + i];
        if (column < 0) break;
        sum += values[k * rows + i] * x[column];
    }
    y[i] = sum;
}

// A row of a block of values is one float4.
struct Block { float4 rows[4]; };

KERNEL(128) bsr(IN(int, starts), IN(int, columns), IN(Block, values), IN(float4, x), OUT(float, y)) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= LEN(y)) return;
    int blocks = i / 4, row = i % 4;
    float sum = 0;
    for (int e = starts[blocks]; e < starts[blocks + 1]; e++) {
        float4 a = values[e].rows[row], b = x[columns[e]];
        sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    y[i] = sum;
}
