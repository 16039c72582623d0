"""Backbones, the hash layer, and the encoder that holds both."""
