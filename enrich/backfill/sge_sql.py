"""
Grid Engine accounting in SQL: text fields to runs, runs to documents of `job` and `job_slice`.

Everything is whole seconds since 1970 until the last step; a day's hours are text arithmetic, so
that millions of records need no Python and no calendar functions.
"""

from __future__ import annotations

from zoneinfo import ZoneInfo

from enrich.backfill.options import EARLIEST, LATEST
from enrich.backfill.sge_lines import NAMES
from enrich.backfill.sge_zone import changes, offset
from leadline.formats import DATASETS, SCHEMA_VERSION, Type
from leadline.formats.validate import LONGEST
from leadline.store.lake.schema import SQL_TYPES, literal, quote


def _listed(names: str) -> tuple[str, ...]:
    return tuple(names.split())


WHOLE = _listed(
    "job_number submission_time start_time end_time failed exit_status slots task_number priority"
)
DECIMAL = _listed("ru_utime ru_stime ru_maxrss cpu mem io maxvmem")
TEXT = _listed(
    "qname hostname grp owner job_name account project department granted_pe category pe_taskid"
)


def read_slice(path: str, columns: int, between: str = ":") -> str:
    """
    A FROM clause over a slice's lines of COLUMNS fields; others go to the reject tables.
    """
    names = [*NAMES, *(f"more{number}" for number in range(columns - len(NAMES)))][:columns]
    listed = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in names)
    return (
        f"read_csv({literal(path)}, delim = {literal(between)}, quote = '', escape = '',"
        f" header = false, auto_detect = false, columns = {{{listed}}}, max_line_size = 8000000,"
        " buffer_size = 16000000, store_rejects = true, rejects_limit = 0, new_line = '\\n')"
    )


def typed(cluster: str, source: str) -> str:
    """
    Fields as numbers where they are numbers, and what names the run. Milliseconds become seconds.
    """
    whole = ", ".join(f"TRY_CAST({name} AS BIGINT) AS {name}" for name in WHOLE)
    decimal = ", ".join(f"TRY_CAST({name} AS DOUBLE) AS {name}" for name in DECIMAL)
    small = "CASE WHEN {0} > 100000000000 THEN {0} // 1000 ELSE {0} END AS {0}"
    times = ", ".join(small.format(name) for name in ("submission_time", "start_time", "end_time"))
    fields = f"SELECT {', '.join(TEXT)}, {whole}, {decimal} FROM {source}"
    submitted = "CASE WHEN submission_time > 0 THEN submission_time ELSE start_time END"
    local = "CASE WHEN task_number > 0 THEN concat(job_number, '.', task_number)"
    named = (
        f"SELECT *, {submitted} AS submitted, {REASON} AS reason,"
        f" {local} ELSE job_number::VARCHAR END AS local_id"
        f" FROM (SELECT * REPLACE ({times}) FROM ({fields}))"
    )
    return (
        "SELECT *, concat(job_id, '@', submitted, '+', greatest(start_time, 0)) AS run"
        f" FROM (SELECT *, {literal(cluster + '/')} || local_id AS job_id FROM ({named}))"
    )


REASON = f"""CASE
 WHEN job_number IS NULL OR submission_time IS NULL OR start_time IS NULL OR end_time IS NULL
   OR failed IS NULL OR exit_status IS NULL OR slots IS NULL OR task_number IS NULL
   THEN 'numbers are not where they should be'
 WHEN least(cpu, mem, io, maxvmem) < 0 OR NOT isfinite(coalesce(cpu + mem + maxvmem + io, 0))
   THEN 'inf, NaN or negative usage'
 WHEN NOT (coalesce(greatest(ru_utime, ru_stime, ru_maxrss, cpu, mem), 0) <= 1e15
   AND coalesce(maxvmem, 0) <= 1e18 AND coalesce(io, 0) <= 1e9 AND slots <= 1e7)
   THEN 'more than any machine can use'
 WHEN slots < 0 OR task_number < 0 OR job_number <= 0 THEN 'negative number'
 WHEN submission_time <= 0 AND start_time <= 0 THEN 'no submission and no start time'
 WHEN (submission_time NOT BETWEEN {EARLIEST} AND {LATEST - 1} AND submission_time <> 0)
   OR (start_time NOT BETWEEN {EARLIEST} AND {LATEST - 1} AND start_time <> 0)
   OR (end_time NOT BETWEEN {EARLIEST} AND {LATEST - 1} AND end_time <> 0)
   THEN 'time outside 1990-2100'
 WHEN start_time > 0 AND end_time < start_time THEN 'end before start'
END"""

MASTERS = "pe_taskid IN ('NONE', '')"


def jobs(cluster: str, source: str, now: str) -> str:
    """
    Documents of `job`, a column for each field that Grid Engine knows of.
    """
    return _document("job", {**_shared(cluster), **_run_fields(), "event.ingested": now}, source)


def slices(
    cluster: str, source: str, zone: ZoneInfo, first: int, last: int, now: str, wanted: str
) -> str:
    """
    Documents of `job_slice`: one for each local day that a run touches and that is WANTED.
    """
    day_start = f"(day * 86400 - {offset('day * 86400', zone, first, last, local=True)})"
    begun = f"greatest(start_time, {day_start})"
    next_day = offset("(day + 1) * 86400", zone, first, last, local=True)
    ended = f"least(end_time, (day + 1) * 86400 - {next_day})"
    rows = f"""(SELECT *, until - since AS seconds,
    since + {offset("since", zone, first, last)} - day * 86400 AS h0,
    until - 1 + {offset("until - 1", zone, first, last)} - day * 86400 + 1 AS h1
  FROM (SELECT *, {day_start} AS day_start, {begun} AS since, {ended} AS until
    FROM (SELECT *, unnest(range(
      (start_time + {offset("start_time", zone, first, last)}) // 86400,
      (end_time - 1 + {offset("end_time - 1", zone, first, last)}) // 86400 + 1)) AS day
    FROM {source} WHERE wall > 0)) WHERE until > since AND {wanted})"""
    share = "seconds::DOUBLE / wall"
    fields = {
        **_shared(cluster),
        "@timestamp": "make_timestamptz(day_start * 1000000)",
        "dataset": _constant("job_slice"),
        "local.day": "DATE '1970-01-01' + day::INTEGER",
        "local.weekday": "(day + 3) % 7 + 1",
        "local.hour": "0",
        "wall.seconds": "seconds::DOUBLE",
        "core_seconds_allocated": "seconds::DOUBLE * slots",
        "core_seconds_used": f"cpu * {share}",
        "hours": _hours(zone, first, last),
        "event.ingested": now,
    }
    return _document("job_slice", fields, rows)


def _shared(cluster: str) -> dict[str, str]:
    return {
        "dataset": _constant("job"),
        "cluster": _constant(cluster),
        "schema.version": str(SCHEMA_VERSION),
        "user.name": _named("owner"),
        "user.group": _named("grp"),
        "job.id": "job_id",
        "job.run": "run",
        "project": _named("project"),
        "partition": _named("qname"),
        "job.state": STATE,
        "job.class": CLASS,
        "job.cores": "slots",
        "job.node.count": "CASE WHEN len(hosts) > 1 OR slots = 1 THEN len(hosts) END",
        "job.nodes": "hosts",
        "job.wait.seconds": "CASE WHEN start_time >= submitted THEN start_time - submitted END",
        "job.wall.seconds": "wall",
        "record.version": "greatest(end_time, submitted)",
    }


def _words(choice: str, *words: str) -> str:
    """
    A CASE whose answers are among WORDS, as an ENUM: its few words are not hashed for each row.
    """
    kind = f"ENUM({', '.join(map(literal, words))})"
    for word in words:
        choice = choice.replace(f"THEN {literal(word)}", f"THEN {literal(word)}::{kind}")
        choice = choice.replace(f"ELSE {literal(word)}", f"ELSE {literal(word)}::{kind}")
    return choice


STATE = _words(
    """CASE WHEN failed = 100 AND exit_status = 137 THEN 'CANCELLED'
  WHEN failed = 37 THEN 'TIMEOUT' WHEN failed IN (19, 24, 25) THEN 'REQUEUED'
  WHEN failed <> 0 OR exit_status <> 0 THEN 'FAILED' ELSE 'COMPLETED' END""",
    *("CANCELLED", "TIMEOUT", "REQUEUED", "FAILED", "COMPLETED"),
)
CLASS = _words(
    """CASE WHEN slots = 1 THEN 'serial' WHEN len(hosts) > 1 THEN 'multi-node'
  WHEN granted_pe LIKE '%smp%' OR granted_pe LIKE '%openmp%' OR granted_pe LIKE '%thread%'
    OR granted_pe LIKE '%shm%' THEN 'one-node' END""",
    *("serial", "multi-node", "one-node"),
)


# The run time that was asked for, in seconds; most categories name none.
LIMIT = """CASE WHEN contains(category, 'h_rt=')
  THEN TRY_CAST(regexp_extract(category, '[ ,]h_rt=([0-9]{1,9})(?:[ ,]|$)', 1) AS DOUBLE) END"""


def _run_fields() -> dict[str, str]:
    return {
        "@timestamp": "make_timestamptz(submitted * 1000000)",
        "local.day": "DATE '1970-01-01' + (local_submit // 86400)::INTEGER",
        "local.weekday": "(local_submit // 86400 + 3) % 7 + 1",
        "local.hour": "local_submit % 86400 // 3600",
        "job.local_id": "local_id",
        "job.name": _named("job_name"),
        "job.source": _constant("sge"),
        "job.scheduler": _constant("sge"),
        "job.exit_code": "exit_status",
        "job.exit_signal": "CASE WHEN exit_status BETWEEN 129 AND 192 THEN exit_status - 128 END",
        "job.failed": "failed",
        "job.array.id": "CASE WHEN task_number > 0 THEN printf('%d', job_number) END",
        "job.array.task": "CASE WHEN task_number > 0 THEN printf('%d', task_number) END",
        "job.parallel_environment": _named("granted_pe"),
        "job.category": _named("category"),
        "job.department": _named("department"),
        "job.account_text": _named("account"),
        "job.limit.seconds": LIMIT,
        "job.priority": "priority",
        "job.submit": _instant("submitted"),
        "job.start": _instant("start_time"),
        "job.end": _instant("end_time"),
        "job.memory.peak.bytes": "CASE WHEN maxvmem > 0 THEN maxvmem::BIGINT END",
        "job.memory.basis": _words("CASE WHEN maxvmem > 0 THEN 'virtual' END", "virtual"),
        "job.core_seconds.allocated": "wall * slots",
        "job.core_seconds.used": "CASE WHEN wall IS NOT NULL THEN cpu END",
        "job.core_seconds.user": "CASE WHEN wall IS NOT NULL THEN ru_utime END",
        "job.core_seconds.system": "CASE WHEN wall IS NOT NULL THEN ru_stime END",
        "job.io.bytes": "CASE WHEN io > 0 THEN (io * 1073741824)::BIGINT END",
        "labels": "CASE WHEN mem > 0 OR ru_maxrss > 0 THEN concat('{\"sge.mem_gb_seconds\":', mem,"
        " ',\"sge.ru_maxrss_kib\":', ru_maxrss::BIGINT, '}') END",
    }


def _document(dataset: str, fields: dict[str, str], source: str) -> str:
    unknown = fields.keys() - DATASETS[dataset].by_name.keys()
    assert not unknown, f"{dataset} has no {unknown}"
    columns = (
        f"({fields[f.name]}){_cast(f.type, fields[f.name])} AS {quote(f.name)}"
        for f in DATASETS[dataset].fields
        if f.name in fields
    )
    return f"SELECT {', '.join(columns)} FROM {source}"


def _constant(text: str) -> str:
    """
    The same word in each row, as an ENUM: as text each row of it would be hashed.
    """
    return f"{literal(text)}::ENUM({literal(text)})"


def _cast(kind: Type, value: str) -> str:
    return "" if "::ENUM(" in value else f"::{SQL_TYPES[kind]}"


def _named(name: str) -> str:
    """
    NONE and nothing are Grid Engine's words for absent.
    """
    limit = LONGEST[Type.KEYWORD]
    return (
        f"CASE WHEN {name} IN ('NONE', '') THEN NULL"
        f" WHEN strlen({name}) > {limit} THEN left({name}, {limit}) ELSE {name} END"
    )


def _instant(name: str) -> str:
    return f"CASE WHEN {name} > 0 THEN make_timestamptz({name} * 1000000) END"


_FULL = ",".join(f'"{hour:02d}":3600' for hour in range(24)) + ","


def _hour(number: str) -> str:
    """
    "07": cut out of the text of all of them.
    """
    return f"substr({literal(_FULL)}, {number} * 10 + 1, 5)"


def _hours(zone: ZoneInfo, first: int, last: int) -> str:
    """
    Wall seconds by local hour, as JSON: the whole hours in between are cut out of one text.
    """
    begun, ended = "h0 // 3600", "(h1 - 1) // 3600"
    between = f"greatest({ended} - {begun} - 1, 0)"
    whole = f"substr({literal(_FULL)}, ({begun} + 1) * 10 + 1, {between} * 10)"
    plain = (
        f"CASE WHEN {begun} = {ended} THEN concat('{{', {_hour(begun)}, h1 - h0, '}}')"
        f" ELSE concat('{{', {_hour(begun)}, 3600 - h0 % 3600, ',', {whole},"
        f" {_hour(ended)}, (h1 - 1) % 3600 + 1, '}}') END"
    )
    if not changes(zone, first, last):
        return plain
    clock = f"(half * 1800 + {offset('half * 1800', zone, first, last)}) % 86400 // 3600"
    halves = (
        f"list_filter(range(since // 1800, (until - 1) // 1800 + 1), lambda half: {clock} = hour)"
    )
    total = (
        f"list_sum(list_transform({halves}, lambda half:"
        " least(until, (half + 1) * 1800) - greatest(since, half * 1800)))"
    )
    each = (
        "'{' || array_to_string(list_filter(list_transform(range(24), lambda hour:"
        f" '\"' || lpad(hour::VARCHAR, 2, '0') || '\":' || {total}),"
        " lambda item: item IS NOT NULL), ',') || '}'"
    )
    return f"CASE WHEN h1 - h0 = seconds THEN {plain} ELSE {each} END"
