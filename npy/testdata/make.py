"""Writes the files of the tests with NumPy."""
import numpy as np

a = np.arange(6).reshape(2, 3)
np.save("float32.npy", (a / 2).astype("<f4"))
np.save("float64_columns.npy", np.asfortranarray((a / 2).astype("<f8")))
np.save("int32_big.npy", (a * -70000).astype(">i4"))
np.save("bool.npy", a % 2 == 1)
np.save("float16.npy", (a / 4).astype("<f2"))
np.save("complex64.npy", (a + 1j * a[::-1]).astype("<c8"))
np.save("uint8_cube.npy", np.asfortranarray(np.arange(24, dtype="u1").reshape(2, 3, 4)))
np.save("int64_single.npy", np.int64(-5))
np.save("uint16_none.npy", np.zeros((0, 4), "<u2"))
np.save("words.npy", np.array(["a", "bc"]))
np.save("record.npy", np.array([(1, 2.0)], dtype=[("a", "<i4"), ("b", "<f4")]))
with open("version3.npy", "wb") as f:
    np.lib.format.write_array(f, a.astype("<i8"), version=(3, 0))
np.savez("stored.npz", weights=(a / 2).astype("<f4"), bias=np.array([1, 2], "<f8"))
np.savez_compressed("compressed.npz", weights=(a / 2).astype("<f4"))
