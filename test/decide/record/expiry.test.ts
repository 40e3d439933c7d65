import { describe, expect, test } from "vitest";
import { accept } from "../../../src/decide/record/accept.ts";
import { digest, setName } from "../../../src/domain/ids.ts";
import { at, NOW } from "../../support/build-node.ts";
import { buildState, buildUpdate } from "../../support/build-record.ts";
import { lapseParts, limitExpiry } from "../../../src/decide/record/lapse.ts";

const standard = setName("standard");

describe("expiry", () => {
  const day = 86_400;
  const { record } = buildState({
    sets: {
      standard: { sentAt: at(-300), expiresAt: at(0), report: [{ hostname: "ip-a", jobs: [] }] },
      other: { sentAt: at(-100), expiresAt: at(200) },
    },
  });

  test("a set lapses when its expiry comes, keeps its revision and gives up its report", () => {
    const lapsed = lapseParts(record, NOW, day).sets;
    expect(lapsed.get(standard)).toEqual({
      revision: { value: at(-300), tieBreak: "" },
      intervalSeconds: 300,
      sentAt: at(-300),
      acceptedAt: at(-300),
      expiresAt: at(0),
      digest: "demand-standard",
      live: false,
    });
    expect(lapsed.get(setName("other"))?.live).toBe(true);
  });

  test.each([
    { name: "a moment before its expiry it is in force", now: at(-0.001), live: true },
    { name: "from its expiry on it is not", now: at(0), live: false },
    {
      name: "its revision is held for a day and almost 5 minutes longer",
      now: at(day + 299.999),
      live: false,
    },
    { name: "after a day and 5 minutes it is forgotten", now: at(day + 300), live: undefined },
  ])("$name", ({ now, live }) => {
    expect(lapseParts(record, now, day).sets.get(standard)?.live).toBe(live);
  });

  test("nothing to lapse: the very same record, so that nothing is written", () => {
    expect(lapseParts(record, at(-1), day)).toBe(record);
    const lapsed = lapseParts(record, NOW, day);
    expect(lapseParts(lapsed, at(1), day)).toBe(lapsed);
  });

  test("a lapsed set still refuses what is older than its revision", () => {
    const { sets } = lapseParts(record, NOW, day);
    const update = buildUpdate(4, { revisionValue: at(-301), expiresAt: at(100) });
    expect(accept({ ...record, sets }, update, NOW)).toEqual({
      kind: "older",
      held: { value: at(-300), tieBreak: "" },
    });
  });

  test.each([
    { name: "lapsed at a tick", sets: lapseParts(record, NOW, day).sets },
    { name: "run out a moment ago, before any tick", sets: record.sets },
  ])("the same demand after it had $name moves the generation: it is in force again", ({ sets }) => {
    const update = buildUpdate(4, {
      revisionValue: at(1),
      digest: digest("demand-standard"),
      expiresAt: at(301),
    });
    const outcome = accept({ ...record, sets, generation: 12 }, update, at(1));
    expect(outcome).toMatchObject({ kind: "accepted", changed: true, record: { generation: 13 } });
  });
});

describe("the longest validity that a cluster's configuration allows", () => {
  const update = buildUpdate(4, { intervalSeconds: 7200, sentAt: at(-10), expiresAt: at(7190) });

  test("a message that asks for more is cut, from the moment it was sent", () => {
    expect(limitExpiry(update, 3600)).toMatchObject({ intervalSeconds: 3600, expiresAt: at(3590) });
  });

  test("one that asks for as much is left alone", () => {
    expect(limitExpiry(update, 7200)).toBe(update);
  });
});
