"""
From jobs and habits to processes: the ranks of a job, login sessions, and what goes wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from random import Random

from leadline.simulate.activity import Activity, Job
from leadline.simulate.catalogue import CATALOGUE, Recipe, by_way
from leadline.simulate.fleet import GIB, Fleet, Host, User
from leadline.simulate.timeline import DAY

SHELL = next(r for r in CATALOGUE if r.program == "Bash")


def processes(
    random: Random, fleet: Fleet, jobs: list[Job], start: int, end: int
) -> list[Activity]:
    """
    Everything that runs, strays and zombies included, by start.
    """
    made: list[Activity] = []
    for job in jobs:
        own = list(_of_job(random, job))
        job.used = sum(activity.core_ticks(activity.end) for activity in own)
        sizes = [activity.resident(activity.end) for activity in own]
        job.peak = max(sizes, default=0) if job.recipe.way == "pipeline" else sum(sizes)
        made += own
    made += _sessions(random, fleet, start, end)
    made += _hogs(random, fleet, start, end)
    made += _strays(random, jobs, start, end)
    made += _zombies(random, jobs, start, end)
    return sorted(made, key=lambda activity: activity.start)


def _activity(random: Random, host: Host, user: User, recipe: Recipe, **more: object) -> Activity:
    return Activity(
        host=host,
        user=user,
        recipe=recipe,
        pid=random.randrange(2_000, 4_000_000),
        swing=random.uniform(0.02, 0.45),
        period=random.uniform(1800, 30_000),
        phase=random.uniform(0, 6.28),
        **more,  # type: ignore[arg-type]
    )


def _of_job(random: Random, job: Job) -> Iterator[Activity]:
    for place, host in enumerate(job.hosts):
        yield from _script(random, job, host)
        if job.recipe.way == "pipeline":
            yield from _pieces(random, job, host)
        else:
            yield from _mains(random, job, host, job.places[place])


def _script(random: Random, job: Job, host: Host) -> Iterator[Activity]:
    if host is job.hosts[0]:
        yield _activity(
            random,
            host,
            job.user,
            SHELL,
            job=job,
            start=job.start,
            end=job.end,
            load=0.0004,
            memory=4 << 20,
        )


def _mains(random: Random, job: Job, host: Host, cards: tuple[int, ...]) -> Iterator[Activity]:
    """
    The ranks of a parallel job as one, a threaded program, or several of them side by side.
    """
    recipe = job.recipe
    side_by_side = recipe.way == "threads" and random.random() < 0.6
    copies = min(job.cores, random.choice((2, 4, 8))) if side_by_side else 1
    cores = job.cores / copies
    busy = min(1.0, recipe.load * random.choice((1, 1, 1, 0.97, 0.9, 0.6, 0.25)))
    for _ in range(copies):
        main = _activity(
            random,
            host,
            job.user,
            recipe,
            job=job,
            start=job.start + random.uniform(0.5, 20),
            end=job.end,
            load=busy * cores,
            memory=int(recipe.memory * random.uniform(0.5, 1.2) * cores * GIB * 0.5),
            ranks=job.cores if recipe.way == "mpi" else 1,
            cards=() if job.idle_cards else cards,
            card_load=random.uniform(0.25, 0.9) if cards else 0.0,
        )
        # Nobody uses more than the cores and cards there are.
        main.swing = min(main.swing, 1 / busy - 1, 1 / (main.card_load or 0.5) - 1)
        yield main


def _pieces(random: Random, job: Job, host: Host) -> Iterator[Activity]:
    """
    A pipeline: one short program after the other, many gone before anybody looks.
    """
    moment = job.start + random.uniform(1, 15)
    while moment < job.end:
        length = 5 + random.expovariate(1 / 900)
        yield _activity(
            random,
            host,
            job.user,
            job.recipe,
            job=job,
            start=moment,
            end=min(job.end, moment + length),
            load=job.recipe.load * job.cores,
            memory=int(job.recipe.memory * job.cores * GIB * random.uniform(0.3, 0.8)),
        )
        moment += length + random.uniform(0.2, 30)


def _sessions(random: Random, fleet: Fleet, start: int, end: int) -> Iterator[Activity]:
    """
    People at work on the login nodes: a shell, an editor, now and then something heavier.
    """
    habits = by_way("login")
    for day in range(start - start % DAY - DAY, end, DAY):
        share = 0.5 if datetime.fromtimestamp(day, UTC).weekday() < 5 else 0.06
        for user in fleet.users if fleet.login else ():
            if random.random() > share:
                continue
            begin = day + random.gauss(9.5, 1.5) * 3600
            length = random.uniform(0.3, 9) * 3600
            host = fleet.login[user.uid % len(fleet.login)]
            for recipe in (SHELL, *random.sample(habits[1:], random.choice((0, 1, 1, 2)))):
                yield _activity(
                    random,
                    host,
                    user,
                    recipe,
                    start=begin + random.uniform(0, 300),
                    end=begin + length * random.uniform(0.3, 1) + 301,
                    load=recipe.load,
                    memory=int(recipe.memory * GIB),
                )


def _hogs(random: Random, fleet: Fleet, start: int, end: int) -> Iterator[Activity]:
    """
    Now and then somebody computes on a login node in the middle of a working day.
    """
    if not fleet.login:
        return
    heavy = [r for r in CATALOGUE if r.way == "serial" and r.program]
    for day in range(start - start % DAY, end, DAY):
        if datetime.fromtimestamp(day, UTC).weekday() >= 5 or random.random() > 0.25:
            continue
        host = random.choice(fleet.login)
        begin = day + random.uniform(9, 14) * 3600
        yield _activity(
            random,
            host,
            random.choice(fleet.users),
            random.choice(heavy),
            start=begin,
            end=begin + random.uniform(1, 5) * 3600,
            load=random.uniform(0.5, 0.9) * host.cores,
            memory=30 * GIB,
        )


def _strays(random: Random, jobs: list[Job], start: int, end: int) -> Iterator[Activity]:
    """
    Processes left behind by a job, on a node where their user has no other job meanwhile.
    """
    ended = [
        job for job in jobs if job.hosts and start < job.end < end and job.state != "NODE_FAIL"
    ]
    left = max(2, len(ended) // 150)
    for job in random.sample(ended, min(len(ended), 20 * left)):
        host = job.hosts[-1]
        length = random.uniform(3, 40) * 3600
        if host.down or _has_job(jobs, job, host, job.end, job.end + length):
            continue
        if not left:
            return
        left -= 1
        yield _activity(
            random,
            host,
            job.user,
            job.recipe,
            start=job.end,
            end=job.end + length,
            load=random.choice((0.0, 0.4, 1.0)),
            memory=2 * GIB,
        )


def _has_job(jobs: list[Job], but: Job, host: Host, start: float, end: float) -> bool:
    return any(
        job is not but
        and job.user is but.user
        and host in job.hosts
        and job.start < end
        and job.end > start
        for job in jobs
    )


def _zombies(random: Random, jobs: list[Job], start: int, end: int) -> Iterator[Activity]:
    ran = [job for job in jobs if job.hosts and start < job.start < end and not job.hosts[0].down]
    for job in random.sample(ran, min(len(ran), max(2, len(ran) // 400))):
        yield _activity(
            random,
            job.hosts[0],
            job.user,
            job.recipe,
            job=job,
            start=job.start + 5,
            end=job.end,
            load=0.0,
            memory=0,
            zombie=True,
        )
