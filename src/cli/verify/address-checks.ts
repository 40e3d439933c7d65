import { callWith } from "../../client/call.ts";
import type { Answer } from "../../client/index.ts";
import { readProblemAnswer } from "../../client/readers.ts";
import type { Check, Verdict } from "./check.ts";
import { fails, holds, notYet } from "./check.ts";
import type { Deployment } from "./deployment.ts";
import { statusOf, troubleText } from "./deployment.ts";

const HEALTH = { method: "GET", path: "/api/health" } as const;
const CLUSTERS = { method: "GET", path: "/api/clusters" } as const;

/** Whether the address is the app's. */
export function addressCheck({ url }: Deployment): Check {
  return {
    name: "address",
    waitsFor: `an answer of the function app at ${url}`,
    seconds: 180,
    everySeconds: 5,
    needs: [],
    run: async () => judgeHealth(url, await callWith(url, HEALTH, {})),
  };
}

/** Whether the app accepts callers with a key and no others. */
export function keyChecks({ url, api }: Deployment): readonly Check[] {
  return [
    {
      name: "no key",
      waitsFor: "the refusal of a call without a key",
      seconds: 60,
      everySeconds: 5,
      needs: ["address"],
      run: async () => judgeKeyless(await callWith(url, CLUSTERS, {})),
    },
    {
      name: "key",
      waitsFor: "the app to accept the key",
      seconds: 120,
      everySeconds: 5,
      needs: ["address"],
      run: async () => judgeKey(await api.clusters()),
    },
  ];
}

const NETWORK =
  "Compare --url (AUTOSCALER_URL) with the app's address. If the app has no public address, run verify inside its virtual network, with a DNS server that knows its private name. If the name is right, the app may be stopped or still starting: see its log.";

function judgeHealth(url: string, answer: Answer): Verdict {
  const { origin } = new URL(url);
  if (answer.kind === "unreachable") return notYet(answer.message, NETWORK);
  if (answer.kind === "redirected" || answer.kind === "not-json") return fails(answer.message, NETWORK);
  const { body } = answer;
  if (isHealth(body) || readProblemAnswer(body)?.title !== undefined) return holds(`${origin} answers`);
  const found = `${origin} answers, but not as the app: ${troubleText(answer)}`;
  return notYet(found, WHOSE_ANSWER.get(answer.status) ?? NETWORK);
}

const isHealth = (body: unknown): boolean => typeof body === "object" && body !== null && "ok" in body;

/** The meaning of a status from Azure's front end, which did not reach the app. */
const WHOSE_ANSWER: ReadonlyMap<number, string> = new Map([
  [
    403,
    "Azure refuses the call before it reaches the app. Either the app is stopped: start it. Or public access is off, or this address is not allowed: run verify inside the app's virtual network.",
  ],
  [
    404,
    "Either the address is another app's, or the app has no function yet. Compare --url with the app's address, and see the check of the functions.",
  ],
  [
    503,
    "The function host does not run. Look for its error in the app's log: host storage that refuses the app's identity, or a package that does not load, are the usual causes.",
  ],
]);

function judgeKeyless(answer: Answer): Verdict {
  if (statusOf(answer) === 401) return holds("HTTP 401");
  if (answer.kind === "answered")
    return fails(
      "a call without a key was answered",
      "Everyone can read this app. Stop it, find what lets calls pass (a proxy that adds a key, or another app at this address), and deploy again.",
    );
  return notYet(troubleText(answer), SEE_FUNCTIONS);
}

const SEE_FUNCTIONS =
  "The app answers, but not this function of it. See the check of the functions, and deploy the package of this release.";

function judgeKey(answer: Answer): Verdict {
  const status = statusOf(answer);
  if (answer.kind === "answered") return holds("the key opens the app");
  if (status === 401 || status === 403)
    return notYet(
      `the app refuses the key: ${troubleText(answer)}`,
      "Compare --key (AUTOSCALER_KEY) with the keys of the app. verify needs an operator's key or a host key; cyclecloud-autoscaler keys operator prints the commands that make one. A new key can take a minute.",
    );
  if (status === 404) return notYet(troubleText(answer), SEE_FUNCTIONS);
  const title = answer.kind === "refused" ? answer.problem?.title : undefined;
  if (title === "Cannot tell now") return holds("the key opens the app");
  if (title === "The app settings have problems")
    return notYet(
      troubleText(answer),
      "Correct these app settings. A setting from Key Vault has a problem if the app's identity may not read the vault: it needs the role Key Vault Secrets User on the secret, and a new role can take minutes. Then restart the app: it reads a reference that failed again at a start, else within a day.",
    );
  return notYet(troubleText(answer), NETWORK);
}
