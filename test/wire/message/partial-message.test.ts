import { describe, expect, test } from "vitest";
import { CONTEXT, partialOf, problemLines, readMembers, updateOf } from "../context.ts";
import { clusterName, setName } from "../../../src/domain/ids.ts";
import { readDemandMessage, readRequestSet } from "../../../src/wire/message/demand-message.ts";

const HOSTS = [{ hostname: "ip-1", jobs: ["17"] }];
const POOLS = [{ name: "licence-x", total: 10, used: 2 }];
const NOTHING =
  ': nothing -> at least one of nodearrays, jobs, schedulerNodes, pools; to empty a set send "jobs": []';

describe("a message without nodearrays and jobs", () => {
  test.each([
    { name: "only a report", members: { schedulerNodes: HOSTS }, has: { schedulerNodes: HOSTS } },
    { name: "a report of no host", members: { schedulerNodes: [] }, has: { schedulerNodes: [] } },
    { name: "only pools", members: { pools: POOLS }, has: { pools: POOLS } },
    {
      name: "both",
      members: { schedulerNodes: HOSTS, pools: POOLS },
      has: { schedulerNodes: HOSTS, pools: POOLS },
    },
  ])("says nothing of the demand: $name", ({ members, has }) => {
    expect(partialOf(readMembers({ requestSet: "pbs", expirationInterval: 60, ...members }))).toEqual({
      cluster: "prod",
      set: "pbs",
      revision: { value: 1_763_636_399_000, tieBreak: "message-1" },
      intervalSeconds: 60,
      sentAt: 1_763_636_399_750,
      expiresAt: 1_763_636_459_750,
      ...has,
    });
  });

  test.each([
    { name: "no jobs", members: { jobs: [] } },
    { name: "no targets", members: { nodearrays: [] } },
  ])("is told apart from an empty list: $name, and all parts are stated", ({ members }) => {
    const update = updateOf(readMembers({ ...members, schedulerNodes: HOSTS }));
    expect(update.demand).toEqual({ demands: [], pools: [], rejectedJobs: [] });
    expect(update.schedulerNodes).toEqual(HOSTS);
  });

  test("and without anything else is refused, with the way to empty a set", () => {
    expect(problemLines(readMembers({ requestSet: "pbs" }))).toEqual([NOTHING]);
    expect(problemLines(readMembers({ revision: 1_763_636_000_000, expirationInterval: 60 }))).toEqual([
      NOTHING,
    ]);
    const address = { cluster: clusterName("prod"), set: setName("pbs") };
    const context = { ...address, now: CONTEXT.now, maxExpirationSeconds: 86_400 };
    expect(problemLines(readRequestSet({ version: 1 }, context))).toEqual([NOTHING]);
  });

  test("and with a list whose name is wrong is told that alone", () => {
    const read = readMembers({ job: [] });
    expect(problemLines(read)).toEqual([expect.stringMatching(/^: "job" -> one of the keys .*\(jobs\?\)$/)]);
  });

  test("may only wake: that is a message of its own kind", () => {
    expect(readDemandMessage({ version: 1, cluster: "prod", wake: true }, CONTEXT).kind).toBe("wake");
  });
});
