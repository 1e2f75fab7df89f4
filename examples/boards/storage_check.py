#!/usr/bin/python3
"""storage_check.py RUN_BOARD BOARD IMAGE: runs a check of a board's storage, and once more after a power cycle where the
emulator keeps what was written. Part of the storage is looked at from outside: it is the medium that was written."""

import pathlib
import subprocess
import sys
import tempfile

SIZES = {"emcraft-sf2": 16 << 20, "ast1030-evb": 4 << 20, "lm3s6965evb": 64 << 20}


def main():
    run_board, board, image = sys.argv[1:]
    if board not in SIZES:
        subprocess.run([run_board, board, image, "write"], check=True, stdin=subprocess.DEVNULL, timeout=60)
        return
    size = SIZES[board]
    arguments = [str(size // 512)] if board == "lm3s6965evb" else []
    # Erased flash, a card never written.
    blank = b"\0" if board == "lm3s6965evb" else b"\xff"
    with tempfile.TemporaryDirectory(prefix="storage_") as folder:
        drive = pathlib.Path(folder) / "drive"
        drive.write_bytes(blank * size)
        for what in ("write", "verify"):
            subprocess.run([run_board, "--drive", drive, board, image, what, *arguments], check=True,
                           stdin=subprocess.DEVNULL, timeout=60)
        found = drive.read_bytes()
        assert len(found) == size
        for at in (0, size - 512):
            assert found[at:at + 512].count(blank) < 16, f"nothing at {at}"


main()
