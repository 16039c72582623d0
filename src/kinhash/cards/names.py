"""The names by which what kinhash wrote is known, in one place: who writes it and who reads it may lie far apart."""

CARD, README = "encoder.json", "README.md"  # of an encoder
JOINED = "concat.json"  # of a `ConcatEncoder`, in a folder of folders of encoders
CONFIG, METRICS, LOG, ENCODER = "config.json", "metrics.json", "log.jsonl", "encoder"  # of a run
HOME = ".kinhash"  # what is known of a folder of photos, in that folder
