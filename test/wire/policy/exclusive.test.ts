import { expect, test } from "vitest";
import { readPolicy } from "../../../src/wire/policy/policy.ts";
import { writePolicy } from "../../../src/wire/policy/write-policy.ts";

function read(exclusiveNodearrays: unknown) {
  const answer = readPolicy({ exclusiveNodearrays });
  return answer.kind === "problems" ? answer.problems : answer.policy.exclusiveArrays;
}

test.each([
  { value: true, means: true },
  { value: ["hpc", "htc"], means: ["hpc", "htc"] },
  { value: false, means: undefined },
  { value: [], means: undefined },
  { value: undefined, means: undefined },
  {
    value: "hpc",
    means: [
      {
        path: "exclusiveNodearrays",
        found: "text of 3 characters",
        expected: "true, false, or a list of node array names",
      },
    ],
  },
])("exclusiveNodearrays: $value", ({ value, means }) => {
  expect(read(value)).toEqual(means);
});

test("a name that is none is a problem with its place", () => {
  expect(read(["hpc", ""])).toMatchObject([{ path: "exclusiveNodearrays[1]" }]);
});

test.each([{ exclusiveNodearrays: true }, { exclusiveNodearrays: ["hpc"] }])(
  "%j is written as it was read",
  (document) => {
    const answer = readPolicy(document);
    if (answer.kind === "problems") throw new Error("refused");
    expect(writePolicy(answer.policy)).toMatchObject(document);
  },
);

test("none is not written", () => {
  const answer = readPolicy({ exclusiveNodearrays: [] });
  if (answer.kind === "problems") throw new Error("refused");
  expect(writePolicy(answer.policy)).not.toHaveProperty("exclusiveNodearrays");
});
