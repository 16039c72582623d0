"""Every Numba and Triton kernel, and in `gpu_*` what launches the latter: arrays or tensors in and out. Callers check."""
