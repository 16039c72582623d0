"""Training: one readable loop, its recipes, its checkpoints; the same code alone and under torchrun."""
