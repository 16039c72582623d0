"""What a folder that kinhash wrote says of itself, without torch: cards of encoders, and `kh.info` of anything."""
