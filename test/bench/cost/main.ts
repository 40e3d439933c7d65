/** `npm run bench:cost`: what the app asks of storage in a simulated day; `cost` works out its bill from that (docs/costs.md). */
import { createWriteStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { finished } from "node:stream/promises";
import { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { runDay } from "./run-day.ts";

const USAGE = `usage: npm run bench:cost -- idle|busy [--speed N] [--hours N] [--access-log FILE] [--write]
Plays a day in the local runtime, and prints what it counted as JSON.
  --speed N          simulated seconds in a real one, 240 for idle and 100 for busy without it
  --hours N          simulated hours, 24 without it
  --access-log FILE  the emulator's access log goes there
  --write            replaces the day that the command line ships`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    speed: { type: "string" },
    hours: { type: "string" },
    "access-log": { type: "string" },
    write: { type: "boolean" },
    help: { type: "boolean" },
  },
});
const [day] = positionals;
if (values.help === true || (day !== "idle" && day !== "busy")) console.log(USAGE);
else await run(day);

async function run(day: "idle" | "busy"): Promise<void> {
  const file = values["access-log"];
  const accessLog = file === undefined ? nowhere() : createWriteStream(file);
  const measured = await runDay({
    day,
    speed: Number(values.speed ?? (day === "idle" ? "240" : "100")),
    hours: Number(values.hours ?? "24"),
    accessLog,
  });
  accessLog.end();
  await finished(accessLog);
  console.log(JSON.stringify(measured));
  if (values.write !== true) return;
  const shipped = fileURLToPath(new URL(`../../../src/cli/cost/${day}-day.json`, import.meta.url));
  await writeFile(shipped, `${JSON.stringify(measured.counts, null, 2)}\n`);
}

function nowhere(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}
