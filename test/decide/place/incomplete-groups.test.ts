import { describe, test } from "vitest";
import { placementGroup } from "../../../src/domain/ids.ts";
import type { Reason } from "../../../src/domain/reason.ts";
import { instant } from "../../../src/domain/units.ts";
import { bucket, groups, now, offer, world } from "../../support/build-world.ts";
import type { Scenario } from "../search/scenario.ts";
import { check } from "../search/scenario.ts";
import { exec, member } from "./group-scenario.ts";

describe("groups", () => {
  const other = offer("execute/F4", 4, { 0: 1 }, { maxPlacementGroupSize: 16 });

  const pauseOf = (at: string): Reason => ({
    code: "backing-off",
    bucket: bucket(at),
    until: instant(now + 1000),
    message: "AllocationFailed",
  });

  const paused = (group: string) =>
    exec({ groupRefusals: new Map([[placementGroup(group), pauseOf(`execute/D4/${group}`)]]) });

  const fill = (group: string, seconds: number) => ({
    bucket: bucket(`execute/D4/${group}`),
    key: "execute:2n",
    since: instant(now - seconds * 1000),
  });

  test.each<Scenario>([
    {
      name: "no fresh group while one of the bucket is backing off",
      world: world({
        buckets: [
          exec({
            groupRefusals: new Map([
              [
                placementGroup("pg-execute-2n-1"),
                {
                  code: "backing-off",
                  bucket: bucket("execute/D4/pg-execute-2n-1"),
                  until: instant(now + 1000),
                  message: "AllocationFailed",
                },
              ],
            ]),
          }),
        ],
      }),
      demands: [groups("g", 1, 2)],
      placed: ["g 0/1 (0 pending)"],
      reasons: ["execute/D4/pg-execute-2n-1: pausing until 2025-11-20T11:00:01.000Z after: AllocationFailed"],
    },
    {
      name: "a group lacks a node that cannot be had just now: it is waited for, and nothing is made in its place",
      world: world({
        nodes: [member("n1", "pg-execute-2n-1")],
        buckets: [paused("pg-execute-2n-1"), other],
      }),
      demands: [groups("g", 1, 2)],
      needed: ["n1: standard/g"],
      placed: ["g 0/1 (0 pending)"],
      reasons: [
        "execute/D4/pg-execute-2n-1: has 1 of 2 nodes of a group, and is being filled until 2025-11-20T11:10:00.000Z",
        "execute/D4/pg-execute-2n-1: pausing until 2025-11-20T11:00:01.000Z after: AllocationFailed",
      ],
    },
    {
      name: "one waited for is one asked for: only the second group is made",
      world: world({
        nodes: [member("n1", "pg-execute-2n-1")],
        buckets: [paused("pg-execute-2n-1"), other],
      }),
      demands: [groups("g", 2, 2, {}, "one"), groups("g", 1, 2, {}, "two")],
      creates: ["2 x execute/F4/pg-execute-2n-2"],
      needed: ["n1: one/g"],
      placed: ["g 1/2 (1 pending)", "g 1/1 (1 pending)"],
      reasons: [
        "execute/D4/pg-execute-2n-1: has 1 of 2 nodes of a group, and is being filled until 2025-11-20T11:10:00.000Z",
        "execute/D4/pg-execute-2n-1: pausing until 2025-11-20T11:00:01.000Z after: AllocationFailed",
      ],
    },
    {
      name: "its time is not over",
      world: world({
        nodes: [member("n1", "pg-execute-2n-1")],
        buckets: [paused("pg-execute-2n-1"), other],
        groupFills: [fill("pg-execute-2n-1", 599)],
      }),
      demands: [groups("g", 1, 2)],
      needed: ["n1: standard/g"],
      placed: ["g 0/1 (0 pending)"],
      reasons: [
        "execute/D4/pg-execute-2n-1: has 1 of 2 nodes of a group, and is being filled until 2025-11-20T11:00:01.000Z",
        "execute/D4/pg-execute-2n-1: pausing until 2025-11-20T11:00:01.000Z after: AllocationFailed",
      ],
    },
    {
      name: "its time is over: nobody needs its nodes, and the next VM size is tried, not its own, which is open",
      world: world({
        nodes: [member("n1", "pg-execute-2n-1")],
        buckets: [exec(), other],
        groupFills: [fill("pg-execute-2n-1", 600)],
      }),
      demands: [groups("g", 1, 2)],
      creates: ["2 x execute/F4/pg-execute-2n-2"],
      placed: ["g 1/1 (1 pending)"],
    },
    {
      name: "its time is over, and there is no other VM size",
      world: world({
        nodes: [member("n1", "pg-execute-2n-1")],
        buckets: [exec()],
        groupFills: [fill("pg-execute-2n-1", 600)],
      }),
      demands: [groups("g", 1, 2)],
      placed: ["g 0/1 (0 pending)"],
      reasons: [
        "execute/D4/pg-execute-2n-1: had only 1 of 2 nodes of a group, incomplete since 2025-11-20T10:50:00.000Z",
      ],
    },
    {
      name: "its time is over, but what it lacked is on its way",
      world: world({
        nodes: [member("n1", "pg-execute-2n-1")],
        inFlight: [
          {
            bucket: bucket("execute/D4/pg-execute-2n-1"),
            purpose: { kind: "group", key: "execute:2n", group: "pg-execute-2n-1" },
            resources: { ncpus: 4 },
            cores: 4,
            count: 1,
          },
        ],
        buckets: [exec(), other],
        groupFills: [fill("pg-execute-2n-1", 6000)],
      }),
      demands: [groups("g", 1, 2)],
      needed: ["n1: standard/g"],
      placed: ["g 1/1 (1 pending)"],
    },
    {
      name: "one that was given up is not taken up again while the group in its place lacks nodes itself",
      world: world({
        nodes: [
          member("n1", "pg-execute-2n-1"),
          member("n2", "pg-execute-2n-2", { at: "execute/F4/pg-execute-2n-2" }),
        ],
        buckets: [exec(), { ...other, refusal: pauseOf("execute/F4") }],
        groupFills: [
          { ...fill("pg-execute-2n-1", 700), givenUpAt: instant(now - 100_000) },
          { ...fill("pg-execute-2n-2", 90), bucket: bucket("execute/F4/pg-execute-2n-2") },
        ],
      }),
      demands: [groups("g", 1, 2)],
      needed: ["n2: standard/g"],
      placed: ["g 0/1 (0 pending)"],
      reasons: [
        "execute/F4/pg-execute-2n-2: has 1 of 2 nodes of a group, and is being filled until 2025-11-20T11:08:30.000Z",
        "execute/F4: pausing until 2025-11-20T11:00:01.000Z after: AllocationFailed",
      ],
    },
    {
      name: "one that was given up is filled again when its bucket's turn comes, rather than a new one made",
      world: world({
        nodes: [member("n1", "pg-execute-2n-1")],
        buckets: [exec(), other],
        groupFills: [{ ...fill("pg-execute-2n-1", 700), givenUpAt: instant(now - 100_000) }],
      }),
      demands: [groups("g", 1, 2)],
      creates: ["1 x execute/D4/pg-execute-2n-1"],
      needed: ["n1: standard/g"],
      placed: ["g 1/1 (1 pending)"],
    },
    {
      name: "a bucket that takes no nodes any more is not waited for",
      world: world({
        nodes: [member("n1", "pg-execute-2n-1")],
        buckets: [
          exec({ refusal: { code: "bucket-invalid", bucket: bucket("execute/D4"), why: "NotActivated" } }),
          other,
        ],
      }),
      demands: [groups("g", 1, 2)],
      creates: ["2 x execute/F4/pg-execute-2n-2"],
      placed: ["g 1/1 (1 pending)"],
    },
  ])("$name", check);
});
