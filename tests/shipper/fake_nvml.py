"""
NVIDIA's library as pynvml shows it, without a card: names, arguments and shapes of its answers.

The answers are those an A100 and an H100 give; a function that is not here does not exist in the
driver's version, and None stands for NOT_SUPPORTED.
"""

from __future__ import annotations

from types import SimpleNamespace as Answer
from typing import Any

MIB = 1 << 20


class NVMLError(Exception):
    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value


class Card:
    def __init__(self, uuid: str, **answers: Any) -> None:
        self.uuid = uuid
        self.lost = False
        self.processes: list[Answer] = []
        self.samples: list[Answer] = []
        self.instances: list[Card] = []
        self.fields: dict[Any, int] = {}
        self.answers: dict[str, Any] = {
            "Name": "NVIDIA A100-SXM4-40GB",
            "PciInfo": Answer(busId=b"00000000:07:00.0"),
            "UtilizationRates": Answer(gpu=50, memory=20),
            "MemoryInfo": Answer(used=10240 * MIB, total=40960 * MIB, free=30720 * MIB),
            "Temperature": 61,
            "PowerUsage": 250_500,
            "EnforcedPowerLimit": 400_000,
            "TotalEnergyConsumption": 1_000_000,
            "ClockInfo": 1410,
            "FanSpeed": None,
            "ComputeMode": 0,
            "PerformanceState": 0,
            "TotalEccErrors": 3,
            "RemappedRows": (0, 0, 0, 0),
            "RetiredPagesPendingStatus": None,
            **answers,
        }


class FakeNvml:
    """
    Stands in for the module `pynvml`.
    """

    NVMLError = NVMLError
    NVML_ERROR_NOT_SUPPORTED, NVML_ERROR_NOT_FOUND = 3, 6
    NVML_ERROR_TIMEOUT, NVML_ERROR_GPU_IS_LOST = 10, 15
    NVML_FI_DEV_PCIE_COUNT_TX_BYTES, NVML_FI_DEV_PCIE_COUNT_RX_BYTES = 197, 198
    NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX = 138, 139
    nvmlEventTypeXidCriticalError = 8  # noqa: N815

    def __init__(self, *cards: Card, works: bool = True) -> None:
        self.cards = list(cards)
        self.works = works
        self.events: list[Answer] = []

    def nvmlInit(self) -> None:  # noqa: N802
        if not self.works:
            raise NVMLError(9)

    def nvmlShutdown(self) -> None:  # noqa: N802
        pass

    def nvmlSystemGetDriverVersion(self) -> bytes:  # noqa: N802
        return b"550.54.15"

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return len(self.cards)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> Card:  # noqa: N802
        if self.cards[index].lost:
            raise NVMLError(self.NVML_ERROR_GPU_IS_LOST)
        return self.cards[index]

    def nvmlDeviceGetUUID(self, card: Card) -> str:  # noqa: N802
        return card.uuid

    def nvmlDeviceGetMigMode(self, card: Card) -> list[int]:  # noqa: N802
        return [1, 1] if card.instances else [0, 0]

    def nvmlDeviceGetMaxMigDeviceCount(self, card: Card) -> int:  # noqa: N802
        return 7

    def nvmlDeviceGetMigDeviceHandleByIndex(self, card: Card, index: int) -> Card:  # noqa: N802
        if index >= len(card.instances):
            raise NVMLError(self.NVML_ERROR_NOT_FOUND)
        return card.instances[index]

    def nvmlDeviceGetComputeRunningProcesses(self, card: Card) -> list[Answer]:  # noqa: N802
        return card.processes

    def nvmlDeviceGetGraphicsRunningProcesses(self, card: Card) -> list[Answer]:  # noqa: N802
        raise NVMLError(self.NVML_ERROR_NOT_SUPPORTED)

    def nvmlDeviceGetProcessUtilization(self, card: Card, since: int) -> list[Answer]:  # noqa: N802
        if card.instances:
            raise NVMLError(self.NVML_ERROR_NOT_SUPPORTED)
        found = [sample for sample in card.samples if sample.timeStamp > since]
        if not found:
            raise NVMLError(self.NVML_ERROR_NOT_FOUND)
        return found

    def nvmlDeviceGetFieldValues(self, card: Card, fields: list[Any]) -> list[Answer]:  # noqa: N802
        return [
            Answer(nvmlReturn=0, value=Answer(ullVal=card.fields[field]))
            if field in card.fields
            else Answer(nvmlReturn=3, value=Answer(ullVal=0))
            for field in fields
        ]

    def nvmlEventSetCreate(self) -> str:  # noqa: N802
        return "events"

    def nvmlDeviceRegisterEvents(self, card: Card, kinds: int, events: str) -> None:  # noqa: N802
        assert kinds == self.nvmlEventTypeXidCriticalError

    def nvmlEventSetWait_v2(self, events: str, timeout: int) -> Answer:  # noqa: N802
        if not self.events:
            raise NVMLError(self.NVML_ERROR_TIMEOUT)
        return self.events.pop(0)

    def __getattr__(self, name: str) -> Any:
        """
        nvmlDeviceGetX of a card: what it answers, or NOT_SUPPORTED.
        """
        if not name.startswith("nvmlDeviceGet"):
            raise AttributeError(name)

        def ask(card: Card, *arguments: Any) -> Any:
            answer = card.answers.get(name.removeprefix("nvmlDeviceGet"))
            if answer is None:
                raise NVMLError(self.NVML_ERROR_NOT_SUPPORTED)
            return answer

        return ask


def process(pid: int, mebibytes: int | None) -> Answer:
    return Answer(pid=pid, usedGpuMemory=None if mebibytes is None else mebibytes * MIB)


def sample(pid: int, time: int, percent: int) -> Answer:
    return Answer(pid=pid, timeStamp=time, smUtil=percent, memUtil=1)
