import { describe, expect, test } from "vitest";
import { idleSeconds, isIdleLongEnough, whyGivenUp } from "../../../src/decide/stops/scale-down.ts";
import { at, buildNode, idleSince, NOW, rememberNode } from "../../support/build-node.ts";
import type { Row } from "./node-rows.ts";
import { check, idle, keptAlive, mark, none, policy, silent, terminate, standingAlone } from "./node-rows.ts";

describe("a Ready node", () => {
  const rows: readonly Row[] = [
    {
      name: "spare and idle for the whole timeout: marked",
      known: idle,
      action: { kind: "mark", by: "idle" },
    },
    { name: "idle a moment less", known: idleSince(at(-299.999)), action: none },
    { name: "idle, but needed", known: idle, around: { spare: false }, action: none },
    {
      name: "idle, but needed until two minutes ago",
      known: { ...idle, lastNeededAt: at(-120) },
      action: none,
    },
    {
      name: "idle, but Ready for two minutes only",
      known: { ...idle, firstReadyAt: at(-120) },
      action: none,
    },
    {
      name: "idle for long, but its report says that it still takes jobs: left to its own callback",
      known: idle,
      around: silent,
      action: none,
    },
    { name: "idle, but scale-down rests", known: idle, around: { resting: true }, action: none },
    { name: "idle, but KeepAlive is set", known: idle, node: keptAlive, action: none },
    {
      name: "idle, but its configuration switches autostop off",
      known: idle,
      node: { stopDisabled: true },
      action: none,
    },
    {
      name: "marked as idle, then its configuration switched autostop off",
      known: { ...idle, ...mark() },
      node: { stopDisabled: true },
      action: { kind: "undrain" },
    },
    { name: "busy state unknown: never idle", action: none },
    {
      name: "marked as idle, reported idle since: stopped",
      known: { ...idle, ...mark() },
      action: terminate("idle"),
    },
    {
      name: "marked as idle, no newer report yet",
      known: { ...idle, ...mark() },
      around: { reportedIdleAt: at(-30) },
      action: none,
    },
    {
      name: "marked as idle, its report is thirty-one seconds old: a job may have started since",
      known: { ...idle, ...mark({ since: at(-60) }) },
      around: { reportedIdleAt: at(-31) },
      action: none,
    },
    {
      name: "marked as idle, and no longer reported: the mark is removed",
      known: mark(),
      around: silent,
      action: { kind: "undrain" },
    },
    {
      name: "marked by this very plan: it is observed again first",
      known: { ...idle, ...mark({ plan: 7 }) },
      action: none,
    },
    {
      name: "marked as idle, and needed again",
      known: mark(),
      around: { spare: false },
      action: { kind: "undrain" },
    },
    {
      name: "marked as idle, and a job has come",
      known: mark(),
      around: { busy: true },
      action: { kind: "undrain" },
    },
    {
      name: "marked as idle, but scale-down rests",
      known: { ...idle, ...mark() },
      around: { resting: true },
      action: none,
    },
    {
      name: "marked as idle, then KeepAlive was set",
      known: mark(),
      node: keptAlive,
      action: { kind: "undrain" },
    },
    {
      name: "a callback's mark, half a minute old: its owner is at work",
      known: mark({ by: "callback" }),
      action: none,
    },
    {
      name: "a callback's mark, a minute old: its owner is gone, the node will ask again",
      known: mark({ by: "callback", since: at(-60) }),
      action: { kind: "undrain" },
    },
    {
      name: "an unhealthy node's mark, a minute old",
      known: mark({ by: "unhealthy", since: at(-60) }),
      action: { kind: "undrain" },
    },
    {
      name: "a terminate was accepted two minutes ago, no sooner",
      known: mark({ sentAt: at(-119.999) }),
      action: none,
    },
    {
      name: "a terminate was accepted two minutes ago, and it is still up: decided again",
      known: mark({ sentAt: at(-120) }),
      action: { kind: "undrain" },
    },
  ];
  test.each(rows)("$name", (row) => check(buildNode("n1", row.node), row));
});

test.each([
  {
    name: "failed",
    node: buildNode("n1", { phase: "failed", statusMessage: "no capacity" }),
    seen: 10,
    why: "Status Failed: no capacity",
  },
  {
    name: "too slow",
    node: buildNode("n1", { phase: "coming" }),
    seen: 3600,
    why: "execute-n1 was not Ready 3600 s after it was first seen (Status Preparation)",
  },
  { name: "in time", node: buildNode("n1", { phase: "coming" }), seen: 3599, why: undefined },
  { name: "terminating", node: buildNode("n1", { phase: "going" }), seen: 9000, why: undefined },
])("why a node that never was Ready is given up: $name", ({ node, seen, why }) => {
  const { firstReadyAt: _never, ...known } = rememberNode(node, { firstSeenAt: at(-seen) });
  const standing = standingAlone(node, known);
  expect(whyGivenUp(node, known, standing, { now: NOW, busy: false, resting: false })).toBe(why);
});

describe("idle time", () => {
  test.each([
    { name: "since it became idle", known: idle, seconds: 300 },
    {
      name: "since it was last needed, if that is later",
      known: { ...idle, lastNeededAt: at(-20) },
      seconds: 20,
    },
    {
      name: "since it was first Ready, if that is later",
      known: { ...idle, firstReadyAt: at(-10) },
      seconds: 10,
    },
    { name: "never below zero", known: idleSince(at(5)), seconds: 0 },
  ])("runs $name", ({ known, seconds }) => {
    expect(idleSeconds(rememberNode(buildNode("n1"), known), NOW)).toBe(seconds);
  });

  test.each([
    { state: "idle", enough: true },
    { state: "unknown", enough: false },
    { state: "busy", enough: false },
  ] as const)("an hour of $state: $enough", ({ state, enough }) => {
    const known = rememberNode(buildNode("n1"), { busyness: { state, since: at(-3600) } });
    expect(isIdleLongEnough(known, policy, NOW)).toBe(enough);
  });
});
