#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The pages of doc/ and the calls of the headers as HTML: see --help. A warning is an error.
set -eu

usage() {
	cat <<-U
	usage: usertools/doc.sh DIR

	Writes DIR/index.html, the pages of doc/ (Sphinx), and DIR/api/index.html, the calls of lib/*/weft*.h (Doxygen). Needs
	the packages of WEFT_DOC_PACKAGES in usertools/packages.sh. Any warning of either is an error. DIR is written anew.
	U
}

case ${1:-} in
-h | --help)
	usage
	exit 0
	;;
"" | -*)
	usage >&2
	exit 2
	;;
esac
dir=$(realpath -m -- "$1")
if [ -n "$(ls -A "$dir" 2>/dev/null)" ] && [ ! -e "$dir/api/doxygen.css" ]; then
	echo "doc.sh: $dir: expected an empty folder or an older book, got other files" >&2
	exit 1
fi
cd "$(dirname "$0")/.."
mkdir -p "$dir"
# Complete or not at all; Sphinx's own notes stay out of it.
new=$(mktemp -d "$dir.XXXXXX")
notes=$(mktemp -d)
trap 'rm -rf "$new" "$notes"' EXIT
chmod 755 "$new"
PYTHONDONTWRITEBYTECODE=1 sphinx-build -q -W --keep-going -d "$notes" -b html doc "$new"
rm -rf "$new/.buildinfo" "$new/objects.inv"
ln -s README.html "$new/index.html"
{
	cat doc/Doxyfile
	echo "INPUT = $(echo lib/*/weft*.h)"
	echo "OUTPUT_DIRECTORY = \"$new\""
} | doxygen -
rm -rf "$dir"
mv "$new" "$dir"
echo "$dir/index.html"
