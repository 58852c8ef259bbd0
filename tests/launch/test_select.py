import sys

import pytest

from argpack.codeobject import read
from argpack.errors import InputError, UnavailableError
from argpack.launch.select import select_backend


@pytest.fixture
def code(f4gemm):
    return read(f4gemm)


def test_auto_takes_a_device_that_fits(fake_hip, f4gemm):
    assert fake_hip({"code": str(f4gemm), "select": "auto"}) == {
        "backend": "hip",
        "reason": "hip: Fake Instinct (gfx950:sramecc+:xnack-), HIP device 0, runtime 7.2.53211",
    }


def test_auto_takes_the_emulator_where_no_device_fits(fake_hip, f4gemm):
    scenario = {"code": str(f4gemm), "select": "auto", "env": {"FAKE_HIP_ARCH": "gfx942:sramecc+:xnack-"}}
    assert fake_hip(scenario) == {
        "backend": "emulator",
        "reason": "emulator: no HIP device fits: "
        "the code object is for gfx950, the device is gfx942:sramecc+:xnack-",
    }


def test_auto_takes_the_emulator_where_there_is_no_device(fake_hip, f4gemm):
    answer = fake_hip({"code": str(f4gemm), "select": "auto", "env": {"FAKE_HIP_FAIL": "hipInit=100"}})
    assert answer["backend"] == "emulator"
    assert answer["reason"] == "emulator: no HIP device (hipInit: hipErrorNoDevice (100))"


def test_auto_takes_the_emulator_where_the_runtime_does_not_load(broken_hip, f4gemm):
    answer = broken_hip({"code": str(f4gemm), "select": "auto"})
    assert answer["backend"] == "emulator"
    assert answer["reason"].startswith("emulator: no HIP runtime (")


def test_auto_takes_the_emulator_without_hip_python(code, monkeypatch):
    monkeypatch.setitem(sys.modules, "hip", None)
    backend, reason = select_backend("auto", code)
    assert backend.name == "emulator"
    assert reason == "emulator: hip-python is not installed: pip install 'argpack[hip]'"


def test_auto_does_not_hide_a_hip_installation_that_fails(fake_hip, f4gemm):
    answer = fake_hip(
        {"code": str(f4gemm), "select": "auto", "env": {"FAKE_HIP_FAIL": "hipGetDeviceCount=999"}}
    )
    assert answer == {"error": "HipError", "message": "hipGetDeviceCount: hipErrorUnknown (999)"}


def test_auto_does_not_swallow_a_mistake_of_ours(code, monkeypatch):
    def mistake(target):
        raise ZeroDivisionError

    monkeypatch.setattr("argpack.launch.hip_backend.open_hip", mistake)
    with pytest.raises(ZeroDivisionError):
        select_backend("auto", code)


def test_hip_is_never_replaced_by_the_emulator(code, monkeypatch):
    monkeypatch.setitem(sys.modules, "hip", None)
    with pytest.raises(UnavailableError, match=r"^hip-python is not installed"):
        select_backend("hip", code)


def test_hip_asked_for_is_hip(fake_hip, f4gemm):
    answer = fake_hip({"code": str(f4gemm), "select": "hip"})
    assert answer["backend"] == "hip"
    assert answer["reason"].startswith("hip: asked for; Fake Instinct")


def test_the_emulator_asked_for_is_not_asked_why(code, monkeypatch):
    monkeypatch.setitem(sys.modules, "hip", None)
    backend, reason = select_backend("emulator", code)
    assert (backend.name, reason) == ("emulator", "emulator: asked for")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("emulator", r"^the emulator needs tinygrad: pip install 'argpack\[emulator\]'$"),
        (
            "auto",
            r"^no backend: hip: hip-python is not installed: pip .*; emulator: the emulator needs tinygrad: pip ",
        ),
    ],
)
def test_what_is_missing_is_said_with_how_to_install_it(code, monkeypatch, name, message):
    monkeypatch.setitem(sys.modules, "hip", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UnavailableError, match=message):
        select_backend(name, code)


def test_another_name_is_refused(code):
    with pytest.raises(InputError, match=r"^backend: expected one of auto, emulator, hip, found 'cuda'$"):
        select_backend("cuda", code)
