import { expect, test } from "vitest";
import { readPolicy } from "../../../src/wire/policy/policy.ts";
import { runCommand } from "../../cli/run-command.ts";
import { lineOf } from "../context.ts";

/** Names that people see as others: a request set or a user of that look has the rights of those that no rule names. */

function doubtsOf(document: object): readonly string[] {
  const read = readPolicy(document);
  return read.kind === "policy" ? read.doubts.map(lineOf) : read.problems.map(lineOf);
}

const SPACES = "a name without spaces at its ends";
const INVISIBLE = "a name without invisible characters";
const ALIKE = "a name in the letters of one script: some of these are only drawn like Latin ones";

test.each([
  { what: "a space at its end", name: "pbs ", expected: SPACES },
  { what: "a space of no width in front", name: "\ufeffpbs", expected: SPACES },
  { what: "a space of no width", name: "p\u200bbs", expected: INVISIBLE },
  { what: "a joiner", name: "pbs\u200d", expected: INVISIBLE },
  { what: "a soft hyphen", name: "p\u00adbs", expected: INVISIBLE },
  { what: "a variation selector", name: "pbs\ufe0f", expected: INVISIBLE },
  { what: "a space that does not break", name: "p\u00a0bs", expected: INVISIBLE },
  { what: "a Cyrillic er", name: "\u0440bs", expected: ALIKE },
  { what: "a Greek omicron", name: "n\u03bfde", expected: ALIKE },
  {
    what: "only Cyrillic letters that are drawn like Latin ones",
    name: "\u0440\u0430\u0441\u0441",
    expected: ALIKE,
  },
])("$what is a doubt, wherever the name stands", ({ name, expected }) => {
  const shown = JSON.stringify(name);
  const member = /^[^.[\]"=\s]+$/.test(name) ? `.${name}` : `[${shown}]`;
  const rest = { requestSets: ["*"] };
  expect(doubtsOf({ senders: [{ requestSets: ["cron", name] }, rest] })).toEqual([
    `senders[0].requestSets[1]: ${shown} -> ${expected}`,
  ]);
  expect(doubtsOf({ senders: [{ requestSets: [name] }, rest] })).toHaveLength(1);
  expect(doubtsOf({ caps: { users: { [name]: { nodes: 1 } } } })).toEqual([
    `caps.users${member}: ${shown} -> ${expected}`,
  ]);
  expect(doubtsOf({ nodearrays: [name] })).toEqual([`nodearrays[0]: ${shown} -> ${expected}`]);
});

test.each([
  "pbs",
  "licences für Tests",
  "größe",
  "Иван",
  "Ольга",
  "Ελένη",
  "田中",
  "أحمد",
  "אבי",
  "a-b_c.d",
  "node 1",
])("%s is a name like others", (name) => {
  expect(doubtsOf({ caps: { users: { [name]: { nodes: 1 } } }, nodearrays: [name] })).toEqual([]);
});

test("10,000 names cost no more than to read them", () => {
  const users = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, at) => [`\u0440user-${at}`, { nodes: 1 }]),
  );
  expect(doubtsOf({ caps: { users } })).toHaveLength(100);
});

test("the check of a configuration tells it", async () => {
  const document = { senders: [{ requestSets: ["\u0440bs"], maxPriority: 5 }, { requestSets: ["*"] }] };
  const { out, err } = await runCommand(["config", "validate", "policy.json"], { "policy.json": document });
  expect(`${out}\n${err}`).toContain(`senders[0].requestSets[0]: found "\u0440bs", expected ${ALIKE}`);
});
