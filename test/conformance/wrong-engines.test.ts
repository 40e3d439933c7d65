/** Engines that are wrong on purpose: the answers of theirs that are not ours must fail. */
import { expect, test } from "vitest";
import { IS_DEEP } from "../property/runs.ts";
import { answerAllocator } from "./answer-allocator.ts";
import type { Fields, Json } from "./compare.ts";
import { fieldsOf, isList, isObject, listOf } from "./compare.ts";
import { answerEngine } from "./engine/answer-engine.ts";
import { Player } from "./engine/play.ts";
import { isSize } from "./engine/values.ts";
import type { EngineNode } from "./engine/world.ts";
import { RECORDED_CASES, VM_SIZES } from "./recorded.ts";
import { allocations, judgeAnswer, SUITES } from "./suites.ts";

/** Wrong by itself, or by what it reads. */
interface WrongEngine {
  readonly name: string;
  readonly By?: typeof Player;
  readonly reads?: (input: Fields) => Fields;
}

type Job = Parameters<Player["candidates"]>[0];

/** The value with each member of this name changed, wherever it stands. */
const withEach =
  (name: string, change: (value: Json) => Json) =>
  (input: Fields): Fields => {
    const changed = (value: Json): Json => {
      if (isList(value)) return value.map(changed);
      if (!isObject(value)) return value;
      return changedFields(value);
    };
    const changedFields = (fields: Fields): Fields =>
      Object.fromEntries(
        Object.entries(fields).map(([key, value]) => [key, key === name ? change(value) : changed(value)]),
      );
    return changedFields(input);
  };

const more =
  (by: number) =>
  (value: Json): Json =>
    typeof value === "number" ? value + by : value;

const packed = (job: Json): Json => ({ ...fieldsOf(job), packing_strategy: "pack" });

class Reversed extends Player {
  protected override candidates(job: Job) {
    const { candidates, refused } = super.candidates(job);
    return { candidates: candidates.toReversed(), refused };
  }
}
class WithoutPreferences extends Player {
  protected override weigh(...[, , start]: Parameters<Player["weigh"]>): number {
    return start;
  }
}
class OnlyNewNodes extends Player {
  protected override usable(nodes: readonly EngineNode[]): readonly EngineNode[] {
    return super.usable(nodes).filter(({ state }) => state === "new");
  }
}
class OneSlotEach extends Player {
  protected override put(...[node, job, , filling]: Parameters<Player["put"]>): number {
    return super.put(node, job, 1, filling);
  }
}
class WithoutMemory extends Player {
  protected override put(...all: Parameters<Player["put"]>): number {
    const [node] = all;
    const memory = Object.entries(node.left).filter(([, value]) => isSize(value));
    const slots = super.put(...all);
    for (const [name, value] of memory) node.left[name] = value;
    return slots;
  }
}
class WithoutLast extends Player {
  protected override candidates(job: Job) {
    const { candidates, refused } = super.candidates(job);
    return { candidates: candidates.slice(0, -1), refused };
  }
}
class LastNodesFirst extends Player {
  protected override usable(nodes: readonly EngineNode[]): readonly EngineNode[] {
    return super.usable(nodes).toReversed();
  }
}

const ENGINES: readonly WrongEngine[] = [
  { name: "candidates reversed", By: Reversed },
  { name: "no preferences", By: WithoutPreferences },
  { name: "existing nodes never used", By: OnlyNewNodes },
  { name: "one slot a node", By: OneSlotEach },
  { name: "exclusive shares", reads: withEach("exclusive", () => false) },
  { name: "memory not taken", By: WithoutMemory },
  { name: "colocated spans", reads: withEach("colocated", () => false) },
  { name: "last bucket dropped", By: WithoutLast },
  { name: "the last nodes first", By: LastNodesFirst },
  { name: "quotas of families not kept", reads: withEach("familyQuotaCoreCount", () => 1e6) },
  { name: "groups hold one node more", reads: withEach("maxPlacementGroupSize", more(1)) },
  { name: "gangs in part", reads: withEach("jobs", (jobs) => listOf(jobs).map(packed)) },
  { name: "what hosts have left is not looked at", reads: withEach("available", () => ({})) },
];

const suite = SUITES.find(({ name }) => name === "allocator/packing");
const EVERY = IS_DEEP ? 1 : 4;

test("of the wrong answers of 13 wrong engines fewer than 2 % pass", () => {
  if (suite === undefined) throw new Error("the suite is there");
  const surroundings = { vmSizes: VM_SIZES };
  const counts = new Map(ENGINES.map(({ name }) => [name, { wrong: 0, passed: 0 }]));
  for (const one of RECORDED_CASES.filter((_, at) => at % EVERY === 0)) {
    const ours = answerAllocator(one, surroundings);
    const hasLimits = JSON.stringify(one.expected).includes('"limits":');
    for (const { name, By, reads } of ENGINES) {
      const answer = answerEngine(reads?.(one.input) ?? one.input, VM_SIZES, new Set(), hasLimits, By);
      const count = counts.get(name);
      if (count === undefined || allocations(ours, answer).length === 0) continue;
      count.wrong += 1;
      if (judgeAnswer(suite, one, answer, surroundings).kind !== "failed") count.passed += 1;
    }
  }
  console.table(Object.fromEntries(counts));
  for (const [name, { wrong, passed }] of counts) {
    expect(wrong, name).toBeGreaterThan(0);
    expect(passed, name).toBeLessThan(Math.max(1, 0.02 * wrong));
  }
}, 600_000);
