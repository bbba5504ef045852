"""Commands of the pages, run as they stand there: what is shown under each is what it prints."""

import subprocess
from pathlib import Path


def shown(commands: list[str], status: str = "0") -> str:
    """Run commands one after another and return them with their output, as a block of a page.

    Parameters
    ----------
    commands : list of str
        As they are typed.
    status : str
        The exit status that each must have, or ``any``. What went to standard error is shown of those that fail;
        of the others it is progress, which a terminal shows as a bar.
    """
    outputs = []
    for command in commands:
        made = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
        if status not in ("any", str(made.returncode)):
            raise RuntimeError(f"{command}\nhas the status {made.returncode}, not {status}:\n{made.stderr}")
        outputs.append(made.stdout + (made.stderr if made.returncode else ""))
    return _block(commands, outputs)


def told(commands: list[str], transcript: str) -> str:
    """Return commands with their output as a transcript of ``$`` lines has it; raise if one is not there."""
    parts = f"\n{Path(transcript).read_text(encoding='utf-8')}".split("\n$ ")[1:]
    outputs = dict(part.split("\n", 1) for part in parts)
    return _block(commands, [outputs[command].split("\n\n")[0] for command in commands])


def _block(commands: list[str], outputs: list[str]) -> str:
    parts = [f"$ {one}\n{output.rstrip()}".rstrip() for one, output in zip(commands, outputs, strict=True)]
    return "```console\n" + "\n\n".join(parts) + "\n```"
