"""
Collector `nvidia`: each NVIDIA card, its MIG instances, NVLink and processes, by NVML.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from leadline.formats import Document
from shipper.collectors.contract import Collector, Gear, Tick, UnavailableError
from shipper.system import System

ALL_LINKS = 0xFFFFFFFF
CORE_CLOCK, MEMORY_CLOCK = 1, 2  # SM and memory, of NVML's clock types
CORRECTED, UNCORRECTED, SINCE_EVER = 0, 1, 1
COMPUTE_MODES = {0: "default", 1: "exclusive thread", 2: "prohibited", 3: "exclusive process"}
# XIDs that a program causes by its own fault: the card is fine.
PROGRAM_XIDS = frozenset({13, 31, 43, 45, 68, 69})
DRIVER = ("/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg")
VENDOR = "0x10de"


class CardLostError(Exception):
    """
    The driver has lost the card: fallen off the bus, or waiting for a reset.
    """


class NvidiaCollector:
    def __init__(self, gear: Gear, nvml: Any) -> None:
        self._nvml = nvml
        self._counters = gear.counters
        self._events = self._ask("nvmlEventSetCreate")
        self._listening: set[int] = set()
        self._driver = _text(self._ask("nvmlSystemGetDriverVersion"))
        self._known: dict[int, Document] = {}  # who a card is, for when it is lost
        self._reported: dict[str, int] = {}  # time of the last process sample, by card
        self._xids: dict[str, set[int]] = {}

    def __call__(self, tick: Tick) -> Iterator[Document]:
        self._hear()
        for index in range(self._ask("nvmlDeviceGetCount") or 0):
            try:
                handle = self._ask("nvmlDeviceGetHandleByIndex", index)
                if handle is not None:
                    yield from self._card(index, handle, tick)
                    continue
                reason = "the driver gives no access"
            except CardLostError as lost:
                reason = str(lost)
            if index in self._known:
                yield {**self._known[index], "gpu.failing": True, "gpu.failing_reason": reason}

    def close(self) -> None:
        self._ask("nvmlShutdown")

    def _card(self, index: int, handle: Any, tick: Tick) -> Iterator[Document]:
        ask = self._ask
        uuid = _text(ask("nvmlDeviceGetUUID", handle))
        if uuid is None:
            return
        self._listen(index, handle)
        identity: Document = {
            "dataset": "gpu",
            "gpu.uuid": uuid,
            "gpu.index": index,
            "gpu.vendor": "nvidia",
        }
        if model := _text(ask("nvmlDeviceGetName", handle)):
            identity["gpu.model"] = model
        if self._driver:
            identity["gpu.driver"] = self._driver
        if (pci := ask("nvmlDeviceGetPciInfo", handle)) is not None:
            identity["gpu.address"] = _text(pci.busId) or ""
        self._known[index] = identity
        made = {**identity, **self._state(handle), **self._growth(handle, uuid)}
        made.update(self._health(handle, uuid))
        percent = made.get("gpu.percent")
        if isinstance(percent, int | float) and tick.interval:
            made["gpu_seconds"] = round(percent / 100 * tick.interval, 3)
        instances = list(self._instances(handle, identity))
        processes = list(self._processes(handle, uuid, identity, instances, tick))
        made["gpu.processes"] = len({document["process.pid"] for document in processes})
        yield made
        yield from (instance for _, instance in instances)
        yield from processes
        yield from self._links(handle, index)

    def _state(self, handle: Any) -> Document:
        """
        What is true now.
        """
        ask, made = self._ask, _Fields()
        if (use := ask("nvmlDeviceGetUtilizationRates", handle)) is not None:
            made.put("gpu.percent", use.gpu)
            made.put("gpu.memory.busy.percent", use.memory)
        made.update(_memory(ask("nvmlDeviceGetMemoryInfo", handle)))
        made.put("temperature.celsius", ask("nvmlDeviceGetTemperature", handle, 0))
        made.put("power.watts", ask("nvmlDeviceGetPowerUsage", handle), 0.001)
        made.put("power.limit.watts", ask("nvmlDeviceGetEnforcedPowerLimit", handle), 0.001)
        made.put("gpu.clock.core", ask("nvmlDeviceGetClockInfo", handle, CORE_CLOCK))
        made.put("gpu.clock.memory", ask("nvmlDeviceGetClockInfo", handle, MEMORY_CLOCK))
        made.put("gpu.fan.percent", ask("nvmlDeviceGetFanSpeed", handle))
        mode = ask("nvmlDeviceGetComputeMode", handle)
        if mode in COMPUTE_MODES:
            made["gpu.mode"] = COMPUTE_MODES[mode]
        state = ask("nvmlDeviceGetPerformanceState", handle)
        if state is not None and 0 <= state <= 15:  # 32: unknown
            made["gpu.performance_state"] = f"P{state}"
        return made

    def _growth(self, handle: Any, uuid: str) -> Document:
        """
        What was counted since the last tick.
        """
        ask, made = self._ask, _Fields()
        energy = ask("nvmlDeviceGetTotalEnergyConsumption", handle)  # mJ
        made.put("energy.joules", self._counters.delta(f"gpu.{uuid}.energy", energy), 0.001)
        for field, kind in (("corrected", CORRECTED), ("uncorrected", UNCORRECTED)):
            errors = ask("nvmlDeviceGetTotalEccErrors", handle, kind, SINCE_EVER)
            made.put(f"gpu.ecc.{field}", self._counters.whole(f"gpu.{uuid}.{field}", errors))
        nvml = self._nvml
        for field, name in (
            ("gpu.pcie.in.bytes", "NVML_FI_DEV_PCIE_COUNT_RX_BYTES"),
            ("gpu.pcie.out.bytes", "NVML_FI_DEV_PCIE_COUNT_TX_BYTES"),
        ):
            value = self._field(handle, getattr(nvml, name, None))
            made.put(field, self._counters.whole(f"gpu.{uuid}.{field}", value))
        return made

    def _health(self, handle: Any, uuid: str) -> Document:
        """
        Failing: rows of memory that could not be remapped or wait for it, pages about to be
        retired, or an XID that no program causes, heard since the shipper started.
        """
        reasons = []
        rows = self._ask("nvmlDeviceGetRemappedRows", handle)  # corrected, not, pending, failed
        if rows is not None and rows[3]:
            reasons.append("row remapping failed")
        if rows is not None and rows[2]:
            reasons.append("row remapping pending, reset the card")
        if self._ask("nvmlDeviceGetRetiredPagesPendingStatus", handle):
            reasons.append("page retirement pending")
        if xids := self._xids.get(uuid):
            reasons.append("XID " + ", ".join(map(str, sorted(xids))))
        if not reasons:
            return {"gpu.failing": False}
        return {"gpu.failing": True, "gpu.failing_reason": "; ".join(reasons)}

    def _instances(self, handle: Any, identity: Document) -> Iterator[tuple[Any, Document]]:
        """
        MIG instances: cards of their own but for what only the whole card can tell.
        """
        mode = self._ask("nvmlDeviceGetMigMode", handle)
        if not mode or not mode[0]:
            return
        for number in range(self._ask("nvmlDeviceGetMaxMigDeviceCount", handle) or 0):
            instance = self._ask("nvmlDeviceGetMigDeviceHandleByIndex", handle, number)
            uuid = _text(self._ask("nvmlDeviceGetUUID", instance)) if instance else None
            if uuid is None:
                continue
            name = _text(self._ask("nvmlDeviceGetName", instance)) or ""
            made: Document = {**identity, "gpu.uuid": uuid}
            made["gpu.mig"] = name.rpartition("MIG ")[2] or str(number)
            made.update(_memory(self._ask("nvmlDeviceGetMemoryInfo", instance)))
            yield instance, made

    def _processes(
        self,
        handle: Any,
        uuid: str,
        identity: Document,
        instances: list[tuple[Any, Document]],
        tick: Tick,
    ) -> Iterator[Document]:
        use = self._process_use(handle, uuid)
        total = getattr(self._ask("nvmlDeviceGetMemoryInfo", handle), "total", None)
        cards: list[tuple[Any, Document]] = instances or [(handle, identity)]
        for card, about in cards:
            held: dict[int, int | None] = {}
            for kind in ("Compute", "Graphics"):
                for process in self._ask(f"nvmlDeviceGet{kind}RunningProcesses", card) or ():
                    held[process.pid] = getattr(process, "usedGpuMemory", None)
            for pid, memory in held.items():
                made = _Fields(
                    {k: v for k, v in about.items() if k in _CARD} | {"dataset": "process_gpu"}
                )
                made["process.pid"] = pid
                made.put("gpu.memory.bytes", memory)
                if memory and total and not instances:
                    made["gpu.memory.percent"] = round(100 * memory / total, 2)
                # Without a sample a process did nothing; under MIG nobody knows.
                if use is not None and not instances:
                    percent = use.get(pid, 0.0)
                    made["gpu.percent"] = percent
                    if tick.interval:
                        made["gpu_seconds"] = round(percent / 100 * tick.interval, 3)
                yield made

    def _process_use(self, handle: Any, uuid: str) -> dict[int, float] | None:
        """
        Mean utilisation by process since the last tick; None where the card does not tell.
        """
        since = self._reported.get(uuid, 0)
        try:
            samples = self._nvml.nvmlDeviceGetProcessUtilization(handle, since)
        except self._nvml.NVMLError as error:
            # NOT_FOUND: no process did anything since.
            return {} if error.value == self._nvml.NVML_ERROR_NOT_FOUND else None
        shares: dict[int, list[float]] = {}
        for sample in samples:
            if sample.smUtil <= 100 and sample.timeStamp > since:
                shares.setdefault(sample.pid, []).append(float(sample.smUtil))
                self._reported[uuid] = max(self._reported.get(uuid, 0), sample.timeStamp)
        return {pid: round(sum(each) / len(each), 1) for pid, each in shares.items()}

    def _links(self, handle: Any, index: int) -> Iterator[Document]:
        """
        NVLink: all links of a card together; the counters are KiB of data.
        """
        nvml, made = self._nvml, _Fields()
        for way, name in (
            ("out", "NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX"),
            ("in", "NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX"),
        ):
            field = getattr(nvml, name, None)
            value = self._field(handle, (field, ALL_LINKS)) if field is not None else None
            if value is None:
                return
            grown = self._counters.whole(f"nvlink.{index}.{way}", value)
            made.put(f"network.{way}.bytes", grown, 1024)
        yield {
            "dataset": "network",
            "interface.name": f"nvlink/gpu{index}",
            "interface.kind": "nvlink",
            **made,
        }

    def _field(self, handle: Any, field: object) -> int | None:
        if field is None:
            return None
        values = self._ask("nvmlDeviceGetFieldValues", handle, [field])
        if not values or values[0].nvmlReturn != 0:
            return None
        return int(values[0].value.ullVal)

    def _listen(self, index: int, handle: Any) -> None:
        if self._events is not None and index not in self._listening:
            self._listening.add(index)
            kind = getattr(self._nvml, "nvmlEventTypeXidCriticalError", 8)
            self._ask("nvmlDeviceRegisterEvents", handle, kind, self._events)

    def _hear(self) -> None:
        """
        XIDs that came since the last tick; a card that fails does not heal by itself.
        """
        for _ in range(64):
            event = self._ask("nvmlEventSetWait_v2", self._events, 0) if self._events else None
            if event is None:
                return
            uuid = _text(self._ask("nvmlDeviceGetUUID", event.device))
            if uuid is not None and event.eventData not in PROGRAM_XIDS:
                self._xids.setdefault(uuid, set()).add(int(event.eventData))

    def _ask(self, function: str, *arguments: Any) -> Any:
        """
        None for what this card, driver or library does not tell.
        """
        call: Callable[..., Any] | None = getattr(self._nvml, function, None)
        if call is None:
            return None
        try:
            return call(*arguments)
        except self._nvml.NVMLError as error:
            if error.value == self._nvml.NVML_ERROR_GPU_IS_LOST:
                raise CardLostError("the card is lost: it has fallen off the bus") from None
            return None


_CARD = frozenset({"gpu.uuid", "gpu.index", "gpu.vendor", "gpu.model", "gpu.mig"})


class _Fields(dict[str, object]):
    def put(self, name: str, value: float | None, scale: float = 1) -> None:
        if value is not None and value >= 0:
            self[name] = value if scale == 1 else round(value * scale, 3)


def _memory(info: Any) -> Document:
    if info is None:
        return {}
    found: Document = {"gpu.memory.bytes": info.used, "gpu.memory.total.bytes": info.total}
    if info.total:
        found["gpu.memory.percent"] = round(100 * info.used / info.total, 2)
    return found


def _text(value: object) -> str | None:
    """
    Older libraries answer bytes.
    """
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return value if isinstance(value, str) and value else None


def pynvml() -> Any:
    import pynvml as library

    return library


def may_have_cards(system: System) -> bool:
    """
    Whether to ask NVML at all: its library is 1.5 MB that stays on a node without a card. A driver
    that is not loaded yet is loaded by NVML, so the bus counts as well.
    """
    if system.platform != "linux" or any(system.stat(path) for path in DRIVER):
        return True
    bus = "/sys/bus/pci/devices"
    return any(system.text(f"{bus}/{name}/vendor") == VENDOR for name in system.entries(bus))


def build(gear: Gear) -> Collector:
    if "nvidia" not in gear.settings.gpu.vendors:
        raise UnavailableError("collect.gpu.vendors leaves it out")
    if not may_have_cards(gear.system):
        raise UnavailableError("no NVIDIA card on the PCI bus, and no driver of one")
    library: Any = gear.system.library(pynvml)
    if library is None:
        raise UnavailableError("nvidia-ml-py is not installed: pip install leadline[nvidia]")
    try:
        library.nvmlInit()
    except library.NVMLError as error:
        raise UnavailableError(f"NVML does not start: {error}") from None
    return NvidiaCollector(gear, library)
