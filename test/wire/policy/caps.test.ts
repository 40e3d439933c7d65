import { expect, test } from "vitest";
import { readPolicy } from "../../../src/wire/policy/policy.ts";
import { writePolicy } from "../../../src/wire/policy/write-policy.ts";
import { lineOf } from "../context.ts";

test("caps are read, and written back as they were", () => {
  const caps = {
    requestSets: { standard: { cores: 500 }, "*": { nodes: 50 } },
    users: { anna: { nodes: 10, cores: 0 }, "*": { cores: 100 } },
  };
  const read = readPolicy({ caps });
  if (read.kind === "problems") throw new Error(read.problems.map(lineOf).join("; "));
  expect(read.policy.caps).toEqual({
    requestSets: new Map([
      ["standard", { cores: 500 }],
      ["*", { nodes: 50 }],
    ]),
    users: new Map([
      ["anna", { nodes: 10, cores: 0 }],
      ["*", { cores: 100 }],
    ]),
  });
  expect(writePolicy(read.policy).caps).toEqual(caps);
});

test("everything that is wrong with caps is named at once", () => {
  const caps = {
    requestSet: {},
    requestSets: { a: { cores: 1.5, core: 2 }, b: {}, c: 5, "": { nodes: 1 } },
    users: ["anna"],
  };
  const read = readPolicy({ caps });
  expect(read.kind === "problems" ? read.problems.map(lineOf) : read.kind).toEqual([
    'caps: "requestSet" -> one of the keys requestSets, users (requestSets?)',
    'caps.requestSets.a: "core" -> one of the keys nodes, cores (cores?)',
    "caps.requestSets.a.cores: 1.5 -> a whole number, 0 or more",
    "caps.requestSets.b: {} -> an object with nodes, cores, or both",
    "caps.requestSets.c: 5 -> an object with nodes, cores, or both",
    'caps.requestSets: "" -> text of 1 to 200 characters, none of them a control or direction character',
    "caps.users: list of 1 item -> an object: name -> nodes, cores",
  ]);
  expect(readPolicy({ caps: 1 })).toMatchObject({
    problems: [{ path: "caps", found: "1", expected: "an object: requestSets, users" }],
  });
});
