import { readFileSync } from "node:fs";
import { setName } from "../../src/domain/ids.ts";
import { instant } from "../../src/domain/units.ts";
import { readDemandMessage, readRequestSet } from "../../src/wire/message/demand-message.ts";
import { appOnTable, DEMO, SleepersClock } from "./app-on-table.ts";

/**
 * A process of its own that takes in or refuses inputs, each from a file, and prints what each cost: `node read-inputs.ts queue|http FILE...`.
 * Memory is what it held at most so far above what it held before the first.
 */
export interface Cost {
  readonly outcome: string;
  readonly processorSeconds: number;
  readonly mebibytes: number;
}

const now = instant(Date.UTC(2026, 0, 1));

/** In MiB. The system counts this in KiB. */
const mostHeld = (): number => process.resourceUsage().maxRSS / 1024;

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
    const body = new Uint8Array(readFileSync(file));
    // What the input before has left is not this one's.
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
