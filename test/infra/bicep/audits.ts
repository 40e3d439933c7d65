import { readFileSync } from "node:fs";
import { auditSilence } from "./audit-silence.ts";
import {
  auditFlex,
  auditIdentity,
  auditObserve,
  auditOrder,
  auditSettings,
  auditStart,
  auditStorage,
} from "./audit-app.ts";
import { auditConnections, auditThrottling } from "./audit-connections.ts";
import { auditNetwork } from "./audit-network.ts";
import {
  auditAlerts,
  auditAzd,
  auditChoices,
  auditParameters,
  auditQuery,
  auditReceivers,
  readCode,
} from "./audit-outside.ts";
import {
  auditBodies,
  auditCallers,
  auditGroups,
  auditLogs,
  auditPackage,
  auditPasswordEnd,
} from "./audit-closed.ts";
import { auditRoles, auditSecondDeployment, auditSecrets, fixedAudits } from "./audit-security.ts";
import type { Sources } from "./check.ts";
import { checkBicep } from "./check.ts";
import type { Flaw } from "./syntax.ts";
import type { Played } from "./variants.ts";
import { playVariants } from "./variants.ts";

/** What is deployed, and what it has to agree with. */
export interface Delivery {
  readonly sources: Sources;
  readonly azureYaml: string;
  readonly docs: string;
}

type Audit = (delivery: Delivery, play: () => Played) => readonly string[];

const rule =
  (name: Flaw["rule"]): Audit =>
  ({ sources }) =>
    checkBicep(sources)
      .filter((flaw) => flaw.rule === name)
      .map(({ file, line, text }) => `${file}:${line}: ${text}`);

const code = readCode();

/** Every check of the deployment by its name. Each gives sentences about what is wrong. */
export const AUDITS: Readonly<Record<string, Audit>> = {
  syntax: rule("syntax"),
  names: rule("name"),
  modules: rule("module"),
  "types and properties": rule("type"),
  ...Object.fromEntries(
    Object.entries(fixedAudits()).map(([name, audit]): [string, Audit] => [
      name,
      (_delivery, play) => audit(play()),
    ]),
  ),
  "roles as listed": (_delivery, play) => auditRoles(play()),
  "a second deployment changes no secret": ({ sources }) => auditSecondDeployment(sources),
  "secrets stay in the vault": ({ sources }) => auditSecrets(sources),
  "queues, tables and containers of the code": (_delivery, play) => auditStorage(play()),
  "settings of the code": (_delivery, play) => auditSettings(play()),
  "the app starts with these settings": (_delivery, play) => auditStart(play()),
  "a new deployment observes": (_delivery, play) => auditObserve(play()),
  "Flex Consumption": ({ sources }, play) => auditFlex(play(), sources),
  "connections of the app": (_delivery, play) => auditConnections(play()),
  "one identity": (_delivery, play) => auditIdentity(play()),
  "order of the modules": ({ sources }) => auditOrder(sources),
  network: (_delivery, play) => auditNetwork(play()),
  "who may call the app": ({ sources }, play) => auditCallers(sources, play()),
  "bodies of requests": (_delivery, play) => auditBodies(play()),
  "logs of who used what": ({ sources }, play) => auditLogs(sources, play()),
  "security groups": (_delivery, play) => auditGroups(play()),
  "the account of the package": (_delivery, play) => auditPackage(play()),
  "the end of the password": (_delivery, play) => auditPasswordEnd(play()),
  "azd finds everything": ({ azureYaml }, play) => auditAzd(play(), azureYaml),
  "parameters are described": ({ sources, docs }) => auditParameters(sources, docs),
  "the alert query": (_delivery, play) => auditQuery(play(), code),
  "silence of an idle cluster": (_delivery, play) => auditSilence(play()),
  alerts: ({ sources }, play) => auditAlerts(sources, play()),
  "receivers of alerts": ({ sources }, play) => auditReceivers(sources, play()),
  "throttling of every account": (_delivery, play) => auditThrottling(play()),
  choices: (_delivery, play) => auditChoices(play()),
};

/** Runs one check. Sources that cannot be computed are a problem, too. */
export function runAudit(name: string, delivery: Delivery): readonly string[] {
  const audit = AUDITS[name];
  if (audit === undefined) throw new Error(`there is no check "${name}"`);
  try {
    return audit(delivery, () => playVariants(delivery.sources));
  } catch (error) {
    return [String(error)];
  }
}

const text = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8");

export function readDelivery(sources: Sources): Delivery {
  return { sources, azureYaml: text("azure.yaml"), docs: text("docs/operations.md") };
}
