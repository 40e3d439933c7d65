import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { folderWith, PYTHON_FOLDER, runPython } from "./run-python.ts";

/** A package jetpack as a node has it: it says something when it is loaded, and its modules import each other. */
const INSTALLED = {
  "site/jetpack/__init__.py": "def log(text):\n    return 'logged ' + text\n",
  "site/jetpack/config.py": "from jetpack import util\ndef get(name):\n    return util.quote(name)\n",
  "site/jetpack/util.py": "def quote(text):\n    return '<' + text + '>'\n",
};

const USE =
  "print(jetpack.config.get('a'), jetpack.util.quote('b'), jetpack.log('c'), jetpack.autoscale.set.__module__)";
const SAID = "<a> <b> logged c cyclecloud_autoscaler\n";

/** How jetpack.autoscale comes beside a package jetpack that is installed. */
export function jetpackSuite(python: string): void {
  describe("beside the jetpack that is installed", () => {
    test.each([
      ["autoscale first", "import jetpack.autoscale, jetpack.config, jetpack.util"],
      ["autoscale last", "import jetpack.config, jetpack.util, jetpack.autoscale"],
      [
        "within a function",
        "import jetpack\ndef load():\n    import jetpack.util, jetpack.autoscale, jetpack.config\nload()",
      ],
    ])("%s: all of both can be imported", async (_, imports) => {
      const path = [PYTHON_FOLDER, join(folderWith(INSTALLED), "site")];
      expect(await runPython(python, ["-c", `${imports}\n${USE}`], {}, path)).toEqual({
        code: 0,
        stdout: SAID,
        stderr: "",
      });
    });

    test.each([
      ["", "found first"],
      ["found later", ""],
    ])("run puts ours before one that is %s%s on the path", async (later, first) => {
      const folder = folderWith({
        ...INSTALLED,
        "site/jetpack/autoscale.py": "raise Exception('the old one')",
        "job/script.py": `import sys\nimport jetpack.config, jetpack.util, jetpack.autoscale\n${USE}\nprint(sys.argv[1:], __name__)`,
      });
      const site = join(folder, "site");
      const path = first === "" ? [PYTHON_FOLDER, site] : [site, PYTHON_FOLDER];
      const words = [
        join(PYTHON_FOLDER, "cyclecloud_autoscaler.py"),
        "run",
        join(folder, "job/script.py"),
        "-x",
        "y",
      ];
      expect(later + first).toMatch(/^found /);
      expect(await runPython(python, words, {}, path)).toEqual({
        code: 0,
        stdout: `${SAID}['-x', 'y'] __main__\n`,
        stderr: "",
      });
    });

    test("without one it is a package of its own", async () => {
      const text = "import jetpack.autoscale as a\nprint(a.update.__module__)\nimport jetpack.config";
      const ran = await runPython(python, ["-c", text]);
      expect(ran.stdout).toBe("cyclecloud_autoscaler\n");
      expect(ran.stderr).toMatch(/No module named 'jetpack\.config'\n$/);
    });

    test("a folder jetpack without __init__.py is one too", async () => {
      const { "site/jetpack/util.py": util } = INSTALLED;
      const path = [PYTHON_FOLDER, join(folderWith({ "site/jetpack/util.py": util }), "site")];
      const text = "import jetpack.util, jetpack.autoscale\nprint(jetpack.util.quote('b'))";
      expect((await runPython(python, ["-c", text], {}, path)).stdout).toBe("<b>\n");
    });
  });
}
