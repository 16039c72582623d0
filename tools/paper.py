"""Figures that others published, as printed; what they measure is said beside them in RESULTS.md."""

from __future__ import annotations

# Arponen & Bishop 2020, Table 2, CIFAR-100, 64 bits: mAHP float, mAHP bin, mAP@250 bin, accuracy
ABLATIONS = {
    "sim": (0.8658, 0.8431, 0.5983, 0.6892),
    "class": (0.8653, 0.8380, 0.6756, 0.7120),
    "kl-class": (0.5850, 0.5413, 0.2915, 0.6229),
    "sim-kl": (0.8655, 0.8690, 0.6514, 0.6854),
    "sim-kl-class": (0.8916, 0.8608, 0.6512, 0.7199),
}
# Table 1, SIM-KL: mAHP bin, mAP@250 bin, accuracy
LENGTHS = {
    16: (0.7478, 0.3577, 0.6565),
    32: (0.8202, 0.5114, 0.6500),
    64: (0.8690, 0.6514, 0.7079),
    128: (0.8760, 0.6857, 0.7029),
}
# Table 3, ImageNet, 64 bits, likeness by WordNet: mAHP float, mAHP bin, mAP@250 bin, accuracy
IMAGENET = {
    "sim-kl": (0.8620, 0.8306, 0.4500, 0.5941),
    "sim-kl-class": (0.8952, 0.8818, 0.6508, 0.7044),
    "kl-class": (0.8903, 0.7956, 0.7075, 0.7419),
    "class": (0.8872, 0.7424, 0.6347, 0.7435),
}
# CIFAR-100, float vectors, LCS height: mAHP@250, mAP, accuracy; quoted in the paper's Table 2
FLOATS_LCS = {
    "DeViSE": (0.7348, 0.5016, 0.7466),
    "Centre loss": (0.6815, 0.4153, 0.7518),
    "Label embedding": (0.7950, 0.6202, 0.7696),
    "Barz & Denzler, L_CORR": (0.8290, 0.5900, 0.7503),
    "Barz & Denzler, L_CORR+CLS": (0.8329, 0.6107, 0.7660),
}
