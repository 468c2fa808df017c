"""`berryeval completion`: complete commands, options and names in the shell.

The script holds every word, so that completing starts no Python. Install it again after an update,
or to complete the names of other packages' providers.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from berryeval.cli.flags import Flag

if TYPE_CHECKING:
    from cyclopts import App

Shell: TypeAlias = Literal["bash", "zsh", "fish"]
_SHARED: Final = ("--debug", "--help", "--quiet", "--verbose")

# A key is a command ("runs list") for what follows it, with " -" for its options, or with an option
# for the values of that option. `most` is how many values it takes.
_BASH: Final = r"""# Completion of berryeval; written by: berryeval completion install
_berryeval_look_up() {
  found= most=0
  case $1 in
%s
  *) return 1 ;;
  esac
}
_berryeval() {
  local current=${COMP_WORDS[COMP_CWORD]} command= option= given=0 found most word place
  for ((place = 1; place < COMP_CWORD; place++)); do
    word=${COMP_WORDS[place]}
    if [[ $word == -* ]]; then
      option= given=0
      _berryeval_look_up "$command $word" && option=$word
    elif [[ -n $option ]]; then
      _berryeval_look_up "$command $option"
      ((++given >= most)) && option=
    elif _berryeval_look_up "${command:+$command }$word"; then
      command=${command:+$command }$word
    fi
  done
  [[ $current == -* ]] && option=-
  _berryeval_look_up "$command${option:+${command:+ }$option}"
  COMPREPLY=($(compgen -W "$found" -- "$current"))
}
complete -o default -F _berryeval berryeval
"""
_ZSH: Final = r"""# Completion of berryeval; written by: berryeval completion install
(( $+functions[compdef] )) || { autoload -U compinit && compinit }
autoload -U +X bashcompinit && bashcompinit
"""
_FISH: Final = r"""# Completion of berryeval; written by: berryeval completion install
function __berryeval_look_up
    set -g __berryeval_found
    set -g __berryeval_most 0
    switch "$argv[1]"
%s
        case '*'
            return 1
    end
    return 0
end
function __berryeval
    set -l current (commandline -ct)
    set -l before (commandline -opc)
    set -l command
    set -l option
    set -l given 0
    for word in $before[2..-1]
        if string match -q -- '-*' $word
            set option
            set given 0
            __berryeval_look_up "$command $word"; and set option $word
        else if test -n "$option"
            __berryeval_look_up "$command $option"
            set given (math $given + 1)
            test $given -ge $__berryeval_most; and set option
        else if __berryeval_look_up (string join ' ' -- $command $word)
            set command (string join ' ' -- $command $word)
        end
    end
    string match -q -- '-*' $current; and set option -
    __berryeval_look_up (string join ' ' -- $command $option)
    string split -n ' ' -- $__berryeval_found
    test "$option" = -; or test -z "$command"; or __fish_complete_path $current
end
complete -c berryeval -f -a '(__berryeval)'
"""
_MANY: Final = 999  # more values than anyone types


class Words(NamedTuple):
    """The words that can be typed at a place, and the largest number of them."""

    words: tuple[str, ...]
    most: int = 0


def show(shell: Shell, /) -> None:
    """Print the script that completes commands, options and names.

    Args:
        shell: Shell that reads the script: bash, zsh or fish.
    """
    print(write_script(shell), end="")


def install(shell: Shell | None = None, /, *, json: Flag = False) -> None:
    """Install completion for your shell, and list the files that were written.

    bash and zsh get a script and one line in the file that they read at the start; fish gets a
    script. Repeating the command updates the script.

    Args:
        shell: Shell: bash, zsh or fish; by default the one that you type in.
        json: JSON output.
    """
    from berryeval._internal.files import replace_file
    from berryeval.cli.output import print_json

    shell = shell or _detect_shell()
    script, start = _choose_places(shell)
    script.parent.mkdir(parents=True, exist_ok=True)
    with replace_file(script) as file:
        file.write(write_script(shell).encode())
    added = start is not None and _add_line(start, script)
    if json:
        facts = {"shell": shell, "script": str(script), "start": start and str(start)}
        print_json("completion install", {**facts, "start_changed": added})
        return
    print(f"wrote {script}")
    if start is not None:
        print(f"added a line to {start}" if added else f"{start} reads it already")
    print(f"new {shell} shells complete berryeval")


def _detect_shell() -> Shell:
    from cyclopts.completion import ShellDetectionError, detect_shell

    from berryeval.errors import ConfigurationError

    try:
        found: str = detect_shell()
    except ShellDetectionError:
        found = "no shell"
    for shell in ("bash", "zsh", "fish"):
        if found == shell:
            return shell
    raise ConfigurationError(
        f"found {found}, expected bash, zsh or fish; name it: berryeval completion install bash"
    )


def _choose_places(shell: Shell) -> tuple[Path, Path | None]:
    """Return the path of the script, and the file that makes the shell read it, if it needs one."""
    home = Path.home()
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "berryeval"
    if shell == "bash":
        return data / "completion.bash", home / ".bashrc"
    if shell == "zsh":
        return data / "completion.zsh", Path(os.environ.get("ZDOTDIR") or home) / ".zshrc"
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    return config / "fish" / "completions" / "berryeval.fish", None


def _add_line(start: Path, script: Path) -> bool:
    """Make the start file of a shell read the script; return whether it did not yet."""
    line = f". {shlex.quote(str(script))}"
    text = start.read_text(encoding="utf-8", errors="surrogateescape") if start.exists() else ""
    if any(one.endswith(line) for one in text.splitlines()):
        return False
    with start.open("a", encoding="utf-8") as file:
        gap = "" if not text or text.endswith("\n") else "\n"
        file.write(f"{gap}[ -f {shlex.quote(str(script))} ] && {line}\n")
    return True


def write_script(shell: Shell) -> str:
    """Write the script of a shell, with all words as of now."""
    from berryeval.cli.app import build_app

    lines = []
    for keys, one in _list_words(build_app(), _list_names()):
        found, most = f"'{' '.join(one.words)}'", one.most
        quoted = [f"'{key}'" for key in keys]  # names have no quotation marks
        if shell == "fish":
            head = f"        case {' '.join(quoted)}\n            set __berryeval_found {found}"
            lines.append(head + f"\n            set __berryeval_most {most}" * bool(most))
        else:
            lines.append(f"  {'|'.join(quoted)}) found={found}{f' most={most}' * bool(most)} ;;")
    template = {"bash": _BASH, "zsh": _ZSH + _BASH, "fish": _FISH}[shell]
    return template % "\n".join(lines)


def _list_words(
    app: App, names: Mapping[str, tuple[str, ...]], command: str = ""
) -> Iterator[tuple[Sequence[str], Words]]:
    """List what can be typed after a command, and after each of those below it."""
    below = [name for name in app if not name.startswith("-") and app[name].name[0] == name]
    words, options = tuple(below), list(_SHARED)
    for one in [] if below else app.assemble_argument_collection():
        known = _find_names(names, command, one.field_info.name)
        known = known or tuple(one.get_choices(force=True) or ())
        words = known if one.index == 0 else words
        flags = [name for name in one.names if name.startswith("-")]
        options += flags
        if flags and not one.is_flag():
            most = _MANY if one.parameter.consume_multiple else 1
            yield [f"{command} {flag}" for flag in flags], Words(known, most)
    yield [command], Words(words)
    yield [f"{command} -".strip()], Words(tuple(sorted({*options})))
    for name in below:
        yield from _list_words(app[name], names, f"{command} {name}".strip())


def _find_names(
    names: Mapping[str, tuple[str, ...]], command: str, argument: str
) -> tuple[str, ...]:
    return names.get(f"{command} {argument}") or names.get(argument, ())


def _list_names() -> dict[str, tuple[str, ...]]:
    """List the names that options and arguments accept, by the name of the argument."""
    from berryeval.benchmarks import LOADERS, bundled_benchmarks
    from berryeval.metrics import PROFILES
    from berryeval.providers import PROVIDERS
    from berryeval.reports import EXPORTERS

    benchmarks, metrics = tuple(bundled_benchmarks()), tuple(_list_metrics())
    return {
        **dict.fromkeys(("benchmark", "benchmarks"), benchmarks),
        **dict.fromkeys(("metric", "metrics"), metrics),
        **dict.fromkeys(("provider", "providers"), tuple(PROVIDERS)),
        "export": tuple(EXPORTERS),
        **dict.fromkeys(("report format", "runs export format"), tuple(EXPORTERS)),
        "format": tuple(LOADERS),
        "profile": tuple(PROFILES),
    }


def _list_metrics() -> Iterator[str]:
    """List the metrics that need no parameter but a cutoff."""
    from berryeval.metrics import definitions

    for name, one in definitions().items():
        required = {parameter.name for parameter in one.parameters if parameter.required}
        if not required:
            yield name
        if required <= {"cutoff"} and any(own.name == "cutoff" for own in one.parameters):
            yield f"{name}@10"
