"""Every Numba kernel: arrays in, arrays out; callers check. `gpu_*`: searching on a GPU, by Triton or torch alone."""
