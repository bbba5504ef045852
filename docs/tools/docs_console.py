"""Run the commands on a page as written, and show under each what it prints."""

import subprocess
from pathlib import Path


def shown(commands: list[str], status: str = "0") -> str:
    """Run commands in sequence and return them with their output, as a code block.

    Parameters
    ----------
    commands : list of str
        As typed in a shell.
    status : str
        The exit status that each must have, or ``any``. Standard error is shown only for commands that fail; for the
        others it contains progress bars.
    """
    outputs = []
    for command in commands:
        made = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
        if status not in ("any", str(made.returncode)):
            raise RuntimeError(f"{command}\nhas exit status {made.returncode}, not {status}:\n{made.stderr}")
        outputs.append(made.stdout + (made.stderr if made.returncode else ""))
    return _block(commands, outputs)


def quoted(commands: list[str], transcript: str) -> str:
    """Return commands with their output as recorded in a transcript of ``$`` lines; raise if one is missing."""
    parts = f"\n{Path(transcript).read_text(encoding='utf-8')}".split("\n$ ")[1:]
    outputs = {command: output for command, _, output in (part.partition("\n") for part in parts)}
    return _block(commands, [outputs[command].split("\n\n")[0] for command in commands])


def _block(commands: list[str], outputs: list[str]) -> str:
    parts = [f"$ {one}\n{output.rstrip()}".rstrip() for one, output in zip(commands, outputs, strict=True)]
    return "```console\n" + "\n\n".join(parts) + "\n```"
