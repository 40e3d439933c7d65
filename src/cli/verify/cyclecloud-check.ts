import type { Answer } from "../../client/index.ts";
import { readTick } from "../../client/readers.ts";
import { namesIn } from "./app-checks.ts";
import type { Check, Verdict } from "./check.ts";
import { fails, holds, notYet } from "./check.ts";
import type { Deployment } from "./deployment.ts";
import { statusOf, troubleText } from "./deployment.ts";
import { NAME_CLUSTERS, NO_CLUSTER, NO_OPERATOR } from "./trigger-checks.ts";

/**
 * Whether the app reaches CycleCloud, signs in and finds each cluster. It asks for a tick, which observes now: the last observation may be
 * old.
 */
export function cyclecloudCheck({ api, cluster }: Deployment): Check {
  const read = new Set<string>();
  return {
    name: "cyclecloud",
    waitsFor: "the app to reach CycleCloud, to sign in, and to find the cluster",
    // After a refusal the app makes no call for 300 s.
    seconds: 420,
    everySeconds: 15,
    needs: ["storage"],
    async run() {
      const listed = await api.clusters();
      if (listed.kind !== "answered") return notYet(troubleText(listed), AGAIN);
      const names = namesIn(listed, cluster);
      if (names.length === 0) return fails(NO_CLUSTER, NAME_CLUSTERS);
      for (const name of names) {
        if (read.has(name)) continue;
        const verdict = judgeTick(name, await api.tick(name));
        if (verdict.kind !== "holds") return verdict;
        read.add(name);
      }
      return holds(`reached, signed in and read: ${names.join(", ")}`);
    },
  };
}

const AGAIN = "The app could not finish an observation. Run verify again, and see the app's log.";

function judgeTick(cluster: string, answer: Answer): Verdict {
  const status = statusOf(answer);
  if (status === 401 || status === 403) return fails(`${cluster}: ${troubleText(answer)}`, NO_OPERATOR);
  if (answer.kind !== "answered") return notYet(`${cluster}: ${troubleText(answer)}`, AGAIN);
  const { outcome = "no outcome", trouble, message } = readTick(answer.body) ?? {};
  if (outcome === "planned" || outcome === "covered") return holds(cluster);
  if (trouble !== undefined) return judgeTrouble(cluster, trouble.kind, trouble.message);
  return notYet(`${cluster}: ${outcome}${message === undefined ? "" : `: ${message}`}`, AGAIN);
}

function judgeTrouble(cluster: string, kind = "trouble", message = "no message"): Verdict {
  const found = `${cluster}: ${FOUND.get(kind) ?? kind}: ${message}`;
  const whatToDo = WHAT_TO_DO.get(kind) ?? AGAIN;
  // The cause of an earlier refusal may be solved: the app tries again after its pause.
  const isFinal = FINAL.has(kind) && !/ no call for \d+ s$/.test(message);
  return isFinal ? fails(found, whatToDo) : notYet(found, whatToDo);
}

const FINAL = new Set(["denied", "not-found"]);

const FOUND: ReadonlyMap<string, string> = new Map([
  ["unreachable", "CycleCloud is not reached"],
  ["denied", "CycleCloud is reached, and refuses the credentials"],
  ["not-found", "CycleCloud is reached and signed in, and has no such cluster"],
  ["throttled", "CycleCloud asks to wait"],
  ["unexpected", "an answer that is not CycleCloud's"],
  ["suspicious", "the observation is not accepted yet"],
]);

const WHAT_TO_DO: ReadonlyMap<string, string> = new Map([
  [
    "unreachable",
    "The app, not this machine, must reach the address in AUTOSCALER_CLUSTERS. A private address needs the app in the virtual network, with a route, DNS, and a network security group that lets it pass; a network that this deployment made (network=new) must be peered with CycleCloud's. An error of certificates needs ca in AUTOSCALER_CLUSTERS.",
  ],
  [
    "denied",
    "Correct username and password: the password is in the app setting, or the Key Vault secret, that AUTOSCALER_CLUSTERS names. Restart the app after a change of the secret. The user needs the rights to read the cluster and to manage its nodes. The app rests for 300 s after a refusal, as five failures lock the account.",
  ],
  [
    "not-found",
    "Compare name in AUTOSCALER_CLUSTERS with the name in CycleCloud, in upper and lower case. The CycleCloud user must be allowed to see the cluster.",
  ],
  [
    "unexpected",
    "Is url in AUTOSCALER_CLUSTERS CycleCloud's address? A proxy or another server may answer there.",
  ],
]);
