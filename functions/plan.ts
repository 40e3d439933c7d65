import type { HttpRequest, HttpResponseInit } from "@azure/functions";
import type { Site } from "../src/app/ports/ports.ts";
import { firstBytes } from "../src/app/describe/pages.ts";
import { rejectedJobShown } from "../src/app/describe/describe-queues.ts";
import { tryPlan } from "../src/app/try-plan.ts";
import type { Composition } from "../src/compose.ts";
import type { TrialAnswerShown, TrialShown } from "../src/wire/api/trial-answer.ts";
import { MOST_OVER_HTTP } from "../src/wire/json/decode.ts";
import { boundProblems } from "../src/wire/json/problems.ts";
import type { RejectedOfSet } from "../src/wire/what-if.ts";
import { readWhatIf } from "../src/wire/what-if.ts";
import { forCluster, badRequest, problem } from "./answering.ts";
import { answerWithBody } from "./reading.ts";
import type { Bytes } from "../src/domain/units.ts";

/** A dry run: the plan with other inputs. Changes nothing. */
export const answerPlan = forCluster(postPlan);

/** Maximum size of the rejected jobs. An answer stays below 2 MiB. */
const MOST_REJECTED_BYTES: Bytes = 400_000;

/** A dry run may be as large as a request set, and plans twice. So a process makes one at a time. Others are sent away. */
const underWay = new WeakSet<Composition>();

async function postPlan(composed: Composition, site: Site, request: HttpRequest): Promise<HttpResponseInit> {
  const body = new Uint8Array(await request.arrayBuffer());
  if (underWay.has(composed))
    return problem(
      429,
      "Too many requests",
      "another dry run is being made here, and only one is made at a time",
      {
        retryAfterSeconds: 5,
      },
    );
  underWay.add(composed);
  try {
    return await answerWithBody(composed, body, MOST_OVER_HTTP, () => makePlan(composed, site, body));
  } finally {
    underWay.delete(composed);
  }
}

async function makePlan(composed: Composition, site: Site, body: Uint8Array): Promise<HttpResponseInit> {
  const { clock, policyOf } = composed.app.ports;
  const read = readWhatIf(body, {
    cluster: site.cluster,
    policy: await policyOf(site.cluster),
    defaultMode: composed.defaultMode,
    now: clock.now(),
  });
  if (read.kind === "problems") {
    return read.tooLarge === true
      ? problem(413, "Too large", "a dry run has at most 32 MiB of JSON, unpacked")
      : badRequest(read.problems);
  }
  const trial = await tryPlan(composed.app, site.cluster, read.whatIf);
  switch (trial.kind) {
    case "tried":
      return { status: 200, jsonBody: withRejected(trial.body, read.rejectedJobs) };
    case "unknown":
      return badRequest(boundProblems(trial.problems));
    case "not-observed":
      return problem(503, "Cannot tell now", "the cluster has not been observed yet", {
        retryAfterSeconds: 60,
      });
  }
}

function rejectedOfSetShown({ requestSet, jobs }: RejectedOfSet): TrialAnswerShown["rejectedJobs"][number] {
  return { requestSet, jobs: jobs.map(rejectedJobShown) };
}

function withRejected(body: TrialShown, rejected: readonly RejectedOfSet[]): TrialAnswerShown {
  const rejectedJobs = firstBytes(rejected, MOST_REJECTED_BYTES).map(rejectedOfSetShown);
  return { ...body, rejectedJobs };
}
