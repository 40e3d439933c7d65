import { describe, expect, test } from "vitest";
import { readQuestion } from "../../functions/autostop.ts";
import { NOW } from "../support/build-node.ts";

/** What is read of a node's question before anything is known of the node. */

const read = (asked: string) =>
  readQuestion({ params: {}, query: new URLSearchParams({ instance: "vm-1", asked }) }, NOW);

const DAY_MS = 86_400_000;

describe("the node's own time", () => {
  test.each([
    { name: "a time", asked: NOW },
    { name: "a number that only rises", asked: 7 },
    { name: "a clock that is a day ahead", asked: NOW + DAY_MS },
  ])("counts: $name", ({ asked }) => {
    expect(read(String(asked))).toEqual({ instance: "vm-1", begin: true, unhealthy: false, asked });
  });

  test.each([
    { name: "more than a day ahead", asked: NOW + DAY_MS + 1 },
    { name: "the largest number there is", asked: Number.MAX_SAFE_INTEGER },
  ])("is left out, and makes no later question an old one: $name", ({ asked }) => {
    expect(read(String(asked))).toEqual({ instance: "vm-1", begin: true, unhealthy: false });
  });

  test.each(["", "0", "-1", "1.5", "1e400", "soon"])("is refused: %j", (asked) => {
    expect(read(asked)).toMatchObject({ problem: { status: 400 } });
  });
});
