#!/usr/bin/env python3
"""change.py --tool "COMMAND" --changer PROGRAM --made FOLDER [--corpus FOLDER] [--refused LIST] --floor N: changes a copy
of every file with the program h5mote_change_file (change_file.cpp), which leaves what is in the file as it was but for a
group that it adds, and then removes the group.

After either step `h5mote check` must find nothing in the copy, and h5dump must print it as it printed the file, but for
the new group. Files that h5dump cannot open are left out, and so are those in which `h5mote check` finds something
before. Calls that are refused must be in the list, with the reason; an entry for a file that is changed is an error.
Fewer files of the folder --made than the floor that were changed are a failure. With H5MOTE_CORPUS_MADE_ONLY in the
environment the files of the corpus are left out.
"""

import argparse
import concurrent.futures
import os
import pathlib
import shlex
import shutil
import sys
import tempfile

import repack

ADDED = "h5mote added"


def without_added(text):
    """What h5dump prints, without the group that was added to the root group."""
    if text is None:
        return None
    lines = text.splitlines()
    begin = f'   GROUP "{ADDED}" {{'
    if begin not in lines:
        return text
    at = lines.index(begin)
    end = lines.index("   }", at)
    return "\n".join(lines[:at] + lines[end + 1:])


def judge(tool, changer, path, folder):
    """What is refused (empty: nothing), and what is wrong with the changed copy."""
    repack.link_beside(path, folder)
    shutil.copyfile(path, folder / path.name)
    (folder / path.name).chmod(0o644)
    before = repack.printed(["h5dump"], path.name, path.parent)
    if before is None or repack.run(*tool, "check", path.name, cwd=folder).returncode != 0:
        return None, ""
    for step in ([], ["--undo"]):
        done = repack.run(changer, path.name, *step, cwd=folder)
        if done.returncode != 0:
            text = done.stdout.decode("utf-8", "replace") + done.stderr.decode("utf-8", "replace")
            if done.returncode not in range(1, 102):
                return "", f"ends with {done.returncode}: {text}"
            if step or done.returncode == 101:
                return text, ""
        checked = repack.run(*tool, "check", path.name, cwd=folder)
        if checked.returncode != 0:
            return "", f"after {step or 'changes'}: {checked.stdout.decode('utf-8', 'replace')}"
        after = without_added(repack.printed(["h5dump"], path.name, folder))
        # h5dump 1.10 prints whatever is in memory for some files.
        same = before.splitlines() == (after or "").splitlines()
        if not same and before == repack.printed(["h5dump"], path.name, path.parent):
            return "", f"after {step or 'changes'}: h5dump prints something else: {repack.first_difference(before, after)}"
        if done.returncode != 0:
            return text, ""
    return "", ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--changer", required=True)
    parser.add_argument("--made", type=pathlib.Path, required=True)
    parser.add_argument("--corpus", type=pathlib.Path)
    parser.add_argument("--refused", type=pathlib.Path)
    parser.add_argument("--floor", type=int, required=True)
    options = parser.parse_args()
    tool = shlex.split(options.tool)
    refused = repack.read_list(options.refused)
    quick = bool(os.environ.get("H5MOTE_CORPUS_MADE_ONLY"))
    bad = changed = of_made = 0

    def result_of(path):
        with tempfile.TemporaryDirectory() as folder:
            return judge(tool, options.changer, path, pathlib.Path(folder))

    for folder in filter(None, (options.made, None if quick else options.corpus)):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = sorted(folder.resolve().rglob("*"))
            paths = [path for path, fits in zip(found, pool.map(repack.is_candidate, found)) if fits]
            for path, (why, wrong) in zip(paths, pool.map(result_of, paths)):
                name = f"{folder.name}/{path.relative_to(folder.resolve())}"
                if wrong or (why and name not in refused):
                    print(f"{name}: {(wrong or why).strip()[:900]}", flush=True)
                    bad += 1
                elif why == "":
                    changed += 1
                    if name in refused and not quick:
                        print(f"{name}: is changed, but the list says that it cannot be: {refused[name]}")
                        bad += 1
        of_made = of_made or changed
    print(f"{changed} files changed, {of_made} of them made here; {bad} bad")
    return bad != 0 or of_made < options.floor


if __name__ == "__main__":
    sys.exit(main())
