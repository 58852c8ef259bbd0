"""What the layout tests share."""

import ast
import operator
from collections.abc import Callable

import numpy as np
import pytest

OPERATORS = {
    ast.Add: operator.add,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def evaluate_formula(text: str, r: np.ndarray, c: np.ndarray, padded: tuple[int, int]) -> np.ndarray:
    """`text` for rows `r` and columns `c`; only + * // % and the four names of a formula are understood."""
    names = {"r": r, "c": c, "R": padded[0], "C": padded[1]}

    def value(node: ast.expr) -> np.ndarray | int:
        if isinstance(node, ast.BinOp):
            return OPERATORS[type(node.op)](value(node.left), value(node.right))
        return names[node.id] if isinstance(node, ast.Name) else ast.literal_eval(node)

    return value(ast.parse(text, mode="eval").body)


@pytest.fixture(scope="session")
def evaluate() -> Callable[[str, np.ndarray, np.ndarray, tuple[int, int]], np.ndarray]:
    return evaluate_formula
