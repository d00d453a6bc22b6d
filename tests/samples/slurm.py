"""Small output of Slurm's commands in their formats, one file each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HEADER = (
    "JobID|JobIDRaw|JobName|User|Account|Cluster|Partition|QOS|State|Reason|Submit|Eligible|Start|End|ElapsedRaw|AllocNodes|NodeList|AllocCPUS|"
    "AllocTRES|ExitCode|Comment"
)


def sacct(*records: dict[str, str], delimiter: str = "|") -> str:
    """What `sacct -P` prints of some records; a column that a record does not have is empty."""
    names = HEADER.split("|")
    rows = [delimiter.join(record.get(name, "") for name in names) for record in records]
    return "\n".join([delimiter.join(names), *rows]) + "\n"


JOB = {
    "JobID": "501", "JobIDRaw": "501", "JobName": "train", "User": "ada", "Account": "lab", "Cluster": "c1", "Partition": "gpu", "QOS": "normal",
    "State": "COMPLETED", "Reason": "None", "Submit": "2026-03-01T23:50:00", "Eligible": "2026-03-01T23:50:00", "Start": "2026-03-01T23:58:20",
    "End": "2026-03-02T01:10:40", "ElapsedRaw": "4340", "AllocNodes": "3", "NodeList": "n[08-10]", "AllocCPUS": "96",
    "AllocTRES": "billing=96,cpu=96,gres/gpu=24,mem=300G,node=3", "ExitCode": "0:0",
}
STEP = {
    "JobID": "501.batch", "JobIDRaw": "501.batch", "JobName": "batch", "Account": "lab", "Cluster": "c1", "State": "COMPLETED",
    "Submit": "2026-03-01T23:58:20", "Eligible": "2026-03-01T23:58:20", "Start": "2026-03-01T23:58:20", "End": "2026-03-02T01:10:40",
    "ElapsedRaw": "4340", "AllocNodes": "1", "NodeList": "n08", "AllocCPUS": "32", "ExitCode": "0:0",
}
CANCELLED = JOB | {
    "JobID": "502_7", "JobIDRaw": "510", "State": "CANCELLED by 1001", "Start": "None", "End": "2026-03-02T00:00:00", "ElapsedRaw": "0",
    "AllocNodes": "0", "NodeList": "None assigned", "AllocTRES": "", "AllocCPUS": "0", "Submit": "2026-03-01T23:55:00", "Eligible": "Unknown",
}
RUNNING = JOB | {"JobID": "503", "JobIDRaw": "503", "State": "RUNNING", "End": "Unknown", "Comment": "first line\nsecond | no\u2028line"}

SCONTROL = """\
JobId=601 ArrayJobId=600 ArrayTaskId=1 JobName=my job
   UserId=ada(1001) GroupId=ada(1001) MCS_label=N/A
   Priority=1000 Nice=0 Account=lab QOS=normal
   JobState=RUNNING Reason=None Dependency=(null)
   Requeue=1 Restarts=2 BatchFlag=1 Reboot=0 ExitCode=0:0
   SubmitTime=2026-03-02T08:00:00 EligibleTime=2026-03-02T08:00:00
   StartTime=2026-03-02T08:30:00 EndTime=2026-03-03T08:30:00 Deadline=N/A
   Partition=gpu AllocNode:Sid=login1:77
   NodeList=n[01-02,05]
   NumNodes=3 NumCPUs=96 NumTasks=3 CPUs/Task=32 ReqB:S:C:T=0:0:*:*
   AllocTRES=cpu=96,mem=300G,node=3,billing=96,gres/gpu=20
   JOB_GRES=gpu:a100:20
     Nodes=n[01-02] CPU_IDs=0-31 Mem=1000 GRES=gpu:a100:8(IDX:0-7)
     Nodes=n05 CPU_IDs=0-31 Mem=1000 GRES=gpu:a100:4(IDX:0-3)
   Command=/home/ada/run.sh --mode=fast

NodeName=n01 Arch=x86_64 CoresPerSocket=16
   CPUAlloc=32 CPUTot=64 CPULoad=31.02
   Gres=gpu:a100:8
   State=MIXED+DRAIN* ThreadsPerCore=2
   Partitions=gpu,long
   CfgTRES=cpu=64,mem=500G,billing=64,gres/gpu=8
   AllocTRES=cpu=32,gres/gpu=3
   Reason=ECC errors [root@2026-03-02T07:15:00]
PartitionName=gpu AllowGroups=ALL Default=YES Nodes=n[01-16] State=UP TotalCPUs=1024 TotalNodes=16 TRES=cpu=1024,node=16,gres/gpu=128
"""
CLOUD = """\
NodeName=p01 Arch=x86_64 CoresPerSocket=16
   CPUAlloc=0 CPUTot=64 CPULoad=0
   State=IDLE+CLOUD+POWERED_DOWN ThreadsPerCore=2
   Partitions=cloud
   CfgTRES=cpu=64,mem=500G,billing=64,gres/gpu=8

NodeName=p02 Arch=x86_64 CoresPerSocket=16
   CPUAlloc=0 CPUTot=64 CPULoad=0
   State=DOWN*+DRAIN ThreadsPerCore=2
   Partitions=cloud
   CfgTRES=cpu=64,mem=500G,billing=64,gres/gpu=8
   Reason=Not responding [root@2026-03-02T07:15:00]

PartitionName=cloud
   AllowGroups=ALL AllowAccounts=ALL
   Nodes=p[01-02] State=UP TotalCPUs=128 TotalNodes=2
   TRES=cpu=128,node=2,gres/gpu=16
"""


def number(value: int | None) -> dict[str, Any]:
    """A number as newer versions have it."""
    return {"set": value is not None, "infinite": False, "number": value or 0}


SQUEUE = {
    "jobs": [
        {
            "account": "lab", "association_id": 4, "array_job_id": number(None), "array_task_id": number(None), "array_task_string": "",
            "cluster": "c1", "eligible_time": number(1772400000), "end_time": number(1772490000), "job_id": 701, "job_state": ["RUNNING"],
            "name": "serve", "nodes": "n[03-04]", "node_count": number(2), "cpus": number(64), "partition": "gpu", "restart_cnt": 1,
            "exit_code": {"status": ["SUCCESS"], "return_code": number(0), "signal": {"id": number(None), "name": ""}},
            "start_time": number(1772400600), "state_reason": "None", "submit_time": number(1772400000),
            "tres_alloc_str": "cpu=64,mem=100G,node=2,billing=64,gres/gpu=16", "user_name": "ada", "qos": "normal",
        },
        {
            "account": "lab", "association_id": 4, "array_job_id": number(702), "array_task_id": number(None), "array_task_string": "1-10",
            "cluster": "c1", "eligible_time": number(0), "end_time": number(0), "job_id": 702, "job_state": ["PENDING"], "name": "sweep",
            "nodes": "", "node_count": number(1), "cpus": number(1), "partition": "gpu", "restart_cnt": 0, "start_time": number(1772499999),
            "state_reason": "Priority", "submit_time": number(1772400100), "tres_alloc_str": "", "user_name": "ada", "qos": "normal",
        },
    ],
    "last_update": number(1772401000),
    "meta": {"slurm": {"version": {"major": "24", "micro": "5", "minor": "05"}, "release": "24.05.5"}},
}


def accounted(job_id: int, **more: Any) -> dict[str, Any]:
    """A job of `sacct --json`, which names things as slurmdbd does."""
    return {
        "account": "lab", "allocation_nodes": 2, "array": {"job_id": 800, "task_id": number(7), "task": ""}, "cluster": "c1", "job_id": job_id,
        "association": {"account": "lab", "cluster": "c1", "partition": "", "user": "ada"}, "name": "train", "nodes": "n[01-02]",
        "exit_code": {"status": ["ERROR"], "return_code": number(1), "signal": {"id": number(None), "name": ""}}, "partition": "gpu",
        "qos": "normal", "kill_request_user": "", "state": {"current": ["COMPLETED"], "reason": "None"},
        "time": {"elapsed": 3600, "eligible": 1772400000, "end": 1772404200, "start": 1772400600, "submission": 1772400000, "suspended": 0},
        "tres": {"allocated": [
            {"type": "cpu", "name": "", "id": 1, "count": 64}, {"type": "gres", "name": "gpu", "id": 1001, "count": 16},
            {"type": "gres", "name": "gpu:a100", "id": 1002, "count": 16},
        ]},
        "user": "ada", "steps": [{"step": {"id": f"{job_id}.batch"}, "nodes": {"count": 1}}],
    } | more


SACCT_JSON = {
    "jobs": [
        accounted(801),
        accounted(
            802, array={"job_id": 800, "task_id": number(None), "task": "8-9"}, state={"current": "PENDING", "reason": "Priority"}, nodes="None assigned",
            time={"elapsed": 0, "eligible": 1772400000, "end": 0, "start": 0, "submission": 1772400000}, tres={"allocated": []}, allocation_nodes=0,
        ),
    ],
    "meta": {"Slurm": {"release": "23.11.4"}, "command": ["sacct", "--json"]},
}
SINFO = {
    "meta": {"Slurm": {"version": {"major": 21, "micro": 5, "minor": 8}, "release": "21.08.5"}},
    "nodes": [
        {
            "name": name, "state": state, "state_flags": flags, "partitions": ["gpu"], "cpus": 64, "alloc_cpus": 32, "gres": "gpu:a100:8",
            "gres_used": f"gpu:a100:{used}(IDX:0-{used})", "reason": reason, "reason_changed_at": since, "mcs_label": "", "tres": "cpu=64,gres/gpu=8",
            "tres_used": f"cpu=32,gres/gpu={used}",
        }
        for name, state, flags, used, reason, since in (
            ("n01", "mixed", [], 3, "", 0), ("n02", "idle", ["DRAIN"], 1, "bad fan", 1772390000), ("n03", "down", ["NOT_RESPONDING"], 2, "lost", 1772390100),
        )
    ],
}
GROUPS = {
    "sinfo": [
        {
            "node": {"state": ["IDLE", "DRAIN"]}, "nodes": {"allocated": 1, "idle": 1, "other": 3, "total": 5, "nodes": ["n[01-05]"]},
            "partition": {"name": "gpu", "partition": {"state": ["UP"]}},
        },
    ],
    "meta": {"slurm": {"release": "23.11.4"}},
}
SDIAG = {
    "statistics": {
        "parts_packed": 1, "req_time": number(1772401000), "req_time_start": number(1772323200), "jobs_submitted": 500, "jobs_pending": 120,
        "jobs_running": 44, "schedule_cycle_max": 9000, "schedule_cycle_last": 812, "bf_active": False, "schedule_exit": {"end_job_queue": 70},
        "rpcs_by_message_type": [{"message_type": "REQUEST_PING", "type_id": 1008, "count": 3, "average_time": number(43), "total_time": 129}],
    },
    "meta": {"slurm": {"release": "24.05.5"}},
}
TABLE = """\
PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST
gpu*         up 2-00:00:00      2  drain n[01-02]
gpu*         up 2-00:00:00      7    mix n[03-09]
cpu        down   infinite      4   idle c[1-4]
"""


def write_all(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "sacct.txt").write_text(sacct(JOB, STEP, CANCELLED, RUNNING, delimiter="|#"))
    (folder / "scontrol.txt").write_text(SCONTROL)
    (folder / "sinfo.txt").write_text(TABLE)
    for name, document in {"squeue": SQUEUE, "sinfo": SINFO, "groups": GROUPS, "sdiag": SDIAG}.items():
        (folder / f"{name}.json").write_text(json.dumps(document, indent=1))
