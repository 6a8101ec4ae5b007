"""
The configuration of the real Slurm of the tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def slurmdbd_conf(folder: Path, host: str, ports: Sequence[int]) -> str:
    return f"""\
AuthType=auth/munge
AuthInfo=socket={folder}/munge/sock
DbdHost={host}
DbdAddr=127.0.0.1
DbdPort={ports[1]}
CommunicationParameters=NoInAddrAny
SlurmUser=root
PidFile={folder}/run/slurmdbd.pid
LogFile={folder}/log/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={ports[0]}
StorageUser=slurm
StoragePass=test
StorageLoc=slurm_acct_db
"""


def slurm_conf(folder: Path, host: str, ports: Sequence[int], nodes: int) -> str:
    """
    Small waits everywhere; nodes claim more than the machine has (config_overrides).
    """
    lines = [
        f"NodeName=n{number} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2 + number]}"
        " Sockets=2 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=32000"
        f" Gres=gpu:{card(number)}:2 Feature={card(number)},test Weight={number}"
        for number in range(1, nodes + 1)
    ]
    return f"""\
ClusterName=leadtest
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[2]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge/sock,cred_expire=5
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/run/slurmctld.pid
SlurmdPidFile={folder}/run/slurmd.%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd.%n.log
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={ports[1]}
AccountingStoragePass=socket={folder}/munge/sock
AccountingStorageTRES=gres/gpu,gres/gpu:rtx8000,gres/gpu:a100
AccountingStorageEnforce=associations,limits,qos
PreemptType=preempt/qos
PreemptMode=REQUEUE
SchedulerParameters=bf_interval=1,sched_interval=1,sched_min_interval=100000,batch_sched_delay=0,requeue_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=256
SlurmdParameters=config_overrides
KillWait=2
MinJobAge=3600
ReturnToService=1
JobRequeue=1
EpilogMsgTime=0
GresTypes=gpu
{chr(10).join(lines)}
PartitionName=batch Nodes=n[1-{nodes}] Default=YES MaxTime=1-00:00:00 DefaultTime=00:10:00 State=UP
PartitionName=gpu Nodes=n[1-2] MaxTime=04:00:00 DefaultTime=00:05:00 State=UP
"""


def gres_conf(folder: Path, nodes: int) -> str:
    """
    A line without File= counts as no device; any character device will do.
    """
    lines = [
        f"NodeName=n{number} Name=gpu Type={card(number)} File={folder}/dev/card[0-1]"
        for number in range(1, nodes + 1)
    ]
    return "AutoDetect=off\n" + "\n".join(lines) + "\n"


def card(number: int) -> str:
    return "rtx8000" if number <= 2 else "a100"
