import { readdirSync, readFileSync } from "node:fs";
import { clusterAnswer } from "../../../src/wire/api/cluster-answer.ts";
import type { Sources } from "./check.ts";
import { parseAll } from "./check.ts";
import type { Deployed, Deployment } from "./deploy.ts";
import { deploy } from "./deploy.ts";
import type { Expression } from "./syntax.ts";
import { textOf } from "./syntax.ts";
import { anyText, at, itemsIn, textFrom } from "./value.ts";
import type { Played } from "./variants.ts";
import { ofType, VARIANTS } from "./variants.ts";

const ROOT = new URL("../../../", import.meta.url);

/** What the command line reads from the environment, and a deployment knows. Keys it reads from Azure. */
const OF_THE_COMMAND_LINE = ["AUTOSCALER_URL", "AUTOSCALER_QUEUE", "AUTOSCALER_RESOURCE_ID"];

/** azure.yaml finds the Bicep, the app and the package. */
export function auditAzd(played: Played, azureYaml: string): readonly string[] {
  const [site] = played["plain"] === undefined ? [] : ofType(played["plain"], "Microsoft.Web/sites");
  const service = anyText(at(site?.body, "tags.azd-service-name"));
  const expected = [
    /^infra:\n {2}provider: bicep\n {2}path: infra\n {2}module: main$/m,
    new RegExp(`^services:\\n {2}${service}:`, "m"),
    /^ {4}project: \.$/m,
    /^ {4}dist: package$/m,
    /^ {4}host: function$/m,
    /^ {4}remoteBuild: false( #.*)?$/m,
    /^hooks:\n {2}postdeploy:/m,
    /^ {4}posix:\n(?: {6}.*\n)*? {8}node dist\/cli\/cli\.cjs verify$/m,
    /^ {4}windows:\n(?: {6}.*\n)*? {8}node dist\/cli\/cli\.cjs verify$/m,
  ];
  const outputs = Object.keys(played["plain"]?.outputs ?? {});
  const unset = [...azureYaml.matchAll(/(?:\$env:|\$)(AUTOSCALER_[A-Z_]+)/g)]
    .map(([, name = ""]) => name)
    .filter((name) => name !== "AUTOSCALER_KEY" && !outputs.includes(name))
    .map((name) => `azure.yaml uses ${name}, which is no output`);
  const unnamed = OF_THE_COMMAND_LINE.filter((name) => !outputs.includes(name)).map(
    (name) => `the command line reads ${name}, which is no output`,
  );
  const missing = expected
    .filter((pattern) => !pattern.test(azureYaml))
    .map((pattern) => `no ${pattern.source}`);
  const environment = Object.values(played).flatMap(({ resources }) =>
    resources.filter(
      ({ type, body }) => /sites@|storageAccounts@/.test(type) && at(body, "tags.azd-env-name") !== "hpc",
    ),
  );
  return [
    ...missing,
    ...unset,
    ...unnamed,
    ...environment.map((resource) => `${resource.at} lacks the tag azd-env-name`),
  ];
}

/** Every parameter says what it is, in Bicep and, with the same words and its variable, in docs/operations.md; its default is one of its allowed values. */
export function auditParameters(sources: Sources, docs: string): readonly string[] {
  const { parsed } = parseAll(sources);
  const variables = variablesOf(sources.get("main.bicepparam") ?? "");
  return [...parsed].flatMap(([file, declarations]) => {
    if (!file.endsWith(".bicep")) return [];
    return declarations.flatMap(({ kind, name, value, decorators }) => {
      if (kind !== "param") return [];
      const of = (decorator: string) =>
        decorators.find((each) => each.kind === "call" && each.name === decorator);
      const described = of("description");
      const words = described?.kind === "call" ? textOf(described.items[0]) : undefined;
      const allowed = of("allowed");
      const list =
        allowed?.kind === "call" && allowed.items[0]?.kind === "array" ? allowed.items[0].items : [];
      const values = list.map((item) => (item.kind === "number" ? item.value : textOf(item)));
      const standard = value?.kind === "number" ? value.value : textOf(value);
      return [
        ...((words?.length ?? 0) > 4 ? [] : [`${file}: ${name} has no description`]),
        ...(values.length === 0 || value === undefined || values.includes(standard)
          ? []
          : [`${file}: the default of ${name} is not allowed`]),
        ...(file !== "main.bicep" || docs.includes(rowOf(name, variables.get(name), value, words))
          ? []
          : [`docs/operations.md lacks ${name}`]),
      ];
    });
  });
}

/** The variable of the environment from which the parameter file takes each parameter. */
function variablesOf(parameterFile: string): ReadonlyMap<string, string> {
  const lines = parameterFile.matchAll(/^param (\w+) = .*readEnvironmentVariable\('([A-Z_]+)'/gm);
  return new Map([...lines].map(([, parameter = "", variable = ""]) => [parameter, variable]));
}

/** The row of a parameter in docs/operations.md. */
function rowOf(
  name: string,
  variable: string | undefined,
  value: Expression | undefined,
  words = "",
): string {
  const set = variable === undefined ? "" : ` \`${variable}\``;
  return `| \`${name}\` |${set} | ${value === undefined ? "needed" : shown(value)} | ${words} |`;
}

/** A default as docs/operations.md shows it. */
function shown(value: Expression): string {
  const text = textOf(value);
  if (text !== undefined) return text === "" ? "empty" : `\`${text}\``;
  if (value.kind === "number" || value.kind === "boolean") return `\`${value.value}\``;
  return value.kind === "member" ? "that of the group" : "empty";
}

/** The fields of the lines that the query reads: each is in the `log` call of an event that it looks for. */
const FIELDS = ["event", "cluster", "outcome", "trouble", "unmet", "kind", "number", "until", "instance"];
/** Troubles that cost money as long as they last: an alert names each of them. */
const COSTLY = ["nodes-not-needed", "nodes-not-ours", "stop-key-missing", "down-kept", "node-failed"];

/** The alert query looks for events that the code writes, and for fields that these lines have. */
export function auditQuery(played: Played, code: string): readonly string[] {
  const [rule] =
    played["full"] === undefined ? [] : ofType(played["full"], "Microsoft.Insights/scheduledQueryRules");
  const query = textFrom(at(rule?.body, "properties.criteria.allOf.0.query") ?? "");
  const events = [...query.matchAll(/event (?:==|in) \(?('[^)|]*')/g)].flatMap(([, list = ""]) =>
    [...list.matchAll(/'([a-z-]+)'/g)].map(([, name = ""]) => name),
  );
  const fields = [...query.matchAll(/line\.(\w+)/g)].map(([, name = ""]) => name);
  const [, list = ""] = /kind in \(([^)]*)\)/.exec(query) ?? [];
  const kinds = [...list.matchAll(/'([a-z-]+)'/g)].map(([, name = ""]) => name);
  const silence = query.split("\n").find((line) => line.startsWith("let silent =")) ?? "";
  const problems = [
    "no successful tick",
    "cluster unhealthy",
    "credentials refused",
    "message rejected",
    "messages rejected in large numbers",
    "tokens refused",
    "process starts again and again",
    "message poisoned",
    "demand unmet",
    "boots fail again and again",
    ...COSTLY,
  ];
  const known: readonly string[] = clusterAnswer.shape.troubles.element.shape.kind.options;
  return [
    ...events
      .filter((name) => !new RegExp(`log\\(\\s*"${name}"`).test(code))
      .map((name) => `nothing writes the event ${name}`),
    ...(new Set(events).size >= 5 ? [] : [`only ${events.join(", ")} are looked for`]),
    ...fields.filter((name) => !FIELDS.includes(name)),
    ...kinds.filter((name) => !known.includes(name)).map((name) => `there is no trouble ${name}`),
    ...(/\| summarize good = countif\(good\) \|/.test(silence) ? [] : ["silence gives no row"]),
    ...problems.filter((name) => !query.includes(`'${name}'`)).map((name) => `the query never says ${name}`),
    ...[/INSIGHTS_ID/, /UNMET_MINUTES/, /'(HEARTBEAT|EVENTS)'/]
      .filter((left) => left.test(query))
      .map((left) => `${left.source} was not put in`),
  ];
}

const RULES = ["heartbeat", "serverErrors", "storageThrottling", "events"];

/** Each alert has a switch of its own. Silence is found as long as there is a heartbeat. */
export function auditAlerts(sources: Sources, played: Played): readonly string[] {
  const rulesWith = (alerts: Readonly<Record<string, boolean>>) =>
    rulesIn(deploy(sources, { ...VARIANTS["full"], alerts }));
  const names = (alerts: Readonly<Record<string, boolean>>) => [
    ...new Set(rulesWith(alerts).map((rule) => rule.at.slice("modules/alerts.bicep#".length))),
  ];
  const query = (alerts: Readonly<Record<string, boolean>>) =>
    textFrom(
      at(
        rulesWith(alerts).find((rule) => rule.at.endsWith("#events"))?.body,
        "properties.criteria.allOf.0.query",
      ) ?? "",
    );
  const [plainRule] =
    played["plain"] === undefined ? [] : ofType(played["plain"], "Microsoft.Insights/scheduledQueryRules");
  return [
    ...(names({}).join() === RULES.join() ? [] : [`rules: ${names({}).join()}`]),
    ...RULES.filter((name) => name !== "events" && names({ [name]: false }).includes(name)).map(
      (name) => `${name} cannot be switched off`,
    ),
    ...(names({ heartbeat: false, events: false }).includes("events")
      ? ["events cannot be switched off"]
      : []),
    ...(query({ events: false }).includes("'on' == 'on'") ? [] : ["silence is not found without events"]),
    ...(at(plainRule?.body, "properties.evaluationFrequency") === "PT15M"
      ? []
      : ["the log alert is not run every 15 minutes"]),
  ];
}

/**
 * Each alert goes to the mail address, to the action group of the deployment's people, to both or to neither, as they chose, and says where
 * to read what to do.
 */
export function auditReceivers(sources: Sources, played: Played): readonly string[] {
  const mail = { alertEmail: "hpc@example.com" };
  const group = { actionGroupId: "/groups/hpc" };
  const choices = [
    { chosen: {}, receivers: 0, made: 0, given: false },
    { chosen: mail, receivers: 1, made: 1, given: false },
    { chosen: group, receivers: 1, made: 0, given: true },
    { chosen: { ...mail, ...group }, receivers: 2, made: 1, given: true },
  ];
  const wrong = choices.flatMap(({ chosen, receivers, made, given }) => {
    const deployed = deploy(sources, { ...VARIANTS["plain"], ...chosen });
    const what = Object.keys(chosen).join(" and ") || "neither";
    const groups = ofType(deployed, "Microsoft.Insights/actionGroups").length;
    return [
      ...(groups === made ? [] : [`${what}: ${groups} action groups are made`]),
      ...rulesIn(deployed).flatMap((rule) => {
        const told = receiversOf(rule);
        const isThere = told.includes("/groups/hpc") === given && told.length === receivers;
        return isThere ? [] : [`${what}: ${rule.at} tells ${told.join() || "nobody"}`];
      }),
    ];
  });
  const pages = {
    plain: "docs/emergency.md in the",
    existing: "https://git.example.com/autoscaler/docs/emergency.md",
  };
  const silent = Object.entries(pages).flatMap(([variant, page]) =>
    rulesIn(played[variant])
      .filter(({ body }) => !anyText(at(body, "properties.description")).includes(page))
      .map((rule) => `${variant}: ${rule.at} does not name ${page}`),
  );
  return [...wrong, ...silent];
}

function rulesIn(deployment: Deployment | undefined): readonly Deployed[] {
  return (deployment?.resources ?? []).filter(
    ({ at: where, type }) => where.startsWith("modules/alerts.bicep#") && !type.includes("actionGroups"),
  );
}

/** The ids of the action groups that an alert notifies. Metric and log alerts write them differently. */
function receiversOf({ body }: Deployed): readonly string[] {
  const actions = at(body, "properties.actions");
  const ofMetrics = itemsIn(actions).map((action) => anyText(at(action, "actionGroupId")));
  return [...ofMetrics, ...itemsIn(at(body, "properties.actions.actionGroups")).map(anyText)];
}

/** Names, tags, daily cap, lock: what people set is used. */
export function auditChoices({ plain, full, existing }: Played): readonly string[] {
  if (plain === undefined || full === undefined || existing === undefined) return ["no deployment"];
  const [site] = ofType(existing, "Microsoft.Web/sites");
  const untagged = existing.resources.filter(
    ({ body }) => body["tags"] !== undefined && at(body, "tags.owner") !== "hpc-team",
  );
  const cap = at(
    ofType(plain, "Microsoft.OperationalInsights/workspaces")[0]?.body,
    "properties.workspaceCapping.dailyQuotaGb",
  );
  const locks = ofType(full, "Microsoft.Authorization/locks").map(({ body }) => textFrom(body["scope"]));
  const made = ["Microsoft.KeyVault/vaults", "Microsoft.OperationalInsights/workspaces"].filter(
    (type) => ofType(existing, type).length > 0,
  );
  const sku = ofType(full, "Microsoft.Storage/storageAccounts").map(({ body }) => at(body, "sku.name"));
  return [
    ...(site?.body["name"] === "hpc-autoscaler" ? [] : ["the app does not have its own name"]),
    ...untagged.map((resource) => `${resource.at} lacks the tags`),
    ...(cap === 1 ? [] : ["the logs have no daily cap"]),
    ...(locks.length === 4 ? [] : [`locks on ${locks.join()}`]),
    ...made.map((type) => `existing: a new ${type}`),
    ...(sku.every((name) => name === "Standard_ZRS") ? [] : ["storage is not in all zones"]),
  ];
}

/** The source of the app, in one text. */
export function readCode(): string {
  const files = ["src/app", "functions"].flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, ROOT), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => `${folder}/${name}`),
  );
  return [...files, "src/compose.ts"].map((file) => readFileSync(new URL(file, ROOT), "utf8")).join("\n");
}
