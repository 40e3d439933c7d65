import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { oneArray, target } from "../scenarios/clusters.ts";
import { Stage } from "../scenarios/stage.ts";
import { ROOT } from "../support/run-main.ts";
import { playQuery, textOf } from "./play-query.ts";

/** The alert query, played on log lines: those of stories with a cluster, and some that are written here. */

const MINUTE = 60_000;
const HOUR = 3600;
const NOW = Date.UTC(2026, 0, 1, 12);
const source = readFileSync(`${ROOT}/infra/modules/events.kql`, "utf8");

interface Line {
  readonly at: number;
  readonly event: string;
  readonly fields: object;
}

/** What the alert names at a moment, as "problem cluster found". */
function problemsAt(lines: readonly Line[], now: number, heartbeat = "on", events = "on"): readonly string[] {
  const query = source
    .replace("INSIGHTS_ID", "/insights")
    .replaceAll("UNMET_MINUTES", "60")
    .replace("HEARTBEAT", heartbeat)
    .replace("EVENTS", events);
  const AppTraces = lines
    .filter(({ at }) => at <= now)
    .map(({ at, event, fields }) => ({
      TimeGenerated: at,
      _ResourceId: "/Insights",
      Message: JSON.stringify({ event, ...fields }),
    }));
  return playQuery(query, { AppTraces }, now).map((row) =>
    [row["problem"], row["cluster"], row["found"]].map((found = null) => textOf(found)).join(" "),
  );
}

describe("lines of this test", () => {
  const ago = (minutes: number, event: string, fields: object = {}): Line => ({
    at: NOW - minutes * MINUTE,
    event,
    fields: { cluster: "prod", ...fields },
  });
  const good = [ago(5, "tick", { outcome: "planned" })];

  test.each([
    { name: "no line at all", lines: [], found: ["no successful tick  0"] },
    { name: "a cluster at rest", lines: [ago(20, "tick", { outcome: "planned" })], found: [] },
    {
      name: "ticks that fail, while another cluster's succeed",
      lines: [
        ago(20, "tick", { outcome: "troubled", trouble: "unreachable" }),
        ago(5, "tick", { outcome: "timed-out" }),
        ago(5, "tick", { cluster: "lab", outcome: "covered" }),
      ],
      found: ["cluster unhealthy prod 2"],
    },
    {
      name: "a refused password, and one that was corrected since",
      lines: [
        ago(6, "tick", { outcome: "troubled", trouble: "denied" }),
        ago(5, "tick", { outcome: "planned" }),
      ],
      found: ["credentials refused prod 1"],
    },
    {
      name: "a refused message, and one of long ago",
      lines: [...good, ago(3, "message-rejected"), ago(50, "message-rejected")],
      found: ["message rejected prod 1"],
    },
    {
      name: "101 refused messages in 20 minutes, and a hundred of another cluster",
      lines: [
        ...good,
        ...Array.from({ length: 101 }, () => ago(3, "message-rejected")),
        ...Array.from({ length: 100 }, () => ago(3, "message-rejected", { cluster: "lab" })),
      ],
      found: [
        "message rejected prod 101",
        "message rejected lab 100",
        "messages rejected in large numbers prod 101",
      ],
    },
    {
      name: "tokens that were refused: 21 of one cluster, 20 of another, some of no cluster, and many long ago",
      lines: [
        ...good,
        ago(18, "tokens-refused", { number: 1 }),
        ago(3, "tokens-refused", { number: 20 }),
        ago(3, "tokens-refused", { cluster: "lab", number: 20 }),
        ago(2, "tokens-refused", { cluster: undefined, number: 4000 }),
        ago(30, "tokens-refused", { cluster: "lab", number: 4000 }),
      ],
      found: ["tokens refused prod 21", "tokens refused  4000"],
    },
    {
      name: "a process that starts three times on one machine, twice on another, and on new machines",
      lines: [
        ...good,
        ...[15, 10, 5].map((at) => ago(at, "started", { cluster: undefined, instance: "a" })),
        ...[15, 5].map((at) => ago(at, "started", { cluster: undefined, instance: "b" })),
        ...["c", "d", "e"].map((instance) => ago(5, "started", { cluster: undefined, instance })),
      ],
      found: ["process starts again and again  3"],
    },
    {
      name: "a poisoned message",
      lines: [...good, ago(3, "poison-tried-again"), ago(2, "poison-not-swept")],
      found: ["message poisoned prod 2"],
    },
    {
      name: "demand that was unmet all the time, and demand that was met once",
      lines: [
        ...good,
        ...[58, 40, 20, 5].map((at) => ago(at, "plan", { unmet: 3 })),
        ...[58, 40, 20, 5].map((at) => ago(at, "plan", { cluster: "lab", unmet: at === 20 ? 0 : 3 })),
      ],
      found: ["demand unmet prod 3"],
    },
    {
      name: "a trouble that has lasted for 31 minutes, one of 10 minutes, one that ended, and one that costs nothing",
      lines: [
        ...good,
        ago(31, "trouble", { kind: "nodes-not-ours", number: 2 }),
        ago(1, "trouble", { kind: "nodes-not-ours", number: 5 }),
        ago(10, "trouble", { kind: "node-failed", number: 1 }),
        ago(1, "trouble", { kind: "node-failed", number: 1 }),
        ago(55, "trouble", { kind: "down-kept", number: 1 }),
        ago(25, "trouble", { kind: "down-kept", number: 1 }),
        ago(31, "trouble", { kind: "node-missing", number: 1 }),
        ago(1, "trouble", { kind: "node-missing", number: 1 }),
      ],
      found: ["nodes-not-ours prod 5"],
    },
    {
      name: "one failed boot, logged for half an hour, and two of another cluster",
      lines: [
        ...good,
        ...[30, 15, 1].map((at) => ago(at, "boot-failed", { bucket: "a/b", until: "11:31" })),
        ago(100, "boot-failed", { cluster: "lab", bucket: "a/b", until: "10:20" }),
        ago(10, "boot-failed", { cluster: "lab", bucket: "a/c", until: "11:55" }),
      ],
      found: ["boots fail again and again lab 2"],
    },
    {
      name: "the lines of another app, and lines that are no events",
      lines: [...good, { at: NOW, event: "", fields: { text: "message-rejected" } }],
      found: [],
    },
  ])("$name", ({ lines, found }) => {
    expect(problemsAt(lines, NOW)).toEqual(found);
  });

  test("each switch takes its rows away, and no other", () => {
    const lines = [ago(3, "message-rejected")];
    expect(problemsAt(lines, NOW, "on", "off")).toEqual(["no successful tick  0"]);
    expect(problemsAt(lines, NOW, "off", "on")).toEqual(["message rejected prod 1"]);
  });
});

describe("lines of the app", () => {
  /** What the alert names in a story, in the order in which it does so first. */
  async function namedIn(
    hours: number,
    simulator: ReturnType<typeof oneArray>,
    begin: (stage: Stage) => Promise<void>,
    eachQuarter: (stage: Stage) => void = () => {},
  ): Promise<readonly string[]> {
    const lines: Line[] = [];
    const stage: Stage = new Stage({
      simulator,
      log: (event, fields) => lines.push({ at: stage.clock.now(), event, fields }),
    });
    await begin(stage);
    const named = new Set<string>();
    for (let quarter = 0; quarter < hours * 4; quarter += 1) {
      await stage.pass(900);
      eachQuarter(stage);
      for (const problem of problemsAt(lines, stage.clock.now())) named.add(problem);
    }
    return [...named];
  }

  test("four nodes that no demand needs, and that never ask", async () => {
    const named = await namedIn(2, oneArray("demo"), async (stage) => {
      await stage.during(stage.push(target("demo", 4, { expirationInterval: 600 })));
    });
    expect(named).toEqual(["nodes-not-needed demo 1"]);
  });

  test("nodes that never boot: one batch raises nothing, the second does", async () => {
    const named = await namedIn(3, oneArray("demo", {}, { neverBootShare: 1 }), async (stage) => {
      await stage.during(stage.push(target("demo", 2, { expirationInterval: 86_400 })));
    });
    expect(named).toEqual(["boots fail again and again demo 2"]);
  });

  test("nodes that shut themselves down, one each quarter of an hour: nothing, as the app ends each of them", async () => {
    const named = await namedIn(
      2,
      oneArray("demo"),
      async (stage) => {
        await stage.during(stage.push(target("demo", 12, { expirationInterval: 86_400 })));
      },
      (stage) => stage.simulator.faults.shutDown(stage.readyNodes[0]?.nodeId ?? ""),
    );
    expect(named).toEqual([]);
  });

  test("nodes that come, work and go: nothing", async () => {
    const named = await namedIn(1, oneArray("demo"), async (stage) => {
      await stage.during(stage.push(target("demo", 2, { expirationInterval: 2 * HOUR })));
    });
    expect(named).toEqual([]);
  });
});
