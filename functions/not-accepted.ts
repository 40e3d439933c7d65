import type { HttpResponseInit } from "@azure/functions";
import type { Recorded, RecordedDemand } from "../src/app/demand/record-demand.ts";
import type { RequestSetUpdate } from "../src/domain/demand.ts";
import type { Instant } from "../src/domain/units.ts";
import { adviseOnOlder, expired, forgotten } from "./older-revision.ts";
import { badRequest, problem } from "./problem.ts";

export function notAccepted(
  recorded: Exclude<Recorded, RecordedDemand>,
  update: RequestSetUpdate,
  now: Instant,
): HttpResponseInit {
  switch (recorded.kind) {
    case "older":
      return problem(409, "Older revision", adviseOnOlder(update, recorded.held, now), {
        held: recorded.held.value,
      });
    case "stale":
      return "oldest" in recorded ? forgotten(update, recorded.oldest) : expired(recorded.expiredAt);
    case "refused":
      return badRequest(recorded.problems);
    case "too-much": {
      // Not 429, after which clients repeat: more tries make no room.
      const { found, expected } = recorded.problem;
      return problem(409, "Too much demand", `found ${found}, expected ${expected}`, {
        problems: [recorded.problem],
      });
    }
    case "contended":
      return problem(503, "Cannot tell now", "too many writers at once", { retryAfterSeconds: 5 });
    case "newer-state":
      return problem(503, "Cannot tell now", recorded.message, { retryAfterSeconds: 30 });
  }
}
