"""
Every detector by name. To add one: write its function, then its line here.
"""

from leadline.reports.detectors import cards, jobs, nodes, processes, reserved, sizes
from leadline.reports.finding import Detector

DETECTORS: dict[str, Detector] = {
    "stray": processes.stray,
    "zombie": processes.zombies,
    "dead weight": processes.dead_weight,
    "hog": processes.hogs,
    "GPU hog": cards.gpu_hogs,
    "GPU node without GPU use": cards.no_gpu_work,
    "idle GPUs": jobs.idle_gpus,
    "poor GPU use": jobs.poor_gpu_use,
    "unused cores": jobs.unused_cores,
    "idle node": reserved.idle_nodes,
    "empty reservation": reserved.empty_reservations,
    "past its limit": jobs.past_limit,
    "mouse": sizes.mice,
    "whale": sizes.whales,
    "vampire": sizes.vampires,
    "many short jobs": jobs.many_short,
    "silent node": nodes.silent,
    "failing card": nodes.failing_cards,
    "few samples": nodes.few_samples,
    "node names": nodes.node_names,
    "same name": nodes.same_name,
    "accounts differ": nodes.accounts_differ,
}
