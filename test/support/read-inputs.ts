import { existsSync, readFileSync } from "node:fs";
import { setName } from "../../src/domain/ids.ts";
import { instant } from "../../src/domain/units.ts";
import { readDemandMessage, readRequestSet } from "../../src/wire/message/demand-message.ts";
import { appOnTable, DEMO, SleepersClock } from "./app-on-table.ts";

/*
 * A script that reads inputs at a door, each from a file, and prints the cost of each: `node read-inputs.ts queue|http FILE...`.
 */

/** The cost of one input. Memory is the most that the process has held so far, less what it held before the first input. */
export interface Cost {
  readonly outcome: string;
  readonly processorSeconds: number;
  readonly mebibytes: number;
}

const now = instant(Date.UTC(2026, 0, 1));

/**
 * The peak memory of the process in MiB. The system counts it in KiB. Not `maxRSS` on Linux: a new process begins with that of the process
 * that started it, and the one of a test run may hold hundreds of MiB.
 */
function mostHeld(): number {
  const status = existsSync(STATUS) ? readFileSync(STATUS, "utf8") : "";
  const own = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
  return (own === undefined ? process.resourceUsage().maxRSS : Number(own)) / 1024;
}

const STATUS = "/proc/self/status";

async function takeIn(
  { composed }: ReturnType<typeof appOnTable>,
  door: string,
  body: Uint8Array,
): Promise<string> {
  const common = { now, maxExpirationSeconds: 86_400 };
  const read =
    door === "queue"
      ? readDemandMessage(Buffer.from(body).toString("utf8"), {
          ...common,
          messageId: "m",
          insertedAt: now,
        })
      : readRequestSet(body, { ...common, cluster: DEMO, set: setName("s") });
  if (read.kind !== "update") return read.kind;
  return (await composed.recorder.record(read.update)).kind;
}

if (import.meta.main) {
  const [door = "queue", ...files] = process.argv.slice(2);
  const app = appOnTable(new SleepersClock(now));
  await app.push({ requestSet: "first", jobs: [] });
  globalThis.gc?.();
  const idle = process.memoryUsage.rss() / 1024 / 1024;
  for (const file of files) {
    const body: Uint8Array = readFileSync(file);
    // Garbage of the previous input must not count for this one.
    globalThis.gc?.();
    const before = process.cpuUsage();
    const outcome = await takeIn(app, door, body);
    const { user, system } = process.cpuUsage(before);
    const cost: Cost = {
      outcome,
      processorSeconds: (user + system) / 1_000_000,
      mebibytes: mostHeld() - idle,
    };
    process.stdout.write(`${JSON.stringify(cost)}\n`);
  }
}
