"""
What others get wrong, and the test of ours that would fail if we did: one line for each fault.
"""

from __future__ import annotations

HERE = "tests/query/test_faults.py"
ACCOUNTED = "tests/query/test_accounted.py"
ANSWER = "tests/query/test_answer.py"
PERIODS = "tests/query/test_periods.py"
UTILISED = "tests/query/test_utilised.py"
JOB = "tests/reports/test_job.py"
PROCESS = "tests/shipper/test_process.py"
SACCT = "tests/enrich/backfill/test_sacct.py"
ASKED = "tests/enrich/backfill/test_sacct_live.py"
VALUES = "tests/formats/test_sacct.py"
LIVE = "tests/shipper/slurm/test_sacct.py"
SGE = "tests/enrich/backfill/test_sge.py"
GOLDEN = f"{SGE}::test_golden"
CASES = "tests/enrich/backfill/cases/sge"
SONAR = "tests/enrich/backfill/test_sonar.py"
IDENTITY = "tests/enrich/test_identity.py"
MATCH = "tests/enrich/rules/test_match.py"
GRES = "tests/formats/test_gres.py"

FAULTS: tuple[tuple[str, str], ...] = (
    ("a cumulative CPU counter is summed over samples", f"{SONAR}::test_totals_become_differences"),
    ("so are bytes read", f"{SONAR}::test_totals_become_differences"),
    (
        "a counter is summed by our own shipper",
        f"{PROCESS}::test_core_seconds_are_deltas_and_add_up",
    ),
    ("a condition on the peak is put on the average", f"{HERE}::test_a_peak_is_no_average"),
    ("two nodes are divided by twice", f"{JOB}::test_a_two_node_job_is_not_divided_twice"),
    (
        "CANCELLED by somebody is not CANCELLED",
        f"{LIVE}::test_who_cancelled_is_no_part_of_the_state",
    ),
    ("nor is it in a dump", f"{VALUES}::test_values"),
    ("45:21.005 of CPU is read as 2,700 s", f"{VALUES}::test_values"),
    ("sacct's times get today's offset", f"{VALUES}::test_values"),
    ("memory of the run is read as per node", f"{LIVE}::test_memory_asked_for_is_of_the_whole_run"),
    ("others are an average of averages", f"{ANSWER}::test_others_of_a_mean_is_no_mean_of_means"),
    ("others of an efficiency too", f"{ACCOUNTED}::test_others_of_an_efficiency_come_from_sums"),
    ("parts do not add to the total", f"{ANSWER}::test_top_and_others_make_the_total"),
    ("distinct counts are added up", f"{ANSWER}::test_distinct_users_are_not_added_up"),
    ("an idle cluster is no capacity", f"{UTILISED}::test_an_idle_cluster_is_in_the_denominator"),
    ("downtime is ignored", f"{UTILISED}::test_downtime_is_lost_and_told_apart"),
    ("a standard error is called deviation", f"{HERE}::test_nothing_is_called_a_deviation"),
    ("GPU size comes from cores", f"{HERE}::test_gpu_hours_come_from_gpus"),
    ("quarter to date on 31 May", f"{PERIODS}::test_quarter_to_date_asked_on_the_31st"),
    ("previous quarter on 31 July or August", f"{PERIODS}::test_calendar_periods"),
    ("periods on the 29th to 31st and 29 February", f"{PERIODS}::test_calendar_periods"),
    ("a job number that wrapped around is lost", f"{CASES}/wrap_around_and_rerun"),
    ("reruns merge into one long job", f"{CASES}/wrap_around_and_rerun"),
    ("a requeue merges into one long job", f"{SACCT}::test_a_requeued_job_is_two_runs"),
    ("a second cluster vanishes", f"{HERE}::test_one_number_on_two_clusters_is_two_jobs"),
    ("UGE writes milliseconds", f"{CASES}/uge_milliseconds_and_more_fields"),
    ("lines of 43 fields", f"{CASES}/6.2_43_fields"),
    ("lines of 46 fields", f"{CASES}/46_fields"),
    ("one line for each host", f"{CASES}/one_line_for_each_host"),
    ("start_time is 0", f"{CASES}/8.1.9_real_jobs"),
    ("a colon in a name shifts the fields", f"{CASES}/colons_in_names"),
    (
        "separators in sacct's names shift the fields",
        f"{SACCT}::test_names_with_separators_shift_nothing",
    ),
    ("records that come late are missed", f"{ASKED}::test_the_next_call_overlaps_the_last_one"),
    ("corrected records never update", f"{SACCT}::test_a_corrected_end_takes_its_days_back"),
    ("GPUs are counted from one token, or twice", f"{GRES}::test_nothing_is_counted_twice"),
    ("and so in TRES", f"{VALUES}::test_values"),
    ("a run over an edge is booked on its start", f"{ACCOUNTED}::test_what_counts_in_a_month"),
    ("a run that ends at midnight ran in the new day", f"{ACCOUNTED}::test_what_counts_in_a_month"),
    ("a pattern matches inside a word", f"{MATCH}::test_patterns_stop_at_word_borders"),
    ("no sample is 0 %", f"{JOB}::test_nothing_measured_is_not_zero_percent"),
    ("one sample is 0 % or 100 %", f"{HERE}::test_one_sample_without_a_difference_is_no_share"),
    (
        "NaN is a number",
        "tests/formats/test_validate.py::test_not_a_number_is_refused_whatever_its_shape",
    ),
    (
        "a change of group restates history",
        f"{IDENTITY}::test_change_of_group_takes_no_history_along",
    ),
    ("an unknown user is dropped", f"{IDENTITY}::test_step_keeps_whom_nobody_knows"),
    ("or dropped on the node", "tests/shipper/test_faults.py::test_an_unknown_user_keeps_a_name"),
)
