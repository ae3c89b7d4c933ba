"""Runs programs of `programs/` one after the other in each rank of a launched group; what they print goes to files.

``python run_programs.py OUT NAME...``, by torchrun or ``python -m wengert run --nproc 2``.
"""

import contextlib
import os
import runpy
import sys
import traceback
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent / "programs"


def main(out: Path, names: list[str]) -> None:
    rank = os.environ["RANK"]
    for name in names:
        with (out / f"{name}.{rank}.txt").open("w") as file, contextlib.redirect_stdout(file):
            warnings.simplefilter("ignore")
            try:
                runpy.run_path(str(HERE / f"{name}.py"), run_name="__main__")
            except BaseException:
                file.write(traceback.format_exc())
                raise


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
