"""A folder of photos and its index, kept in step: `kh.photos`."""
