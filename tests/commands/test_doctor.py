"""`leadline doctor` says what is in force and what is wrong."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from leadline.commands import cli


def doctor(tmp_path: Path, *options: str) -> tuple[int, str]:
    data = ("--set", f"paths.data={tmp_path / 'data'}")
    done = CliRunner().invoke(cli, [*data, *options, "doctor"])
    return done.exit_code, done.output


def test_healthy_machine_is_ok(tmp_path: Path) -> None:
    """
    Missing options are told with their remedy and are no failure.
    """
    code, output = doctor(tmp_path)
    assert 0 == code, output
    assert f"lake:{tmp_path / 'data' / 'lake'}" in output
    assert "pip install 'leadline[slurm]'" in output


def test_changed_settings_are_listed_and_secrets_are_not(tmp_path: Path) -> None:
    """
    What differs from the defaults is printed; a token is not.
    """
    code, output = doctor(tmp_path, "--set", "clusters.fox.token=hunter2")
    assert 0 == code, output
    assert "clusters.fox.token = (set)" in output
    assert "hunter2" not in output


def test_folder_that_cannot_be_written_is_wrong(tmp_path: Path) -> None:
    """
    A data folder below a file can never be made: exit 1 and one line that names it.
    """
    (tmp_path / "data").write_text("a file")
    code, output = doctor(tmp_path, "--set", f"paths.data={tmp_path}/data/x")
    assert 1 == code
    assert "wrong    data folder" in output


def test_the_shippers_way_is_checked(tmp_path: Path) -> None:
    """
    Where samples go and whether a token is there; a token file that is not there is wrong.
    """
    code, output = doctor(tmp_path, "--set", "ship.endpoints=http://worker:8460")
    assert 0 == code, output
    assert "sends to http://worker:8460 without a token; has not run here" in output
    code, output = doctor(tmp_path, "--set", f"ship.token_file={tmp_path}/none")
    assert 1 == code
    assert f"token file {tmp_path}/none: No such file" in output


def test_sections_of_names_are_listed(tmp_path: Path) -> None:
    """
    What a site names itself has no default to differ from; what was not said of it is left out.
    """
    file = tmp_path / "leadline.yaml"
    file.write_text(
        "constants:\n  students: {value: 2400, unit: people}\nperiods: {term: 2026-08}\n"
    )
    code, output = doctor(tmp_path, "--config", str(file))
    assert 0 == code, output
    assert "constants.students.value = 2400.0" in output
    assert "constants.students.unit = people" in output
    assert "constants.students.means" not in output
    assert "periods.term = 2026-08" in output


def test_files_a_daemon_would_miss_are_wrong(tmp_path: Path) -> None:
    """
    Certificates and secrets that are not there are told before a service ends for want of them.
    """
    (tmp_path / "worker.pem").touch()
    settings = [
        f"worker.certificate={tmp_path}/worker.pem",
        f"clusters.fox.token_file={tmp_path}/x",
    ]
    code, output = doctor(tmp_path, *(word for one in settings for word in ("--set", one)))
    assert 1 == code
    assert f"clusters.fox.token_file  {tmp_path}/x is not there" in output
    assert "wrong    worker.certificate" not in output
