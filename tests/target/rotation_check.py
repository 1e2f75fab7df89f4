#!/usr/bin/python3
"""rotation_check.py RUN_BOARD BOARD IMAGE ROTATIONS: lets logs rotate on a board, with an empty drive if it has one."""

import pathlib
import subprocess
import sys
import tempfile

SIZES = {"emcraft-sf2": 16 << 20, "ast1030-evb": 4 << 20, "lm3s6965evb": 64 << 20}


def main():
    run_board, board, image, rotations = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="rotation_") as folder:
        drive = []
        if board in SIZES:
            path = pathlib.Path(folder) / "drive"
            path.write_bytes((b"\0" if board == "lm3s6965evb" else b"\xff") * SIZES[board])
            drive = ["--drive", path]
        subprocess.run([run_board, *drive, board, image, rotations], check=True, stdin=subprocess.DEVNULL, timeout=230)


main()
