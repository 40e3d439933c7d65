import type { Answer } from "../../client/index.ts";
import { readClusters } from "../../client/readers.ts";
import { readWake } from "../../client/readers.ts";
import { namesIn } from "./app-checks.ts";
import type { Check, Verdict } from "./check.ts";
import { fails, holds, notYet } from "./check.ts";
import type { Deployment } from "./deployment.ts";
import { statusOf, troubleText } from "./deployment.ts";

/** Whether the platform calls the timer and the queue function. */
export function triggerChecks(deployment: Deployment): readonly Check[] {
  return [timerCheck(deployment), queueCheck(deployment)];
}

const TICKS = 2;

/** Only ticks during the check count: a timer that stopped at the deployment left an old last tick. */
function timerCheck({ api }: Deployment): Check {
  const seen = new Set<string | undefined>();
  return {
    name: "timer",
    waitsFor: `${TICKS} ticks of the timer, which come once a minute`,
    seconds: 300,
    everySeconds: 5,
    needs: ["storage"],
    async run() {
      const answer = await api.clusters();
      const told = answer.kind === "answered" ? readClusters(answer.body) : undefined;
      if (told === undefined) return notYet(troubleText(answer), TIMER);
      seen.add(told.timerAt);
      // The first answer shows the state before.
      const ticks = seen.size - 1;
      if (ticks >= TICKS) return holds(`ticked ${TICKS} times, the last at ${told.timerAt ?? "?"}`);
      return notYet(
        `${ticks} of ${TICKS} ticks; ${told.timerAt === undefined ? "the timer has never run" : `it last ran at ${told.timerAt}`}`,
        TIMER,
      );
    },
  };
}

const TIMER =
  "Restart the app: timers are known to stop after a deployment, and a restart mends that. If the timer has never run, see the check of the functions, the setting AzureWebJobs.snapshot.Disabled, and the app's log for errors of the function snapshot. Meanwhile wake messages tick in its place, and cyclecloud-autoscaler tick does so by hand.";

function queueCheck({ api, cluster }: Deployment): Check {
  let sent: { readonly cluster: string; readonly id: string } | undefined;
  return {
    name: "queue",
    waitsFor: "a wake message to come through the queue demand",
    seconds: 300,
    everySeconds: 5,
    needs: ["storage"],
    async run() {
      const listed = await api.clusters();
      if (listed.kind !== "answered") return notYet(troubleText(listed), QUEUE);
      const [name] = namesIn(listed, cluster);
      if (name === undefined) return fails(NO_CLUSTER, NAME_CLUSTERS);
      if (sent === undefined) {
        const answer = await api.wake(name);
        const id = answer.kind === "answered" ? readWake(answer.body)?.id : undefined;
        if (id === undefined) return judgeNotSent(answer);
        sent = { cluster: name, id };
      }
      return judgeWake(await api.clusters(), sent);
    },
  };
}

export const NO_CLUSTER = "the app has no cluster";
export const NAME_CLUSTERS = "Name the clusters in the app setting AUTOSCALER_CLUSTERS.";

function judgeWake(
  answer: Answer,
  { cluster, id }: { readonly cluster: string; readonly id: string },
): Verdict {
  const { clusters = [] } = (answer.kind === "answered" ? readClusters(answer.body) : undefined) ?? {};
  const last = clusters.find((one) => one.cluster === cluster)?.lastWake;
  return last?.id === id
    ? holds(`wake message ${id} came through`)
    : notYet(`wake message ${id} is in the queue, and no function has read it`, QUEUE);
}

const QUEUE =
  "The app can write the queue, and its queue function does not read it. See the check of the functions, and the setting AzureWebJobs.demand.Disabled. The host reads with the app's identity: it needs Storage Queue Data Contributor on the account of the queue, and the settings of its connection (AzureWebJobsStorage__queueServiceUri, or those of the second account for demand). Demand that is sent over HTTP arrives all the same.";

function judgeNotSent(answer: Answer): Verdict {
  const found = `no wake message could be sent: ${troubleText(answer)}`;
  const status = statusOf(answer);
  if (status === 401 || status === 403) return fails(found, NO_OPERATOR);
  return notYet(
    found,
    status === 404
      ? "The app has no function wake: deploy the package of this release."
      : "The app's identity needs Storage Queue Data Contributor on the account of the queue demand.",
  );
}

export const NO_OPERATOR =
  "This key is a reader's or a sender's. Use an operator's key or a host key: cyclecloud-autoscaler keys operator prints the commands that make one.";
