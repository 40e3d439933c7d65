import { describe, expect, test } from "vitest";
import { at, buildNode, rememberNode } from "../../support/build-node.ts";
import type { Row } from "./node-rows.ts";
import { check, free, judgeAlone, keptAlive, mark, none, silent, terminate } from "./node-rows.ts";

describe("a node that never was Ready", () => {
  const young = { firstSeenAt: at(-3599.999) };
  const old = { firstSeenAt: at(-3600) };
  const rows: readonly Row[] = [
    { name: "on its way up", known: young, action: none },
    { name: "its time to boot is over", known: old, action: terminate("boot-timeout") },
    {
      name: "its time is over, though a plan needs it",
      known: old,
      around: { spare: false },
      action: terminate("boot-timeout"),
    },
    {
      name: "its time is over, though scale-down rests",
      known: old,
      around: { resting: true },
      action: terminate("boot-timeout"),
    },
    {
      name: "its time is over, but a newer report has a job on it, or a report was not read",
      known: old,
      around: { mayBeBusy: true },
      action: none,
    },
    { name: "its time is over, KeepAlive is set", known: old, node: keptAlive, action: none },
    {
      name: "CycleCloud names no target state: never stopped for that",
      known: { ...old, unclearSince: at(-7200), busyness: { state: "unknown", since: at(-7200) } },
      node: { phase: "unknown" },
      action: none,
    },
    {
      name: "failed: no jobs can be on it",
      known: young,
      node: { phase: "failed" },
      action: terminate("failed"),
    },
    {
      name: "failed, though a plan needs it",
      known: young,
      node: { phase: "failed" },
      around: { spare: false },
      action: terminate("failed"),
    },
    { name: "failed, KeepAlive is set", known: young, node: { phase: "failed", ...keptAlive }, action: none },
    {
      name: "failed, and the last observation does not show it: it is in doubt, and not stopped",
      known: young,
      node: { phase: "failed", missing: { since: at(-30), observations: 1 } },
      around: silent,
      action: none,
    },
    {
      name: "failed, its terminate is under way",
      known: { ...young, ...mark({ by: "failed", sentAt: at(-60) }) },
      node: { phase: "failed" },
      action: none,
    },
    {
      name: "failed, its terminate had no effect",
      known: { ...young, ...mark({ by: "failed", sentAt: at(-120) }) },
      node: { phase: "failed" },
      action: terminate("failed"),
    },
  ];
  test.each(rows)("$name", (row) => {
    const node = buildNode("n1", { phase: "coming", ...row.node });
    const known = { ...rememberNode(node), ...row.known };
    const { firstReadyAt: _never, ...unborn } = known;
    expect(judgeAlone(node, unborn, { ...free, ...row.around })).toEqual(row.action);
  });
});

describe("a node that failed after it was Ready: jobs may still run there", () => {
  const rows: readonly Row[] = [
    { name: "reported idle: marked, and looked at again", action: { kind: "mark", by: "failed" } },
    { name: "reported busy", around: { busy: true, ...silent }, action: none },
    { name: "busy state unknown", around: silent, action: none },
    { name: "scale-down rests", around: { resting: true }, action: none },
    {
      name: "needed by a plan: it is no capacity all the same",
      around: { spare: false },
      action: { kind: "mark", by: "failed" },
    },
    { name: "marked, reported idle since", known: mark({ by: "failed" }), action: terminate("failed") },
    {
      name: "marked, no newer report yet",
      known: mark({ by: "failed" }),
      around: { reportedIdleAt: at(-30) },
      action: none,
    },
    {
      name: "marked, and a job is on it",
      known: mark({ by: "failed" }),
      around: { busy: true },
      action: none,
    },
    { name: "KeepAlive is set", known: mark({ by: "failed" }), node: keptAlive, action: { kind: "undrain" } },
  ];
  test.each(rows)("$name", (row) => check(buildNode("n1", { phase: "failed", ...row.node }), row));
});

describe("a node that is on its way down, gone, or restarting", () => {
  const rows: readonly Row[] = [
    { name: "terminating", node: { phase: "going" }, action: none },
    {
      name: "stuck: it failed while terminating",
      node: { phase: "going", status: "Failed" },
      action: terminate("stuck"),
    },
    {
      name: "stuck, asked a minute ago",
      node: { phase: "going", status: "Failed" },
      known: mark({ sentAt: at(-60) }),
      action: none,
    },
    {
      name: "stuck, asked two minutes ago: again",
      node: { phase: "going", status: "Failed" },
      known: mark({ sentAt: at(-120) }),
      action: terminate("stuck"),
    },
    {
      name: "stuck, while scale-down rests",
      node: { phase: "going", status: "Failed" },
      around: { resting: true },
      action: terminate("stuck"),
    },
    {
      name: "stuck, KeepAlive is set",
      node: { phase: "going", status: "Failed", ...keptAlive },
      action: none,
    },
    { name: "without a VM", node: { phase: "off" }, action: none },
    {
      name: "started 100 s ago, first seen long before: its boot timeout counts from the start",
      node: { phase: "coming" },
      known: { firstSeenAt: at(-9000), start: { state: "shown", since: at(-100) } },
      action: none,
    },
    {
      name: "started an hour ago, and not Ready",
      node: { phase: "coming" },
      known: { firstSeenAt: at(-9000), start: { state: "shown", since: at(-3600) } },
      action: terminate("boot-timeout"),
    },
    { name: "deallocated: kept on purpose", node: { phase: "deallocated" }, action: none },
    {
      name: "restarting long after it was Ready: no boot timeout",
      node: { phase: "coming" },
      known: { firstReadyAt: at(-3500) },
      action: none,
    },
    {
      name: "restarting with a callback's mark that was left",
      node: { phase: "coming" },
      known: { firstReadyAt: at(-3500), ...mark({ by: "callback", since: at(-60) }) },
      action: { kind: "undrain" },
    },
  ];
  test.each(rows)("$name", (row) => check(buildNode("n1", row.node), row));
});
