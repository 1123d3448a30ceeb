#!/usr/bin/env python3
"""Derives the dependency graph of Debian's packages from the package index, as a tab-separated edge list.

    tools/debian-depends.py > debian-depends.tsv        # runs `apt-cache dumpavail`
    apt-cache dumpavail | tools/debian-depends.py -     # the same from a pipe or a file
    tools/debian-depends.py -o tests/data/debian-depends.tsv.gz

One line for each pair: a package, then a package or virtual name that its Depends or Pre-Depends field
names. All alternatives ("a | b") count; versions and architectures are left out; a name is not linked to
itself; each pair is written once, in byte order, so the same index gives the same file.
"""
import argparse
import gzip
import re
import subprocess
import sys

NAME = re.compile(r"[a-z0-9][a-z0-9+.-]*")
FIELDS = ("Depends", "Pre-Depends")
HEADER = "# Debian package dependencies: package, then a package or virtual name it depends on\n"


def stanza_edges(stanza):
    """Pairs of one package's paragraph; a field may go on in lines that begin with a blank."""
    fields = {}
    name = None
    for line in stanza:
        if line[:1] in " \t":
            if name in FIELDS:
                fields[name] += line
            continue
        name, _, value = line.partition(":")
        fields[name] = value
    package = fields.get("Package", "").strip()
    for field in FIELDS:
        for choice in re.split(r"[,|]", fields.get(field, "")):
            found = NAME.match(choice.strip())
            if found and found.group() != package:
                yield package, found.group()


def edges_of(lines):
    edges, stanza = set(), []
    for line in lines:
        if line.strip():
            stanza.append(line)
        else:
            edges.update(stanza_edges(stanza))
            stanza = []
    edges.update(stanza_edges(stanza))
    return edges


def index_lines(path):
    if path == "-":
        return sys.stdin.read().splitlines()
    if path:
        with open(path, encoding="utf-8") as file:
            return file.read().splitlines()
    done = subprocess.run(["apt-cache", "dumpavail"], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit("debian-depends.py: `apt-cache dumpavail` failed; run it on Debian, or give its output as a file")
    return done.stdout.splitlines()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", nargs="?", help="output of `apt-cache dumpavail`, - for standard input")
    parser.add_argument("-o", "--output", help="write here instead of to standard output; .gz compresses")
    options = parser.parse_args()
    edges = sorted(edges_of(index_lines(options.index)))
    if not edges:
        sys.exit("debian-depends.py: no dependencies found; run `apt-get update` first")
    text = HEADER + "".join(f"{source}\t{target}\n" for source, target in edges)
    if not options.output:
        sys.stdout.write(text)
    elif options.output.endswith(".gz"):
        with open(options.output, "wb") as file:
            file.write(gzip.compress(text.encode(), mtime=0))
    else:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
