import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import type { Terminal } from "./terminal.ts";

/** Moves the cursor to the top and clears what is below. */
const CLEAR = "\u001B[H\u001B[J";

/**
 * Shows something again and again until the user stops it, which is a good end. What the app refuses ends it at once; what passes, as an
 * app that does not answer, does not. On a terminal each picture replaces the one before; elsewhere an empty line stands between them.
 */
export async function watch(
  terminal: Terminal,
  seconds: number,
  show: (terminal: Terminal) => Promise<{ readonly code: ExitCode; readonly refused: boolean }>,
): Promise<ExitCode> {
  let first = true;
  const painted: Terminal = {
    ...terminal,
    say: (text) => {
      if (terminal.columns !== undefined) terminal.say(`${CLEAR}${text}`);
      else terminal.say(first ? text : `\n${text}`);
      first = false;
    },
  };
  for (;;) {
    const { code, refused } = await show(painted);
    if (refused) return code;
    if (!(await terminal.sleep(seconds * 1000))) return EXIT.done;
  }
}
