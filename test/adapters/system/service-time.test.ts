import { expect, test } from "vitest";
import { observeServiceTime } from "../../../src/adapters/system/clock.ts";
import { openTable } from "../../../src/adapters/tables/open-table.ts";
import { azuriteForThisFile } from "../../support/azurite.ts";

const NOON = Date.UTC(2026, 10, 20, 12, 0, 0);

interface Answer {
  /** When our clock says that it was sent and received, in milliseconds after noon. */
  readonly sent: number;
  readonly received: number;
  /** The whole second in its Date header, in milliseconds after noon; absent: no header. */
  readonly date?: number;
}

/** Lets the policy see these answers and returns the correction after each. */
async function correctionsAfter(answers: readonly Answer[]): Promise<readonly number[]> {
  let now = 0;
  const time = observeServiceTime(() => NOON + now);
  const corrections: number[] = [];
  for (const { sent, received, date } of answers) {
    now = sent;
    // The policy reads nothing of request and response but the Date header.
    const response = {
      headers: { get: () => (date === undefined ? undefined : new Date(NOON + date).toUTCString()) },
    };
    await time.policies[0]?.policy.sendRequest({} as never, () => {
      now = received;
      return Promise.resolve(response as never);
    });
    corrections.push(time.correction());
  }
  return corrections;
}

test.each([
  { name: "no answer has a date", answers: [{ sent: 0, received: 10 }], corrections: [0] },
  {
    name: "the clocks agree as far as whole seconds can tell",
    answers: [
      { sent: 100, received: 120, date: 0 },
      { sent: 990, received: 1010, date: 1000 },
    ],
    corrections: [0, 0],
  },
  {
    // Stamped within [60,000, 61,000) while we read 100 to 120: ahead by 59,880 at least.
    name: "ours is a minute behind: the least correction",
    answers: [{ sent: 100, received: 120, date: 60_000 }],
    corrections: [59_880],
  },
  {
    // Stamped within [0, 1000) while we read 60,100 to 60,120: behind by 59,100 at least.
    name: "ours is a minute ahead",
    answers: [{ sent: 60_100, received: 60_120, date: 0 }],
    corrections: [-59_100],
  },
  {
    // The second answer is dated early in its second, so that it narrows the bounds more: the service is ahead by 60,495 ms at least.
    name: "answers narrow the bounds",
    answers: [
      { sent: 100, received: 120, date: 60_000 },
      { sent: 500, received: 505, date: 61_000 },
      { sent: 900, received: 910, date: 61_000 },
    ],
    corrections: [59_880, 60_495, 60_495],
  },
  {
    // A slow answer says little: ahead by 30,000 to 60,900, which holds what is known already.
    name: "a slow answer takes nothing back",
    answers: [
      { sent: 100, received: 120, date: 60_000 },
      { sent: 200, received: 30_200, date: 60_000 },
    ],
    corrections: [59_880, 59_880],
  },
  {
    name: "a clock that was set starts anew",
    answers: [
      { sent: 100, received: 120, date: 60_000 },
      { sent: 60_100, received: 60_120, date: 60_000 },
    ],
    corrections: [59_880, 0],
  },
])("$name", async ({ answers, corrections }) => {
  expect(await correctionsAfter(answers)).toStrictEqual(corrections);
});

const azurite = azuriteForThisFile();

test.each([
  { name: "agrees with the service", ahead: 0, least: 0, most: 0 },
  { name: "runs an hour ahead", ahead: 3_600_000, least: -3_600_000, most: -3_598_000 },
  { name: "runs an hour behind", ahead: -3_600_000, least: 3_598_000, most: 3_600_000 },
])(
  "an instance whose clock $name is corrected to within a second by the table's answers",
  async ({ ahead, least, most }) => {
    const time = observeServiceTime(() => Date.now() + ahead);
    const table = openTable(azurite.account(), { name: azurite.freshName(), policies: time.policies });
    await table.ensure();
    await table.read("p", "r");
    expect(time.correction()).toBeGreaterThanOrEqual(least);
    expect(time.correction()).toBeLessThanOrEqual(most);
  },
);
