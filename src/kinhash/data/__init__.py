"""Pictures and embeddings with labels or captions, read and decoded; nothing here needs torch."""
