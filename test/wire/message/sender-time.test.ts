import { describe, expect, test } from "vitest";
import { clusterName, setName } from "../../../src/domain/ids.ts";
import { instant } from "../../../src/domain/units.ts";
import { readDemandMessage, readRequestSet } from "../../../src/wire/message/demand-message.ts";
import { CONTEXT, NOW, problemLines, updateOf } from "../context.ts";

/** The senders' clocks are an hour ahead of ours, as where ours is slowed down, or an hour behind. */
const AHEAD = (at: number) => instant(at + 3_600_000);
const BEHIND = (at: number) => instant(at - 3_600_000);
const ADDRESS = {
  cluster: clusterName("prod"),
  set: setName("standard"),
  now: NOW,
  maxExpirationSeconds: 86_400,
};
const message = { version: 1, cluster: "prod", jobs: [] };

describe("where the senders' clocks are not ours, revisions are moments of theirs", () => {
  test("without a revision, over HTTP", () => {
    const read = readRequestSet(message, { ...ADDRESS, senderTime: BEHIND });
    expect(updateOf(read)).toMatchObject({
      revision: { value: 1_763_632_800_000, tieBreak: "" },
      sentAt: 1_763_636_400_000,
    });
  });

  test("without a revision, by the queue: the second in which it was put there", () => {
    const read = readDemandMessage(message, { ...CONTEXT, senderTime: BEHIND });
    expect(updateOf(read)).toMatchObject({
      revision: { value: 1_763_632_799_000, tieBreak: "message-1" },
      sentAt: 1_763_636_399_750,
    });
  });

  test("a revision may be five minutes ahead of the clock that is ahead", () => {
    const context = { ...ADDRESS, senderTime: AHEAD };
    const revised = (revision: number) => readRequestSet({ ...message, revision }, context);
    expect(updateOf(revised(1_763_640_300_000)).revision.value).toBe(1_763_640_300_000);
    expect(problemLines(revised(1_763_640_300_001))).toEqual([
      "revision: 1763640300001 -> milliseconds since 1970, at most 5 minutes ahead of 2025-11-20T12:00:00.000Z (1763640300000)",
    ]);
  });

  test("a sender that goes by our clock is still heard where its own would be behind", () => {
    const read = readRequestSet(
      { ...message, revision: 1_763_636_400_000 },
      { ...ADDRESS, senderTime: BEHIND },
    );
    expect(updateOf(read).revision.value).toBe(1_763_636_400_000);
  });
});
