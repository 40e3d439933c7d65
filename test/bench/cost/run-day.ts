import { randomBytes } from "node:crypto";
import type { Writable } from "node:stream";
import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import type { DayCounts, StorageCounts } from "../../../src/cli/cost/day-counts.ts";
import { STORAGE_KINDS } from "../../../src/cli/cost/day-counts.ts";
import { sendDemand } from "../../../src/client/send.ts";
import { composition, decoratePorts } from "../../../src/compose.ts";
import { startAzurite } from "../../../src/local/azurite.ts";
import { installCore } from "../../../src/local/host/core.ts";
import { startHost } from "../../../src/local/host/host.ts";
import { AuditFeed } from "../../../src/local/play/audit-feed.ts";
import type { PlayedCluster } from "../../../src/local/play/cluster.ts";
import { auditedLimits, clusterFor, simulatorOptions } from "../../../src/local/play/cluster.ts";
import { AGENT_TIMES } from "../../../src/local/play/play.ts";
import { readReply } from "../../../src/local/play/doors.ts";
import { SchedulerAgent } from "../../../src/local/play/scheduler-agent.ts";
import { freePort } from "../../../src/local/ports.ts";
import type { Clock } from "../../../src/local/scaled-clock.ts";
import { scaledClock } from "../../../src/local/scaled-clock.ts";
import { HOST_JSON } from "../../../src/local/system.ts";
import { compareText } from "../../../src/domain/text.ts";
import { compressWorkload } from "../../../src/local/workload/compressed-workload.ts";
import { SchedulerModel } from "../../../src/local/workload/scheduler-model.ts";
import type { WorkloadJob } from "../../../src/local/workload/workload-job.ts";
import { Simulator } from "../../../src/simulator/engine.ts";
import { serveSimulator } from "../../../src/simulator/server.ts";
import { measureStorage } from "./storage-meter.ts";

export type DayName = "idle" | "busy";

const JOBS = 600;
const PROCESSORS = 512;
const CORES_PER_NODE = 16;

export interface DayOptions {
  readonly day: DayName;
  /** Simulated seconds in a real one. */
  readonly speed: number;
  readonly hours: number;
  /** Gets the emulator's access log. */
  readonly accessLog: Writable;
}

export interface Measured {
  readonly counts: DayCounts;
  /** Every request that was answered, also those of the local host itself. */
  readonly total: StorageCounts;
  /** Requests without an answer. Storage may have received them; each was sent again. */
  readonly unanswered: StorageCounts;
}

/** The functions in the local host of this process, for some simulated hours. One run per process: the app reads its settings once. */
export async function runDay({ day, speed, hours, accessLog }: DayOptions): Promise<Measured> {
  // Loading takes a second: minutes of the day, and the first ticks.
  await import("../../../functions/handlers.ts");
  const origin = Date.now();
  const clock = scaledClock({ origin, speed });
  const azurite = await startAzurite({}, accessLog);
  const meter = measureStorage(azurite);
  const cluster = clusterFor(PROCESSORS, CORES_PER_NODE);
  const simulator = new Simulator(simulatorOptions(cluster, 1), clock);
  const password = randomBytes(12).toString("hex");
  const server = await serveSimulator(simulator, { credentials: { username: "autoscaler", password } });
  const executions = countExecutions();
  const logged = countLog();
  const port = await freePort();
  const host = await startHost({
    app: () => import("../../../functions/main.ts"),
    hostJson: slowlyPolling(JSON.parse(await readFile(HOST_JSON, "utf8"))),
    settings: {
      AUTOSCALER_CLUSTERS: JSON.stringify([
        {
          name: cluster.name,
          url: server.url,
          username: "autoscaler",
          passwordSetting: "CYCLECLOUD_PASSWORD",
        },
      ]),
      CYCLECLOUD_PASSWORD: password,
      AUTOSCALER_PUBLIC_URL: `http://127.0.0.1:${port}`,
      AUTOSCALER_AUTOSTOP_KEYS: `day:${randomBytes(24).toString("hex")}`,
      AUTOSCALER_LOCAL_CLOCK: `${origin}@${speed}`,
    },
    clock,
    speed,
    port,
    connectionString: azurite.connectionString,
  });
  await composition().prepare();
  const jobs =
    day === "idle" ? [] : compressWorkload({ jobs: JOBS, seed: 1, hours, maxProcessors: PROCESSORS }).jobs;
  const happened = await play(
    { clock, simulator, cluster, jobs, endAt: origin + hours * 3_600_000 },
    azurite,
  );
  await host.stop();
  // What goes on in the background ends, so that every request that began is also answered.
  await pause(SETTLE_MS);
  await server.close();
  meter.close();
  await azurite.close();
  const { sent } = happened;
  const perCluster = meter.counts("perCluster");
  const perStart = meter.counts("perStart");
  return {
    counts: {
      day: describe(day, cluster, happened),
      hours,
      executions: Object.fromEntries([...executions].toSorted(([a], [b]) => compareText(a, b))),
      // One of the tables is the local host's own.
      perStart: sorted({ ...perStart, "table create": (perStart["table create"] ?? 0) - 1 }),
      perApp: sorted(meter.counts("perApp")),
      perCluster: sorted({ ...perCluster, "queue put": (perCluster["queue put"] ?? 0) - sent }),
      bySenders: sent === 0 ? {} : { "queue put": sent },
      byTrigger: sorted(meter.counts("byTrigger")),
      logLines: logged.lines,
      logBytes: logged.bytes,
    },
    total: sorted(meter.total()),
    unanswered: sorted(meter.unanswered()),
  };
}

/** What the emulator is polled for does not count, so it is not polled more often than a message needs. */
function slowlyPolling(hostJson: unknown): unknown {
  const text = JSON.stringify(hostJson).replace(
    '"maxPollingInterval":"00:00:02"',
    '"maxPollingInterval":"00:00:10"',
  );
  return JSON.parse(text);
}

function countExecutions(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  installCore().hooks.preInvocation.push((context) => {
    const { invocationContext } = context as {
      readonly invocationContext: { readonly functionName: string };
    };
    counts.set(invocationContext.functionName, (counts.get(invocationContext.functionName) ?? 0) + 1);
  });
  return counts;
}

function countLog(): { lines: number; bytes: number } {
  const logged = { lines: 0, bytes: 0 };
  decoratePorts((ports) => ({
    ...ports,
    log(event, fields) {
      logged.lines += 1;
      logged.bytes += JSON.stringify({ event, ...fields }).length;
    },
  }));
  return logged;
}

interface Played {
  readonly clock: Clock;
  readonly simulator: Simulator;
  readonly cluster: PlayedCluster;
  readonly jobs: readonly WorkloadJob[];
  readonly endAt: number;
}

interface Happened {
  /** Messages from the scheduler. */
  readonly sent: number;
  readonly made: number;
  readonly stopped: number;
}

/** Until the day is over. A cluster without jobs has no scheduler that sends. */
async function play(
  { clock, simulator, cluster, jobs, endAt }: Played,
  { connectionString }: { readonly connectionString: string },
): Promise<Happened> {
  const feed = new AuditFeed(auditedLimits(cluster));
  const scheduler = new SchedulerModel({ maxSlots: PROCESSORS });
  const happened = { sent: 0, made: 0, stopped: 0 };
  const agent = new SchedulerAgent(
    scheduler,
    jobs,
    {
      async push(message) {
        happened.sent += 1;
        await sendDemand({ queue: connectionString }, message, { now: clock.now() });
      },
      async askStop(url, query) {
        const response = await fetch(`${url}?${new URLSearchParams(query).toString()}`);
        return readReply(response.status, await response.json());
      },
    },
    { cluster: cluster.name, requestSet: "standard", ...AGENT_TIMES },
    clock.now(),
    () => undefined,
  );
  simulator.onEvent((event) => {
    if (event.kind === "node-created") happened.made += 1;
    if (event.kind === "terminate-accepted") happened.stopped += 1;
    if (feed.handle(event, scheduler)) agent.touch();
  });
  const steps = new Set<Promise<void>>();
  while (clock.now() < endAt) {
    simulator.advance();
    if (jobs.length > 0) {
      const step = agent.step(clock.now()).finally(() => steps.delete(step));
      steps.add(step);
    }
    await pause(STEP_MS);
  }
  await Promise.all(steps);
  return happened;
}

const STEP_MS = 50;
const SETTLE_MS = 2000;

function describe(day: DayName, cluster: PlayedCluster, { sent, made, stopped }: Happened): string {
  if (day === "idle") return "one cluster without nodes and without demand; no calls of the app";
  return (
    `one cluster of up to ${cluster.nodes} nodes; ${JOBS} jobs after Lublin and Feitelson (2003); ` +
    `${sent} messages from its scheduler, at most one a minute; ${made} nodes made, ${stopped} stopped`
  );
}

/** In the order of the kinds, so that two files can be compared. */
function sorted(counts: StorageCounts): StorageCounts {
  return Object.fromEntries(
    STORAGE_KINDS.flatMap((kind) =>
      counts[kind] === undefined || counts[kind] === 0 ? [] : [[kind, counts[kind]]],
    ),
  );
}
