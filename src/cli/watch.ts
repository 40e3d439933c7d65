import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import type { Terminal } from "./terminal.ts";
import type { Seconds } from "../domain/units.ts";

/**
 * Shows something repeatedly until the user stops it, which counts as success. A refusal of the app ends it at once. A temporary failure,
 * such as an app that does not answer, does not. On a terminal each output replaces the previous one. Elsewhere an empty line separates
 * them.
 */
export async function watch(
  terminal: Terminal,
  seconds: Seconds,
  show: (terminal: Terminal) => Promise<{ readonly code: ExitCode; readonly refused: boolean }>,
): Promise<ExitCode> {
  let first = true;
  const painted: Terminal = {
    ...terminal,
    say: (text) => {
      if (terminal.columns !== undefined) terminal.clear();
      terminal.say(first || terminal.columns !== undefined ? text : `\n${text}`);
      first = false;
    },
  };
  for (;;) {
    const { code, refused } = await show(painted);
    if (refused) return code;
    if (!(await terminal.sleep(seconds * 1000))) return EXIT.done;
  }
}
