"""Units on processes of this machine: the same results for any number of them, also when one dies."""

import multiprocessing
import os
import signal
from dataclasses import replace

from argpack.sweep import Answer, check, load_kernels
from argpack.sweep.pool import run_here


def run(plan, *, processes):
    kernels = {kernel.label: kernel for kernel in plan.kernels}
    found = {unit.key: result for unit, result in run_here(plan.units, kernels, processes=processes)}
    assert [found[unit.key].key for unit in plan.units] == [unit.key for unit in plan.units]
    return [replace(found[unit.key], seconds=0.0) for unit in plan.units]


def test_results_are_the_same_for_any_number_of_processes(plan_of, sgemm, wrong, kernels_dir):
    f4gemm = kernels_dir / "gfx950" / "f4gemm" / "f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128.co"
    sizes = [(33, 96, 320), (16, 32, 64)]
    plan = plan_of(sgemm, *load_kernels([wrong, f4gemm]), sizes=sizes)
    alone = run(plan, processes=1)
    assert [result.verdict for result in alone] == [
        *[Answer.PASSED] * 2,
        *[Answer.FAILED] * 2,
        *[Answer.PASSED] * 2,
    ]
    assert run(plan, processes=3) == alone
    assert not multiprocessing.active_children()


def test_what_the_emulator_does_not_execute_is_not_checked_and_the_others_are(plan_of, sgemm, unknown):
    results = run(plan_of(*load_kernels([unknown]), sgemm), processes=1)
    assert [result.verdict for result in results] == [Answer.NOT_CHECKED] * 3 + [Answer.PASSED] * 3
    assert results[0].reason.startswith("argpack_sgemm")
    assert results[0].outputs is None


def test_a_process_that_dies_costs_its_own_unit_alone(plan_of, sgemm):
    plan = plan_of(sgemm, sizes=[(16, 16, 4), (128, 128, 512), (16, 16, 8), (16, 16, 12)])
    kernels = {sgemm.label: sgemm}
    results = []
    for unit, result in run_here(plan.units, kernels, processes=1):
        results.append(result)
        assert result.key == unit.key
        if len(results) == 1:
            (worker,) = multiprocessing.active_children()
            os.kill(worker.pid, signal.SIGKILL)
    assert [result.verdict for result in results] == [
        Answer.PASSED,
        Answer.NOT_CHECKED,
        Answer.PASSED,
        Answer.PASSED,
    ]
    assert results[1].reason == "its process was ended by SIGKILL (out of memory?)"
    assert not multiprocessing.active_children()


def test_processes_end_when_the_results_are_no_longer_wanted(plan_of, sgemm):
    results = run_here(plan_of(sgemm).units, {sgemm.label: sgemm}, processes=2)
    next(results)
    assert len(multiprocessing.active_children()) == 2
    results.close()
    assert not multiprocessing.active_children()


def test_no_units_start_no_process():
    assert list(run_here([], {}, processes=4)) == []


def test_without_the_emulator_the_reason_says_what_to_install(plan_of, sgemm, monkeypatch):
    monkeypatch.setattr("argpack.launch.select.importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(check, "_backend", check._backend.__wrapped__)
    result = check.check(plan_of(sgemm).units[0], sgemm)
    assert (result.verdict, result.reason) == (
        Answer.NOT_CHECKED,
        "the emulator needs tinygrad: pip install 'argpack[emulator]'",
    )
