"""
Every detector by name. To add one: write its function, then its line here.
"""

from leadline.reports.detectors import jobs, nodes, processes
from leadline.reports.finding import Detector

DETECTORS: dict[str, Detector] = {
    "stray": processes.stray,
    "zombie": processes.zombies,
    "dead weight": processes.dead_weight,
    "hog": processes.hogs,
    "idle GPUs": jobs.idle_gpus,
    "poor GPU use": jobs.poor_gpu_use,
    "unused cores": jobs.unused_cores,
    "past its limit": jobs.past_limit,
    "many short jobs": jobs.many_short,
    "silent node": nodes.silent,
    "failing card": nodes.failing_cards,
    "few samples": nodes.few_samples,
    "node names": nodes.node_names,
}
