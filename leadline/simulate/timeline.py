"""
What happens on a simulated cluster: jobs submitted, placed and ended by a small scheduler.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from random import Random

from leadline.simulate.activity import Job
from leadline.simulate.catalogue import CATALOGUE, Recipe
from leadline.simulate.fleet import Fleet, Host, User

DAY = 86400
WARM_UP = 2 * DAY  # a cluster does not start empty
WORKDAY, WEEKEND = 0.86, 0.35  # share of the cores asked for
LOOK_AHEAD = 25  # waiting jobs the scheduler looks at


def schedule(random: Random, fleet: Fleet, start: int, end: int) -> list[Job]:
    """
    Every job that ran, or waits still, in order of submission.
    """
    wanted = sorted(_wishes(random, fleet, start - WARM_UP, end), key=lambda job: job.submit)
    for number, job in enumerate(wanted, start=1_204_311):
        job.number = number
    _place(wanted, fleet, end)
    return wanted


def _wishes(random: Random, fleet: Fleet, start: int, end: int) -> Iterator[Job]:
    """
    Jobs as people submit them: in the day more than at night, on working days more than not.
    """
    weights = [user.weight for user in fleet.users]
    cores = sum(host.cores for host in fleet.compute)
    for day in range(start - start % DAY, end, DAY):
        workday = datetime.fromtimestamp(day, UTC).weekday() < 5
        left = cores * 24 * (WORKDAY if workday else WEEKEND)
        while left > 0:
            user = random.choices(fleet.users, weights)[0]
            hour = random.gauss(13, 3.2) if random.random() < 0.8 else random.uniform(0, 24)
            submit = day + (hour % 24) * 3600
            for job in _array(random, _job(random, fleet, user, submit)):
                left -= job.cores * job.nodes * job.length / 3600
                if start <= submit < end:
                    yield job


def _array(random: Random, job: Job) -> Iterator[Job]:
    """
    Serial work comes as arrays of tasks; everything else one by one.
    """
    yield job
    tasks = random.choice((2, 4, 8, 16)) if job.recipe.way == "serial" else 1
    for _ in range(1, tasks):
        yield replace(job, length=max(20.0, job.length * random.uniform(0.7, 1.3)))


def _job(random: Random, fleet: Fleet, user: User, submit: float) -> Job:
    recipe = _taste(random, fleet, user)
    partition = _partition(fleet, recipe)
    hosts = [host for host in fleet.compute if host.partition == partition]
    largest = max(host.cores for host in hosts)
    size, nodes, cards = _size(random, recipe, largest, len(hosts))
    length = min(4 * DAY, random.lognormvariate(9.3, 1.3))
    fails = random.random() < 0.06
    length = length * random.random() if fails else length
    limit = int(3600 * max(1, round(length / 3600 * random.uniform(1.1, 4))))
    return Job(
        number=0,
        user=user,
        recipe=recipe,
        partition=partition,
        cores=size,
        nodes=nodes,
        cards=cards,
        submit=submit,
        length=max(20.0, length),
        limit=limit,
        state="FAILED" if fails else "COMPLETED",
        idle_cards=bool(cards) and random.random() < 0.07,
    )


def _partition(fleet: Fleet, recipe: Recipe) -> str:
    wanted = "accel" if recipe.way == "gpu" else "bigmem" if recipe.memory >= 5 else "normal"
    there = [host.partition for host in fleet.compute]
    return wanted if wanted in there else there[-1]


def _taste(random: Random, fleet: Fleet, user: User) -> Recipe:
    """
    People stay with two or three programs of their field.
    """
    own = [r for r in CATALOGUE if r.field == user.field and r.way != "login"]
    if not any(host.kind == "gpu" for host in fleet.hosts):
        own = [r for r in own if r.way != "gpu"] or [r for r in CATALOGUE if r.field == "physics"]
    if all(host.kind in {"gpu", "login"} for host in fleet.hosts):
        own = [r for r in CATALOGUE if r.way == "gpu"]
    first = user.uid // 7
    favourites = [own[(first + step * 3) % len(own)] for step in range(3)]
    return random.choices(favourites, (6, 3, 1))[0]


def _size(random: Random, recipe: Recipe, largest: int, hosts: int) -> tuple[int, int, int]:
    """
    Cores of each node, nodes, and cards of each node.
    """
    if recipe.way == "gpu":
        cards = random.choices((1, 2, 4), (6, 2, 2))[0]
        return min(largest, 12 * cards), 1, cards
    if recipe.way == "mpi":
        nodes = random.choices((1, 2, 4), (8, 2, 1))[0]
        if nodes > 1 and hosts > 4:
            return largest, nodes, 0
        return min(largest, random.choice((16, 32, 64))), 1, 0
    if recipe.way == "serial":
        return random.choice((1, 1, 2)), 1, 0
    return min(largest, random.choice((4, 8, 8, 16))), 1, 0


def _place(jobs: list[Job], fleet: Fleet, end: int) -> None:
    """
    First come, first served, small ones may slip past: when each starts, and where.
    """
    order = count()
    ending: list[tuple[float, int, Job]] = []
    waiting: list[Job] = []
    for job in jobs:
        while ending and ending[0][0] <= job.submit:
            moment, _, over = heapq.heappop(ending)
            _give_back(over)
            _start_waiting(waiting, fleet, moment, ending, order)
        waiting.append(job)
        _start_waiting(waiting, fleet, job.submit, ending, order)
    while ending and ending[0][0] <= end:
        moment, _, over = heapq.heappop(ending)
        _give_back(over)
        _start_waiting(waiting, fleet, moment, ending, order)


def _start_waiting(
    waiting: list[Job],
    fleet: Fleet,
    moment: float,
    ending: list[tuple[float, int, Job]],
    order: count[int],
) -> None:
    still = []
    for job in waiting[:LOOK_AHEAD]:
        hosts = _room(job, fleet, moment)
        if not hosts:
            still.append(job)
            continue
        _start(job, hosts, moment + 1.5)
        heapq.heappush(ending, (job.end, next(order), job))
    waiting[:LOOK_AHEAD] = still


def _room(job: Job, fleet: Fleet, moment: float) -> tuple[Host, ...]:
    found = []
    for host in fleet.compute:
        if host.partition != job.partition or host.free < job.cores:
            continue
        if len(host.free_cards) < job.cards:
            continue
        if host.is_closed(moment):
            continue
        found.append(host)
        if len(found) == job.nodes:
            return tuple(found)
    return ()


def _start(job: Job, hosts: tuple[Host, ...], moment: float) -> None:
    job.hosts = hosts
    job.start = moment
    job.end = moment + min(job.length, job.limit)
    if job.length > job.limit:
        job.state = "TIMEOUT"
    for host in hosts:
        host.free -= job.cores
        if host.down and moment < host.down[0] < job.end:
            job.end, job.state = float(host.down[0]), "NODE_FAIL"
    job.places = tuple(tuple(host.free_cards[: job.cards]) for host in hosts)
    for host in hosts:
        del host.free_cards[: job.cards]


def _give_back(job: Job) -> None:
    for host, cards in zip(job.hosts, job.places, strict=True):
        host.free += job.cores
        host.free_cards = sorted((*host.free_cards, *cards))
