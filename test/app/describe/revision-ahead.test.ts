import { expect, test } from "vitest";
import { describeTroubles } from "../../../src/app/describe/describe-troubles.ts";
import { setName } from "../../../src/domain/ids.ts";
import type { SetEntry } from "../../../src/domain/request-sets.ts";
import type { Instant } from "../../../src/domain/units.ts";
import { at, NOW } from "../../support/build-node.ts";
import { buildState } from "../../support/build-record.ts";

/** Sets whose last message had a revision this many seconds ahead of now. */
function stateAhead(ahead: Readonly<Record<string, number>>) {
  const names = Object.keys(ahead);
  const { record, bodies } = buildState({ sets: Object.fromEntries(names.map((name) => [name, {}])) });
  const sets = new Map(
    [...record.sets].map(([name, entry]): readonly [typeof name, SetEntry] => [
      name,
      { ...entry, revision: { value: at(ahead[name] ?? 0), tieBreak: "" } },
    ]),
  );
  return { record: { ...record, sets }, bodies };
}

function troublesOf(ahead: Readonly<Record<string, number>>, senderNow?: Instant) {
  const { record, bodies } = stateAhead(ahead);
  return describeTroubles(record, bodies, [], NOW, senderNow);
}

test("a sender whose clock is 290 s ahead: the trouble says what becomes of the next messages, and until when", () => {
  expect(troublesOf({ standard: 290 })).toEqual([
    {
      kind: "revision-ahead",
      text: "request set standard: a revision is from a clock that is still 290 s ahead; messages with an earlier revision, or with none, count as older until 2025-11-20T11:04:50.000Z",
      count: 1,
    },
  ]);
});

test("of many sets the latest moment counts, and five are named", () => {
  const [trouble] = troublesOf({ a: 20, b: 60, c: 20, d: 20, e: 20, f: 20, g: 9 });
  expect(trouble).toMatchObject({ kind: "revision-ahead", count: 6 });
  expect(trouble?.text).toMatch(/^request set a, b, c, d, e and 1 more: .* still 60 s ahead/);
});

test.each([
  { name: "clocks that differ by 10 s", ahead: 10, senderNow: undefined },
  { name: "the past", ahead: -300, senderNow: undefined },
  { name: "senders' clocks that are ahead of a scaled one", ahead: 290, senderNow: at(285) },
])("no trouble: $name", ({ ahead, senderNow }) => {
  expect(troublesOf({ standard: ahead }, senderNow)).toEqual([]);
});

test("a report without demand counts, too", () => {
  const { record, bodies } = stateAhead({ standard: 290 });
  const separate = { ...record, sets: new Map(), separateReports: record.sets };
  expect(describeTroubles(separate, bodies, [], NOW)).toMatchObject([{ kind: "revision-ahead", count: 1 }]);
  expect([...separate.separateReports.keys()]).toEqual([setName("standard")]);
});
