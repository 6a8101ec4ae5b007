"""
What a Grid Engine's cell is made of: the objects qconf reads, as text.
"""

from __future__ import annotations

from pathlib import Path

ONE_WORD = "NONE"
LIMITS = ("rt", "cpu", "fsize", "data", "stack", "core", "rss", "vmem")
DEFAULTS = Path("/usr/share/gridengine/default-configuration")
# Only this narrows the ports: Grid Engine listens on every address and has no option against it.
LOOPBACK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <string.h>

int bind(int socket, const struct sockaddr *where, socklen_t size)
{
    int (*ours)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "bind");
    struct sockaddr_in narrow;
    if (where != NULL && where->sa_family == AF_INET && size >= sizeof narrow) {
        memcpy(&narrow, where, sizeof narrow);
        if (narrow.sin_addr.s_addr == htonl(INADDR_ANY)) {
            narrow.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
            return ours(socket, (struct sockaddr *)&narrow, sizeof narrow);
        }
    }
    return ours(socket, where, size);
}
"""


def bootstrap(folder: Path) -> str:
    return lines(
        admin_user="sgeadmin",
        default_domain="none",
        ignore_fqdn="true",
        spooling_method="berkeleydb",
        spooling_lib="libspoolb",
        spooling_params=folder / "spool" / "database",
        binary_path=folder / "root" / "bin",
        qmaster_spool_dir=folder / "spool" / "qmaster",
        security_mode="none",
        listener_threads=2,
        worker_threads=2,
        scheduler_threads=1,
    )


def configuration(folder: Path) -> str:
    """
    Debian's own, with quick reports, and for users that every Debian has.
    """
    changed = {
        "execd_spool_dir": folder / "spool" / "execd",
        "administrator_mail": "none",
        "mailer": "/bin/true",
        "min_uid": 0,
        "min_gid": 0,
        "load_report_time": "00:00:02",
        "reporting_params": "accounting=true reporting=false flush_time=00:00:01"
        " accounting_flush_time=00:00:00 joblog=false sharelog=00:00:00",
        "execd_params": "SET_LIB_PATH=false",
    }
    found = []
    for line in DEFAULTS.read_text().splitlines():
        name = line.split(maxsplit=1)[0] if line.strip() else ""
        found.append(f"{name} {changed[name]}" if name in changed else line)
    return "\n".join(found) + "\n"


def exec_host(host: str) -> str:
    return lines(
        hostname=host,
        load_scaling=ONE_WORD,
        complex_values=ONE_WORD,
        **dict.fromkeys(
            ("user_lists", "xuser_lists", "projects", "xprojects", "usage_scaling"), ONE_WORD
        ),
        report_variables=ONE_WORD,
    )


def parallel_environment(name: str, rule: str, *, summary: bool) -> str:
    return lines(
        pe_name=name,
        slots=99,
        user_lists=ONE_WORD,
        xuser_lists=ONE_WORD,
        start_proc_args=ONE_WORD,
        stop_proc_args=ONE_WORD,
        allocation_rule=rule,
        control_slaves="TRUE",
        job_is_first_task="FALSE",
        urgency_slots="min",
        accounting_summary="TRUE" if summary else "FALSE",
        qsort_args=ONE_WORD,
    )


def project(name: str) -> str:
    return lines(name=name, oticket=0, fshare=0, acl=ONE_WORD, xacl=ONE_WORD)


def queue(name: str, host: str, slots: int) -> str:
    nothing = (
        *("prolog", "epilog", "starter_method", "suspend_method", "resume_method"),
        *("terminate_method", "owner_list", "user_lists", "xuser_lists", "subordinate_list"),
        *("complex_values", "projects", "xprojects", "calendar", "ckpt_list"),
        *("load_thresholds", "suspend_thresholds"),
    )
    return lines(
        qname=name,
        hostlist=host,
        seq_no=0,
        nsuspend=1,
        suspend_interval="00:05:00",
        priority=0,
        min_cpu_interval="00:05:00",
        processors="UNDEFINED",
        qtype="BATCH INTERACTIVE",
        pe_list="smp mpi",
        rerun="TRUE",
        slots=slots,
        tmpdir="/tmp",
        shell="/bin/sh",
        shell_start_mode="unix_behavior",
        notify="00:00:05",
        initial_state="default",
        **dict.fromkeys(nothing, ONE_WORD),
        **{f"{kind}_{limit}": "INFINITY" for kind in "sh" for limit in LIMITS},
    )


def lines(**values: object) -> str:
    return "".join(f"{name} {value}\n" for name, value in values.items())
