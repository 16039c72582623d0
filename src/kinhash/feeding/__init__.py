"""From a split to batches on the device, augmented there, with their targets. The first layer that needs torch."""
