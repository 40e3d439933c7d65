import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import { nameOf, readJson } from "./read-json.ts";
import { complainOfProblems } from "./tell.ts";
import type { Terminal } from "./terminal.ts";
import { isObject } from "./choose.ts";

/** What a file may say of a pool. Nothing else of it is sent: a message may name any file of this machine. */
const MEMBERS = ["total", "used", "value"] as const;
const LONGEST_VALUE = 200;

/**
 * The message with its pools read from their files: a pool with `source` gets `total`, `used` or `value` from the JSON of that file: an
 * object, a number (the total, of which nothing is used unless the message says more), or a text (the value). What stands in the message counts.
 */
export async function withPoolFiles<T>(
  terminal: Terminal,
  file: string,
  message: T,
): Promise<{ readonly value: T } | { readonly code: ExitCode }> {
  if (!isObject(message) || !Array.isArray(message["pools"])) return { value: message };
  const pools: unknown[] = [];
  for (const [at, pool] of message["pools"].entries()) {
    if (!isObject(pool) || pool["source"] === undefined) {
      pools.push(pool);
      continue;
    }
    const { source, ...rest } = pool;
    const path = `pools[${at}].source`;
    if (typeof source !== "string") {
      complainOfProblems(terminal, nameOf(file), [
        { path, found: typeof source, expected: "the name of a file" },
      ]);
      return { code: EXIT.usage };
    }
    const read = await readJson(terminal, source);
    if ("code" in read) return read;
    const said = sayOf(read.value);
    if (said === undefined) {
      const expected = "JSON: a number, a short text, or an object with total and used, or value";
      complainOfProblems(terminal, source, [{ path: "", found: "something else", expected }]);
      return { code: EXIT.usage };
    }
    pools.push({ ...said, ...rest });
  }
  return { value: { ...message, pools } };
}

function sayOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value === "number") return { total: value, used: 0 };
  if (typeof value === "string") return value.length <= LONGEST_VALUE ? { value } : undefined;
  if (!isObject(value)) return undefined;
  const found = MEMBERS.filter((name) => value[name] !== undefined).map((name) => [name, value[name]]);
  return found.length === 0 ? undefined : Object.fromEntries(found);
}
