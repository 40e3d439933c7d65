import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { runCommand } from "../cli/run-command.ts";
import { ROOT } from "../support/run-main.ts";

const run = promisify(execFile);
const counts = z.record(z.string(), z.number());
const printed = z.object({ counts: z.looseObject({ hours: z.number() }), total: counts, unanswered: counts });
const bill = z.object({ month: z.object({ operations: counts }) });

const DAYS_OF_A_MONTH = 30;

/**
 * A simulated day of the local runtime, counted twice: by bench:cost where requests leave the process, and here from the access log that
 * the emulator writes. `cost` reads the first.
 */
test.each([{ day: "idle" }, { day: "busy" }])(
  "$day: cost counts what the emulator's access log has",
  async ({ day }) => {
    const folder = await mkdtemp(path.join(tmpdir(), "cost-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const logFile = path.join(folder, "access.log");
    const { stdout } = await run("npm", ["run", "-s", "bench:cost", "--", day, "--access-log", logFile], {
      cwd: ROOT,
      maxBuffer: 1 << 24,
    });
    const { counts: day1, total, unanswered } = printed.parse(JSON.parse(stdout));
    const log = (await readFile(logFile, "utf8")).trim().split("\n").map(requestOf);

    // A connection that broke leaves a request without an answer: it may have arrived, and was sent again.
    const most = Object.values(unanswered).reduce((sum, count) => sum + count, 0);
    console.log(`${day}: ${log.length} requests in the log, ${most} of ours without an answer`);
    expect(most).toBeLessThanOrEqual(log.length / 1000);
    expectNear(countKinds(log), total, unanswered);

    // The local host polls, and keeps its leases, otherwise than Azure's: `cost` works these out from what it assumes.
    const counted = countKinds(log.filter((request) => !isOfTheHost(request)));
    // One table is the local host's own. The log does not name what is created.
    counted["table create"] = (counted["table create"] ?? 0) - 1;
    const { out } = await runCommand(["cost", "--day", "day.json", "--json"], { "day.json": day1 });
    const { month } = bill.parse(JSON.parse(out));
    const aDay = Object.entries(month.operations).map(([kind, count]) => [kind, count / DAYS_OF_A_MONTH]);
    expectNear(counted, Object.fromEntries(aDay), unanswered);
  },
);

/** The log has each answered request, and some of those without an answer. */
function expectNear(log: Counts, answered: Counts, unanswered: Counts): void {
  const kinds = new Set([...Object.keys(log), ...Object.keys(answered)]);
  for (const kind of kinds) {
    const more = (log[kind] ?? 0) - (answered[kind] ?? 0);
    expect(more, kind).toBeGreaterThanOrEqual(0);
    expect(more, kind).toBeLessThanOrEqual(unanswered[kind] ?? 0);
  }
}

type Counts = Readonly<Record<string, number>>;

interface Request {
  readonly method: string;
  readonly path: string;
}

/** A line of the emulator: 127.0.0.1 - - [date] "GET /devstoreaccount1/... HTTP/1.1" 200 - */
function requestOf(line: string): Request {
  const [, method = "", address = ""] = /"([A-Z]+) (\S+) HTTP\/1\.1"/.exec(line) ?? [];
  return { method, path: decodeURIComponent(address.replace("/devstoreaccount1/", "")) };
}

function isOfTheHost({ method, path: asked }: Request): boolean {
  if (asked.startsWith("LocalFunctionsHost")) return true;
  return method === "GET" && asked.startsWith("demand/messages?");
}

/** By kind as `cost` names them. */
function countKinds(requests: readonly Request[]): Record<string, number> {
  const result: Record<string, number> = {};
  for (const request of requests) result[kindOf(request)] = (result[kindOf(request)] ?? 0) + 1;
  return result;
}

/** Rows: TABLE(PartitionKey='P',RowKey='R'). Lists: TABLE()?$filter. New rows: TABLE. Queues: QUEUE and QUEUE/messages. */
const KINDS: readonly (readonly [method: string, path: RegExp, kind: string])[] = [
  ["POST", /^\$batch/, "table transaction"],
  ["POST", /^Tables/, "table create"],
  ["GET", /^\w+\(PartitionKey=/, "table read"],
  ["GET", /^\w+\(\)/, "table list"],
  ["PUT", /^\w+\(PartitionKey=/, "table write"],
  ["PATCH", /^\w+\(PartitionKey=/, "table write"],
  ["DELETE", /^\w+\(PartitionKey=/, "table delete"],
  ["POST", /^demand[a-z-]*\/messages/, "queue put"],
  ["GET", /^demand[a-z-]*\/messages\?.*peekonly=true/, "queue peek"],
  ["GET", /^demand[a-z-]*\/messages/, "queue get"],
  ["PUT", /^demand[a-z-]*\/messages\//, "queue update"],
  ["DELETE", /^demand[a-z-]*\/messages\//, "queue delete"],
  ["GET", /^demand[a-z-]*\?.*comp=metadata/, "queue properties"],
  ["PUT", /^demand[a-z-]*(\?|$)/, "queue create"],
  ["POST", /^(autoscaler|LocalFunctionsHost)(\?|$)/, "table write"],
];

function kindOf({ method, path: asked }: Request): string {
  const [, , kind] = KINDS.find(([verb, pattern]) => verb === method && pattern.test(asked)) ?? [];
  return kind ?? `${method} ${asked}`;
}
