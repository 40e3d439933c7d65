/** Nothing that is asked is ignored in silence: every key of the input changes something, or the list says why it does not. */
import { describe, expect, test } from "vitest";
import { JOB_KEYS } from "../../src/wire/message/job.ts";
import { OWN_KEYS } from "../../src/wire/policy/policy.ts";
import { HOST_KEYS } from "../../src/wire/message/scheduler-node.ts";
import { CLUSTERS } from "./clusters.ts";
import type { Key } from "./keys.ts";
import {
  CONFIG_EFFECTS,
  CONSTRAINT_EFFECTS,
  JOB_KEY_EFFECTS,
  MESSAGE_EFFECTS,
  NODEARRAY_EFFECTS,
} from "./keys.ts";
import type { Tried } from "./try-out.ts";
import { MODES } from "../support/modes.ts";
import { problemsOf, tryOut } from "./try-out.ts";

/** All that people and CycleCloud see of a plan, and how long the demand stands. */
function seen({ decision, allocation, problems }: Tried): string {
  const { plan, record } = decision;
  const { number: _same, nodes, ...work } = plan;
  const sets = [...record.sets].map(([name, { expiresAt, revision }]) => [name, expiresAt, revision]);
  return JSON.stringify([work, [...nodes], [...allocation.needed], sets, problems]);
}

function changes({ without, with: together, configWithout = {}, configWith = {} }: Key): boolean {
  return MODES.some((mode) =>
    CLUSTERS.some(
      (cluster) =>
        seen(tryOut(cluster, mode, without, configWithout)) !==
        seen(tryOut(cluster, mode, together, configWith)),
    ),
  );
}

const everything = [
  ...JOB_KEY_EFFECTS,
  ...CONSTRAINT_EFFECTS,
  ...NODEARRAY_EFFECTS,
  ...MESSAGE_EFFECTS,
  ...CONFIG_EFFECTS,
];

describe("changes something, and is taken", () => {
  test.each(everything.filter(({ unused }) => unused === undefined))("$key", (key) => {
    const refused = CLUSTERS.flatMap((cluster) =>
      MODES.flatMap((mode) => problemsOf(cluster, mode, key.with, key.configWith)),
    );
    expect(refused).toEqual([]);
    expect(changes(key)).toBe(true);
  });
});

describe("changes nothing, for a reason", () => {
  test.each(everything.filter(({ unused }) => unused !== undefined))("$key: $unused", (key) => {
    expect(changes(key)).toBe(false);
  });
});

test("each key of jobs, hosts and configurations is tried", () => {
  const tried = everything.map(({ key }) => key);
  const of = (kind: string, keys: Iterable<string>): readonly string[] =>
    [...keys].map((key) => `${kind}: ${key}`);
  const all = [...of("job", JOB_KEYS), ...of("host", HOST_KEYS), ...of("configuration", OWN_KEYS)];
  expect(all.filter((key) => !tried.some((one) => one.startsWith(key)))).toEqual(["host: hostname"]);
});
