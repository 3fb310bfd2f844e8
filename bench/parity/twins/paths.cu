KERNEL(256) pathfinder(int cols, int start, int steps, IN(int, wall), IN(int, src), OUT(int, dst)) {
    __shared__ int previous[256], next[256];
    int tx = threadIdx.x;
    int x0 = blockIdx.x * (256 - 2 * steps) - steps, x = x0 + tx;
    bool inside = x >= 0 && x < cols;
    if (inside) previous[tx] = src[x];
    __syncthreads();
    int left = max(tx - 1, -x0), right = min(tx + 1, cols - 1 - x0);
    bool mine = false;
    for (int i = 0; i < steps; i++) {
        mine = inside && tx > i && tx < 255 - i;
        if (mine) next[tx] = min(min(previous[left], previous[tx]), previous[right]) + wall[(start + i) * cols + x];
        __syncthreads();
        if (mine) previous[tx] = next[tx];
        __syncthreads();
    }
    if (mine) dst[x] = previous[tx];
}

KERNEL(32) needle(int n, int diagonal, int penalty, IN(uint8_t, a), IN(uint8_t, b), OUT(int, scores)) {
    __shared__ int cell[33][33];
    __shared__ uint8_t letters[32];
    int tx = threadIdx.x, bx = blockIdx.x, pair = blockIdx.y;
    int x0 = bx * 32, y0 = (diagonal - bx) * 32, w = n + 1;
    int *s = scores + pair * w * w;
    cell[0][tx + 1] = s[y0 * w + x0 + 1 + tx];
    cell[tx + 1][0] = s[(y0 + 1 + tx) * w + x0];
    if (tx == 0) cell[0][0] = s[y0 * w + x0];
    uint8_t letter = a[pair * n + x0 + tx];
    letters[tx] = b[pair * n + y0 + tx];
    __syncwarp();
    for (int k = 0; k < 63; k++) {
        int y = k - tx;
        if (y >= 0 && y < 32) {
            int gain = letters[y] == letter ? 5 : -3;
            cell[y + 1][tx + 1] = max(max(cell[y][tx] + gain, cell[y + 1][tx] - penalty), cell[y][tx + 1] - penalty);
        }
        __syncwarp();
    }
    for (int y = 0; y < 32; y++) s[(y0 + 1 + y) * w + x0 + 1 + tx] = cell[y + 1][tx + 1];
}
