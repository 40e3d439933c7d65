import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { HostileInput } from "./hostile-inputs.ts";
import type { Cost } from "./read-inputs.ts";

const run = promisify(execFile);
const PROGRAM = fileURLToPath(new URL("read-inputs.ts", import.meta.url));

/** The cost of each input, by name, to a process that reads one after the other. Memory is the most that the process held up to then. */
export async function measureInputs(inputs: readonly HostileInput[]): Promise<ReadonlyMap<string, Cost>> {
  const folder = await mkdtemp(join(tmpdir(), "inputs-"));
  try {
    const files = inputs.map((_, index) => join(folder, String(index)));
    await Promise.all(inputs.map(({ body }, index) => writeFile(files[index] ?? "", body)));
    const { stdout } = await run(process.execPath, [
      "--expose-gc",
      PROGRAM,
      inputs[0]?.door ?? "queue",
      ...files,
    ]);
    const costs = stdout
      .trim()
      .split("\n")
      .map((line): Cost => JSON.parse(line));
    return new Map(
      inputs.flatMap(({ name }, index) => {
        const cost = costs[index];
        return cost === undefined ? [] : [[name, cost] as const];
      }),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}
