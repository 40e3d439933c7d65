import { expect, test } from "vitest";
import { steadyGarbage } from "../adapters/tables/collector-runs.ts";

/** The full size of what test/adapters/tables/collector.test.ts does in two and a half hours. */
test.each([{ lost: 0.5 }, { lost: 0.8 }, { restartMinutes: 5 }, { lost: 0.5, restartMinutes: 5 }])(
  "24 hours of 60,000 body rows each end with at most two hours' rows (%j)",
  async (conditions) => {
    const { most, last } = await steadyGarbage({ rowsAnHour: 60_000, hours: 24, ...conditions });
    console.log(`rows: at most ${most}, ${last} at the end`);
    expect(most).toBeLessThanOrEqual(120_000);
  },
);
