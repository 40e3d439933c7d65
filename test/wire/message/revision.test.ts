import { describe, expect, test } from "vitest";
import { checkDemand } from "../../../src/client/send.ts";
import { clusterName, setName } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import { readRequestSet } from "../../../src/wire/message/demand-message.ts";
import { readWhatIf } from "../../../src/wire/what-if.ts";
import { lineOf, NOW, problemLines, readMembers, updateOf } from "../context.ts";

/** 2025-11-20T11:00:00Z in seconds, as `date +%s` writes it. */
const SECONDS = 1_763_636_400;
const HINT = "milliseconds since 1970, 100000000000 or more: this looks like seconds; multiply by 1000";

describe("a revision in seconds is refused, as it would lose against every later message", () => {
  test("in the queue", () => {
    expect(problemLines(readMembers({ revision: SECONDS, jobs: [] }))).toEqual([
      `revision: 1763636400 -> ${HINT}`,
    ]);
  });

  test("over HTTP", () => {
    const context = {
      cluster: clusterName("prod"),
      set: setName("a"),
      now: NOW,
      maxExpirationSeconds: 86_400,
    };
    expect(problemLines(readRequestSet({ version: 1, revision: SECONDS, jobs: [] }, context))).toEqual([
      `revision: 1763636400 -> ${HINT}`,
    ]);
  });

  test("by our own client, before it is sent", () => {
    const message = { version: 1, cluster: "prod", revision: SECONDS, jobs: [] } as const;
    expect(checkDemand(message, NOW).problems.map(lineOf)).toEqual([`revision: 1763636400 -> ${HINT}`]);
  });

  test("in a dry run", () => {
    const body = Buffer.from(JSON.stringify({ requestSets: { a: { revision: SECONDS, jobs: [] } } }));
    const read = readWhatIf(body, { cluster: clusterName("prod"), policy: DEFAULT_POLICY, now: NOW });
    expect(read.kind === "problems" ? read.problems.map(lineOf) : read).toEqual([
      `requestSets.a.revision: 1763636400 -> ${HINT}`,
    ]);
  });
});

describe("the bound", () => {
  test.each([0, 1, 17, 99_999_999_999])("%d is below it", (revision) => {
    expect(problemLines(readMembers({ revision, jobs: [] }))).toEqual([`revision: ${revision} -> ${HINT}`]);
  });

  test("10^11 is a moment of 1973", () => {
    expect(updateOf(readMembers({ revision: 100_000_000_000, jobs: [] })).revision).toEqual({
      value: 100_000_000_000,
      tieBreak: "",
    });
  });
});
