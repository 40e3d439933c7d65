import type { Answer } from "../../client/index.ts";
import { readClusters } from "../../client/readers.ts";
import type { Check, Verdict } from "./check.ts";
import { fails, holds, notApplicable, notYet } from "./check.ts";
import type { Deployment } from "./deployment.ts";
import { troubleText } from "./deployment.ts";
import type { Seconds } from "../../domain/units.ts";

/** Clocks that differ by less are accurate enough: senders may be ahead by five minutes. */
const CLOCK_SECONDS: Seconds = 60;

/** The checks that the app makes itself: storage, release, clock. */
export function appChecks(deployment: Deployment): readonly Check[] {
  const { api, terminal } = deployment;
  return [
    {
      name: "storage",
      waitsFor: "tables and queues to answer the app's identity",
      // A new role assignment takes up to 30 minutes.
      seconds: 1800,
      everySeconds: 15,
      needs: ["key"],
      run: () => checkStorage(deployment),
    },
    {
      name: "version",
      waitsFor: `the app to run release ${terminal.release}`,
      seconds: 300,
      everySeconds: 15,
      needs: ["storage"],
      run: async () => judgeVersion(await api.clusters(), terminal.release),
    },
    {
      name: "clock",
      waitsFor: `the app's clock to agree with this machine's within ${CLOCK_SECONDS} s`,
      seconds: 0,
      everySeconds: 5,
      needs: ["version"],
      async run() {
        const before = terminal.now();
        const answer = await api.clusters();
        const now = (before + terminal.now()) / 2;
        return judgeClock(answer, now, terminal.environment["AUTOSCALER_SIMULATED_CLOCK"] !== undefined);
      },
    },
  ];
}

/** The list of clusters reads the queues. The state of a cluster reads the table, without which it has no answer. */
async function checkStorage({ api, cluster }: Deployment): Promise<Verdict> {
  const listed = await api.clusters();
  if (listed.kind !== "answered") return judgeStorage(listed);
  const names = namesIn(listed, cluster);
  for (const name of names) {
    const state = await api.state(name);
    if (state.kind !== "answered") return judgeStorage(state);
  }
  return holds(names.length === 0 ? "queues answer" : "tables and queues answer");
}

/** The clusters to check: the requested one, or all. */
export function namesIn(answer: Answer, cluster: string | undefined): readonly string[] {
  if (cluster !== undefined) return [cluster];
  const { clusters = [] } = (answer.kind === "answered" ? readClusters(answer.body) : undefined) ?? {};
  return clusters.flatMap(({ cluster: name }) => (name === undefined ? [] : [name]));
}

function judgeStorage(answer: Answer): Verdict {
  const found = troubleText(answer);
  if (answer.kind === "refused" && answer.problem?.title === "Unknown cluster")
    return fails(
      found,
      "Compare --cluster (AUTOSCALER_CLUSTER) with AUTOSCALER_CLUSTERS of the app settings.",
    );
  const [, whatToDo = "See the app's log. If storage is only busy, the problem ends by itself."] =
    STORAGE.find(([pattern]) => pattern.test(found)) ?? [];
  return notYet(found, whatToDo);
}

/** The remedy, from the message of the service or the network. */
const STORAGE: readonly (readonly [RegExp, string])[] = [
  [
    /AuthorizationPermissionMismatch/,
    "The app's identity has no right to this: give it Storage Queue Data Contributor and Storage Table Data Contributor on the storage account (and Storage Blob Data Owner for the host). A new role can take up to 30 minutes: run verify again then.",
  ],
  [
    /AuthorizationFailure|PublicAccessNotPermitted|IpAuthorizationError/,
    "The storage account's network rules refuse the app: the app needs the virtual network, with private endpoints for blob, queue and table; or the account must allow its network.",
  ],
  [
    /KeyBasedAuthenticationNotPermitted/,
    "The app signs in with a key, which the account does not accept: remove connection strings from the app settings, and use AzureWebJobsStorage__queueServiceUri, __tableServiceUri, __credential and __clientId.",
  ],
  [
    /CredentialUnavailable|AuthenticationError|ManagedIdentity|identity/i,
    "The app gets no token: assign its user-assigned identity to the app, and compare AzureWebJobsStorage__clientId with the identity's client id.",
  ],
  [
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|timed? ?out|no answer/i,
    "The app does not reach the storage account: compare AzureWebJobsStorage__queueServiceUri and __tableServiceUri with the account's addresses, and look at private endpoints and their DNS zones.",
  ],
];

function judgeVersion(answer: Answer, release: string): Verdict {
  if (answer.kind !== "answered") return notYet(troubleText(answer), DEPLOY);
  const version = readClusters(answer.body)?.version;
  if (version === release) return holds(`release ${release}`);
  return version === undefined
    ? notYet(`the app does not name its release, so it is older than ${release}`, DEPLOY)
    : notYet(`the app runs release ${version}, and this command is ${release}`, DEPLOY);
}

const DEPLOY =
  "Deploy the package of this release; or, if the app is the newer one, use the command of its release. After a deployment, instances of the release before may answer for some minutes.";

function judgeClock(answer: Answer, now: number, isSimulated: boolean): Verdict {
  if (isSimulated) return notApplicable("the app's clock is simulated (AUTOSCALER_SIMULATED_CLOCK)");
  const time = answer.kind === "answered" ? readClusters(answer.body)?.time : undefined;
  const at = time === undefined ? Number.NaN : Date.parse(time);
  if (Number.isNaN(at)) return fails(`the app's answer has no time: ${troubleText(answer)}`, DEPLOY);
  const seconds = Math.round((at - now) / 1000);
  const found =
    Math.abs(seconds) < 1
      ? "the clocks agree"
      : `the app's clock is ${Math.abs(seconds)} s ${seconds > 0 ? "ahead of" : "behind"} this machine's`;
  return Math.abs(seconds) <= CLOCK_SECONDS
    ? holds(found)
    : fails(
        found,
        "Correct the clock of this machine (NTP): the app's clock follows the storage service's. Senders' clocks matter too: a message from a clock that is 5 minutes ahead is refused, and one from a clock that is behind can expire at once.",
      );
}
