#!/usr/bin/python3
"""compare.py: do `h5mote dump`, `ls` and `stat` print what h5dump, h5ls and h5stat print, byte for byte?

    compare.py --tool build/host/examples/cli/h5mote --out DIR [--made DIR] [--corpus DIR] [--sets NAME,...]

For every file of the folders and every set of options (cases.py) both programs run in the file's own folder, and their
output is compared. Each case falls into one of these classes:

  compared   the HDF5 tool ends with 0: the outputs and the exit codes must be equal
  partial    the HDF5 tool prints something and fails (a missing filter, a newer datatype): the outputs must be equal,
             and h5mote must fail, too
  refused    the HDF5 tool prints nothing and fails: h5mote should fail as well; counted, and required with --strict
             only
  crashed    the HDF5 tool is killed, runs too long or prints too much: not compared

If the file is a damaged one (cve/), partial output counts as refused. Every difference must be listed with its reason
in differences.list, and every entry there must still be a difference. Both outputs of a difference are kept in
DIR/differences. With --memory, h5mote gets an arena of that size. The output of the HDF5 tools is kept in DIR/oracle
and used again as long as neither the tool nor the folder changes. Exit code 1 when a difference is not explained, 2
when fewer cases were compared than expected, 77 when h5mote does not have a command yet."""

import argparse
import concurrent.futures
import fnmatch
import hashlib
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import cases

ORACLES = {"dump": "h5dump", "ls": "h5ls", "stat": "h5stat"}
SECONDS = 20  # time limit of an HDF5 tool; that of h5mote, which may run in an emulator, is longer
OUR_SECONDS = 120
MOST_BYTES = 32 << 20
NUMBERED = re.compile(r"^(.*?)(\d{5,6})(\.h5)$")


class Outcome:
    """The result of running a program: its exit code (None if it crashed) and its output."""

    def __init__(self, code, output):
        self.code = code
        self.output = output


def names_in(folder):
    """Files of a folder as a user names them: families by pattern, split and multi files by their common name."""
    names = sorted(n for n in os.listdir(folder) if os.path.isfile(os.path.join(folder, n)))
    have = set(names)
    found = list(names)
    for name in names:
        match = NUMBERED.match(name)
        if match and int(match[2]) == 0 and match[1] + "1".zfill(len(match[2])) + match[3] in have:
            found.append("%s%%0%dd%s" % (match[1], len(match[2]), match[3]))
        for first, others in (("-m.h5", ["-r.h5"]), ("-s.h5", ["-b.h5", "-r.h5", "-g.h5", "-l.h5", "-o.h5"])):
            if name.endswith(first) and all(name[:-5] + other in have for other in others):
                found.append(name[:-5])
    return sorted(found)


def files_below(label, root):
    """(name in reports, folder, name in that folder) of all files below a folder."""
    found = []
    for folder, folders, _ in os.walk(root):
        folders.sort()
        below = os.path.relpath(folder, root)
        prefix = "/".join(part for part in (label, "" if below == "." else below) if part)
        found += [((prefix + "/" if prefix else "") + name, folder, name) for name in names_in(folder)]
    return found


class Runner:
    def __init__(self, arguments):
        self.tool = shlex.split(arguments.tool)
        self.tool[-1] = os.path.abspath(self.tool[-1])
        self.out = os.path.abspath(arguments.out)
        self.memory = arguments.memory
        self.strict = arguments.strict
        self.lock = threading.Lock()
        self.digests = {}
        self.cache = os.path.abspath(arguments.cache or os.path.join(arguments.out, "oracle"))
        os.makedirs(self.cache, exist_ok=True)
        os.makedirs(self.out, exist_ok=True)
        self.versions = {}

    def run(self, command, folder, keep, seconds=SECONDS):
        """Runs a command and keeps its output in the file `keep`. main() limits the output to MOST_BYTES."""
        with open(keep, "wb") as output:
            try:
                code = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output,
                                      stderr=subprocess.DEVNULL, timeout=seconds).returncode
            except subprocess.TimeoutExpired:
                code = -1
        crashed = code < 0 or code > 128
        with open(keep, "rb") as output:
            return Outcome(None if crashed else code, b"" if crashed else output.read())

    def digest(self, folder):
        """A digest of all files in a folder, since a file can refer to others."""
        with self.lock:
            if folder not in self.digests:
                total = hashlib.sha256()
                for name in sorted(os.listdir(folder)):
                    path = os.path.join(folder, name)
                    if os.path.isfile(path):
                        with open(path, "rb") as file:
                            total.update(name.encode() + b"\0" + hashlib.sha256(file.read()).digest())
                self.digests[folder] = total.hexdigest()
            return self.digests[folder]

    def version(self, program):
        with self.lock:
            if program not in self.versions:
                self.versions[program] = subprocess.run([program, "-V"], capture_output=True, check=True).stdout
            return self.versions[program]

    def oracle(self, program, options, folder, name):
        key = hashlib.sha256(repr((program, self.version(program), options, name, self.digest(folder))).encode())
        path = os.path.join(self.cache, key.hexdigest())
        if os.path.exists(path + ".code"):
            with open(path + ".code") as code, open(path, "rb") as output:
                text = code.read()
                return Outcome(None if text == "crashed" else int(text), output.read())
        partial = "%s.%d.%d" % (path, os.getpid(), threading.get_ident())
        outcome = self.run([program] + options + [name], folder, partial)
        if outcome.code is None:
            open(partial, "wb").close()
        os.replace(partial, path)
        with open(partial, "w") as code:
            code.write("crashed" if outcome.code is None else str(outcome.code))
        os.replace(partial, path + ".code")
        return outcome

    def ours(self, command, options, folder, name, memory):
        path = os.path.join(self.out, "ours.%d" % threading.get_ident())
        limit = ["--memory", memory] if memory else []
        return self.run(self.tool + [command] + limit + options + [name], folder, path, OUR_SECONDS)


class Case:
    def __init__(self, file, folder, name, set_name, command, options, memory):
        self.file, self.folder, self.name = file, folder, name
        self.set_name, self.command, self.options, self.memory = set_name, command, options, memory
        self.verdict = None

    def how(self):
        """The options of this case in the form that differences.list has."""
        text = self.set_name if self.set_name != "objects" else " ".join(self.options)
        return text + (" @" + self.memory if self.memory else "")

    def judge(self, runner):
        program = ORACLES[self.command]
        theirs = runner.oracle(program, self.options, self.folder, self.name)
        if theirs.code is None:
            self.verdict = "crashed"
            return
        ours = runner.ours(self.command, self.options, self.folder, self.name, self.memory)
        ended_alike = ours.code == 0 if theirs.code == 0 else ours.code not in (0, None)
        same = ours.output == theirs.output and ended_alike
        kind = "compared"
        if theirs.code != 0:
            kind = "partial" if theirs.output and not self.file.startswith("cve/") else "refused"
        if not same and theirs.code == 0:
            # Run the HDF5 tool again: if its output changes, it printed uninitialized memory, and there is nothing to
            # compare with.
            again = runner.run([program] + self.options + [self.name], self.folder,
                               os.path.join(runner.out, "again.%d" % threading.get_ident()))
            if again.code is None or again.output != theirs.output:
                self.verdict = "crashed"
                return
        self.verdict = kind + ("" if same else " different")
        if not same:
            self.keep(runner, theirs, ours)

    def keep(self, runner, theirs, ours):
        stem = re.sub(r"[^A-Za-z0-9_.@%-]+", "_", "%s.%s" % (self.file, self.how()))[:200]
        folder = os.path.join(runner.out, "differences")
        os.makedirs(folder, exist_ok=True)
        for suffix, outcome in (("theirs", theirs), ("ours", ours)):
            with open(os.path.join(folder, stem + "." + suffix), "wb") as file:
                file.write(outcome.output)
        self.codes = (theirs.code, ours.code)
        self.stem = stem
        self.at = first_difference(theirs.output, ours.output)


def first_difference(theirs, ours):
    for number, (a, b) in enumerate(zip(theirs.split(b"\n") + [None], ours.split(b"\n") + [None]), 1):
        if a != b:
            shown = ["(end)" if line is None else repr(line.decode("latin1"))[:70] for line in (a, b)]
            return "line %d: %s, ours %s" % (number, *shown)
    return "exit code"


class Differences:
    """The file differences.list, with lines `file | options | reason`. `file` and `options` are patterns. `options` is
    the name of a set or, for the set `objects`, the options themselves; ` @64K` follows for runs with an arena of that
    size. `*` stands for any options."""

    def __init__(self, path):
        self.entries = []
        for number, line in enumerate(open(path), 1) if path else []:
            line = line.strip()
            if line and not line.startswith("#"):
                parts = [part.strip() for part in line.split(" | ")]
                if len(parts) != 3 or not all(parts):
                    sys.exit("%s:%d: file | options | reason" % (path, number))
                self.entries.append({"line": number, "file": parts[0], "how": parts[1], "seen": 0, "used": 0})

    @staticmethod
    def matches(entry, case):
        return fnmatch.fnmatchcase(case.file, entry["file"].replace("[", "[[]")) and fnmatch.fnmatchcase(
            case.how(), entry["how"])

    def explain(self, case, differs):
        found = False
        for entry in self.entries:
            if self.matches(entry, case):
                entry["seen"] += 1
                entry["used"] += differs
                found = True
        return found

    def stale(self, sets):
        """The entries whose cases ran and did not differ. An entry with `*` is judged only if the set `default` ran."""
        return [entry for entry in self.entries
                if entry["seen"] and not entry["used"] and ("*" not in entry["how"] or "default" in sets)]


def workers():
    return concurrent.futures.ThreadPoolExecutor((os.cpu_count() or 1) + 1)


def make_cases(arguments, runner):
    folders = []
    if arguments.made:
        folders.append(("made", arguments.made))
    if arguments.corpus and os.path.isdir(arguments.corpus) and not os.environ.get("H5MOTE_CORPUS_MADE_ONLY"):
        folders.append(("", arguments.corpus))
    files = [found for label, root in folders for found in files_below(label, os.path.abspath(root))]
    files = [found for found in files if fnmatch.fnmatchcase(found[0], arguments.filter)]
    memories = arguments.memory.split(",") if arguments.memory else [""]
    found = []
    for set_name in arguments.sets.split(","):
        if set_name == "objects":
            with workers() as pool:
                lists = list(pool.map(lambda one: [("dump", options) for options in cases.objects_of(*one, runner.oracle)],
                                      files))
        else:
            lists = [[cases.SETS[set_name]]] * len(files)
        for (file, folder, name), listed in zip(files, lists):
            for command, options in listed:
                if cases.endless(file, command, options):
                    continue
                found += [Case(file, folder, name, set_name, command, options, "" if memory == "all" else memory)
                          for memory in memories]
    return found


def report(all_cases, differences, strict):
    """Prints the counts of cases. Returns how many differences are not explained."""
    bad = []
    compared = 0
    groups = {}
    for case in all_cases:
        groups.setdefault((case.set_name, case.memory), []).append(case)
    for (set_name, memory), group in groups.items():
        counts = {}
        explained = 0
        for case in group:
            counts[case.verdict] = counts.get(case.verdict, 0) + 1
            required = case.verdict.startswith(("compared", "partial") + (("refused",) if strict else ()))
            differs = case.verdict.endswith("different")
            if required and differences.explain(case, differs) and differs:
                explained += 1
            elif required and differs:
                bad.append(case)
        numbers = []
        for kind in ("compared", "partial", "refused"):
            same = counts.get(kind, 0)
            numbers += [same, same + counts.get(kind + " different", 0)]
        compared += numbers[1]
        print("%-8s %-4s %d of %d identical; where the oracle fails %d of %d, where it refuses %d of %d; %d crash it; "
              "%d differences explained" % (set_name, memory, *numbers, counts.get("crashed", 0), explained))
    return bad, compared


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="h5mote; with an emulator before it, as one argument")
    parser.add_argument("--out", required=True, help="folder for outputs")
    parser.add_argument("--cache", help="folder of what the oracles printed, in place of DIR/oracle")
    parser.add_argument("--made", help="folder of files made by make_files")
    parser.add_argument("--corpus", default=os.environ.get("H5MOTE_CORPUS"), help="folder of others, if there is one")
    parser.add_argument("--sets", default=",".join(cases.DUMP_SETS), help="names in cases.py, or objects")
    parser.add_argument("--memory", default="", help="arena of the tool; several with commas, all: without one")
    parser.add_argument("--differences", default=os.path.join(HERE, "differences.list"), help="explained differences")
    parser.add_argument("--filter", default="*", help="only files that match")
    parser.add_argument("--strict", action="store_true", help="also where h5dump fails")
    parser.add_argument("--optional", default="", help="command that the tool need not have yet: then exit code 77")
    parser.add_argument("--floor", type=int, default=1, help="fewest cases that must have been compared")
    parser.add_argument("--list", type=int, default=40, help="how many differences are listed")
    arguments = parser.parse_args()

    # Every program that is started inherits these limits.
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    runner = Runner(arguments)
    for command in arguments.optional.split(","):
        if command and subprocess.run(runner.tool + [command, "--help"], capture_output=True).returncode != 0:
            print("the tool has no command %s" % command)
            return 77
    shutil.rmtree(os.path.join(runner.out, "differences"), ignore_errors=True)
    all_cases = make_cases(arguments, runner)
    with workers() as pool:
        list(pool.map(lambda case: case.judge(runner), all_cases))
    for name in os.listdir(runner.out):
        if name.startswith(("ours.", "again.")):
            os.remove(os.path.join(runner.out, name))

    differences = Differences(arguments.differences)
    bad, compared = report(all_cases, differences, arguments.strict)
    for case in bad[:arguments.list]:
        print("  %s | %s | %s (exit %s, ours %s)" % (case.file, case.how(), case.at, *case.codes))
    if len(bad) > arguments.list:
        print("  ... and %d more; all outputs are in %s/differences" % (len(bad) - arguments.list, runner.out))
    stale = differences.stale(arguments.sets.split(","))
    for entry in stale:
        print("  differences.list:%d: %s | %s does not differ any more" % (entry["line"], entry["file"], entry["how"]))
    if compared < arguments.floor:
        print("only %d cases were compared, at least %d are expected" % (compared, arguments.floor))
        return 2
    return 1 if bad or stale else 0


if __name__ == "__main__":
    sys.exit(main())
