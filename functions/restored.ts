import { declareRestored } from "../src/app/record/declare-restored.ts";
import { isoTime } from "../src/domain/units.ts";
import type { RestoredShown } from "../src/wire/api/answers.ts";
import { forCluster } from "./for-cluster.ts";
import { problem } from "./problem.ts";

/** After a restore from a backup the record may be out of date. */
export const answerRestored = forCluster(async (composed, site) => {
  const began = await declareRestored(composed.app, site.cluster);
  if (began === undefined)
    return problem(503, "Cannot tell now", "too many writers at once", { retryAfterSeconds: 5 });
  const { epoch, plan, restingUntil, createsFrom } = began;
  const jsonBody: RestoredShown = {
    cluster: site.cluster,
    epoch,
    plan,
    restingUntil: isoTime(restingUntil),
    createsFrom: isoTime(createsFrom),
  };
  return { status: 200, jsonBody };
});
