"""Every Numba kernel: arrays in, arrays out, no objects and no checks. Callers check, kernels run."""
