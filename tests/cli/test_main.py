import pytest

from argpack.cli import COMMANDS, main


def test_help_lists_every_command(capsys):
    assert main(["--help"]) == 0
    listed = {line.split()[0] for line in capsys.readouterr().out.splitlines() if line.startswith("    ")}
    assert set(COMMANDS) <= listed


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command, capsys):
    assert main([command, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"usage: argpack {command} ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["difff"], "argument COMMAND: invalid choice: 'difff'"),
        (["diff"], "the following arguments are required: FIRST"),
        (["diff", "a"], "argpack: error: expected a second dump, or --against and a problem"),
        (["show", "--nonsense", "x"], "unrecognized arguments: --nonsense"),
    ],
)
def test_a_wrong_command_line_is_exit_2(arguments, message, capsys):
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("argpack ")
