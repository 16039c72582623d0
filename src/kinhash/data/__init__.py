"""Pictures and embeddings with labels or captions, and loaders that keep them on the device."""
