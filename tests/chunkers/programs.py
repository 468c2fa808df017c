"""A small program per language, with the definitions it contains."""

# ruff: noqa: ISC004 - a program is several strings

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from berryeval.data.records import Section

PROGRAMS: dict[str, tuple[str, list[Section]]] = {
    "python": (
        '"""Größe 漢字."""\n\nimport os\n\n\n@decorated\nclass Shape(Base):\n    """é"""\n\n'
        "    sides = 4\n\n    @property\n    def area(self):\n        return 漢 * 2\n\n"
        "    async def draw(self):\n        pass\n\n\ndef main():\n    pass\n",
        [("class Shape", "def area"), ("class Shape", "def draw"), ("def main",)],
    ),
    "java": (
        "package a;\n\nimport b.C;\n\n/** Größe. */\npublic class Shape<T> {\n  int sides;\n\n"
        "  Shape() {}\n\n  /** é */\n  void draw() {}\n}\n\ninterface Drawn { void draw(); }\n",
        [("class Shape", "constructor Shape"), ("class Shape", "method draw"),
         ("interface Drawn", "method draw")],
    ),
    "javascript": (
        "import x from 'y';\n// é\nexport default class Shape { draw(a) { return a } }\n"
        "export function main() { return 1 }\nfunction* gen() { yield 1 }\nconst c = () => 1;\n",
        [("class Shape", "method draw"), ("function main",), ("function gen",)],
    ),
    "typescript": (
        "export abstract class Shape<T> { draw(): void {}\n abstract area(): number; }\n"
        "type Id = string;\nnamespace Space { export function q() { return 1 } }\n",
        [("class Shape", "method draw"), ("class Shape", "method area"), ("type Id",),
         ("namespace Space", "function q")],
    ),
    "tsx": (
        "export function View() { return <b>é</b> }\ninterface Props { a: string }\n",
        [("function View",), ("interface Props", "property a")],
    ),
    "go": (
        'package main\n\nimport "fmt"\n\n// Shape: é\ntype Shape struct { a int }\n\n'
        "func (s *Shape) Draw() {}\n\nfunc main() {}\n",
        [("type Shape",), ("func Draw",), ("func main",)],
    ),
    "rust": (
        "use std::fmt;\n#[derive(Debug)]\nstruct Shape { a: i32 }\n"
        "impl Draw for Shape { fn draw(&self) {} }\nmod inner { pub fn z() {} }\nfn main() {}\n",
        [("struct Shape",), ("impl Draw for Shape", "fn draw"), ("mod inner", "fn z"),
         ("fn main",)],
    ),
    "c": (
        '#include <a.h>\nstruct shape { int a; };\n/* é */\n'
        'static int *draw(int a) { return "漢"; }\n',
        [("struct shape",), ("function draw",)],
    ),
    "cpp": (
        "namespace n { class Shape { public: void draw() {} }; }\n"
        "template <class T> T twice(T t) { return t; }\nvoid Shape::area() {}\n",
        [("namespace n", "class Shape", "function draw"), ("function twice",),
         ("function Shape::area",)],
    ),
    "csharp": (
        "using X;\nnamespace N { public class Shape { int P {get;set;} void Draw() {} } }\n",
        [("namespace N", "class Shape", "property P"), ("namespace N", "class Shape",
                                                        "method Draw")],
    ),
    "ruby": (
        "module Space\n  class Shape < Base\n    def draw; 1; end\n    def self.make; 2; end\n"
        "  end\nend\n",
        [("module Space", "class Shape", "def draw"), ("module Space", "class Shape",
                                                       "def make")],
    ),
    "php": (
        "<?php\nclass Shape { function draw() { return 1; } }\nfunction main() { return 2; }\n",
        [("class Shape", "method draw"), ("function main",)],
    ),
    "kotlin": (
        "package a\n\nclass Shape(val x: Int) {\n    fun draw() {}\n}\n\nfun main() {}\n",
        [("class Shape", "fun draw"), ("fun main",)],
    ),
    "scala": (
        "class Shape { def draw = 1 }\nobject Main { def main = 2 }\n",
        [("class Shape", "def draw"), ("object Main", "def main")],
    ),
    "bash": (
        "x=1\ndraw() { echo é; }\nfunction main { echo 2; }\n",
        [("function draw",), ("function main",)],
    ),
}  # fmt: skip
