import { readFileSync } from "node:fs";
import { QUEUES } from "../../../src/adapters/queue/queue-calls.ts";
import { readConfig } from "../../../src/config.ts";
import type { Sources } from "./check.ts";
import type { Deployment } from "./deploy.ts";
import type { Value } from "./value.ts";
import { anyText, at } from "./value.ts";
import type { Played } from "./variants.ts";
import { ofType, seenSettings, settingsOf } from "./variants.ts";

const ROOT = new URL("../../../", import.meta.url);
const SITES = "Microsoft.Web/sites";

/** The queues and tables of the code are those of Bicep: demand and poison where the trigger looks, all others with the state. */
export function auditStorage(played: Played): readonly string[] {
  const TABLES = ["autoscaler"];
  return Object.entries(played).flatMap(([variant, deployment]) => [
    ...differences(`${variant}: queue`, Object.values(QUEUES), namesOf(deployment, "queueServices/queues")),
    ...differences(`${variant}: table`, TABLES, namesOf(deployment, "tableServices/tables")),
    ...differences(
      `${variant}: container`,
      [packageContainer(deployment)],
      namesOf(deployment, "blobServices/containers"),
    ),
  ]);
}

function namesOf(deployment: Deployment, kind: string): readonly string[] {
  return ofType(deployment, `Microsoft.Storage/storageAccounts/${kind}`).map(({ body }) =>
    anyText(body["name"]),
  );
}

function packageContainer(deployment: Deployment): string {
  const [site] = ofType(deployment, SITES);
  return anyText(at(site?.body, "properties.functionAppConfig.deployment.storage.value")).replace(
    /^<.*>/,
    "",
  );
}

function differences(what: string, expected: readonly string[], found: readonly string[]): readonly string[] {
  return [
    ...expected.filter((name) => !found.includes(name)).map((name) => `${what} ${name} is missing`),
    ...found.filter((name) => !expected.includes(name)).map((name) => `${what} ${name} is used by nothing`),
  ];
}

/** Settings that a deployment in Azure does without, each with its reason in docs/configuration.md. */
const OPTIONAL = ["AUTOSCALER_INSECURE", "AUTOSCALER_LOCAL_CLOCK", "AUTOSCALER_LOCAL_TRIAL"];
/** What the platform reads, and not our code. */
const OF_THE_PLATFORM = [
  "AzureWebJobsStorage__credential",
  "AzureWebJobsStorage__blobServiceUri",
  "AUTOSCALER_DEMAND__credential",
  "APPLICATIONINSIGHTS_CONNECTION_STRING",
  "APPLICATIONINSIGHTS_AUTHENTICATION_STRING",
  "FUNCTIONS_REQUEST_BODY_SIZE_LIMIT",
];
/** The two ways to give a storage account: Azure has the one with an identity. */
const BY_IDENTITY = ["AzureWebJobsStorage", "AUTOSCALER_DEMAND"];

/** Every setting that the code reads is set, or documented as optional, and the code reads every setting that is set. */
export function auditSettings({ full, plain }: Played): readonly string[] {
  if (full === undefined || plain === undefined) return ["no deployment"];
  const set = new Set(Object.keys(settingsOf(full)));
  const read = settingsRead();
  const docs = readFileSync(new URL("docs/configuration.md", ROOT), "utf8");
  return [
    ...[...read]
      .filter((name) => !set.has(name) && !OPTIONAL.includes(name) && !BY_IDENTITY.includes(name))
      .map((name) => `${name} is not set`),
    ...OPTIONAL.filter((name) => !docs.includes(`\`${name}\``)).map((name) => `${name} is not documented`),
    ...[...set]
      .filter((name) => !read.has(name) && !OF_THE_PLATFORM.includes(name) && name !== "CYCLECLOUD_PASSWORD")
      .map((name) => `nothing reads ${name}`),
    ...OF_THE_PLATFORM.filter((name) => !set.has(name)).map((name) => `${name} is not set`),
  ];
}

function settingsRead(): ReadonlySet<string> {
  const read = new Set<string>();
  const settings = new Proxy<Record<string, string | undefined>>(
    {},
    { get: (_settings, name) => void read.add(String(name)) },
  );
  try {
    readConfig(settings);
  } catch {
    // Nothing is set, so it refuses. It reads all settings before it does.
  }
  for (const file of ["src/config.ts"]) {
    const text = readFileSync(new URL(file, ROOT), "utf8");
    for (const [name] of text.matchAll(/\bAUTOSCALER_[A-Z_]+(?=")/g)) read.add(name);
  }
  return read;
}

/** The app starts with what is deployed: the settings are read as they are meant. */
export function auditStart(played: Played): readonly string[] {
  return Object.entries(played).flatMap(([variant, deployment]) => {
    const seen = { ...seenSettings(deployment) };
    if (variant === "existing") seen["CYCLECLOUD_PASSWORD"] = "the one in the shared vault";
    try {
      const { storage, demandStorage, clusters, publicUrl, autostopKeys } = readConfig(seen);
      const said = [
        storage.kind === "identity" ? "identity" : "keys",
        demandStorage?.kind ?? "same",
        clusters[0]?.credential.kind ?? "no cluster",
        publicUrl ?? "no stop URL",
        autostopKeys?.current ?? "no key",
      ].join(" ");
      const expected = `identity ${variant === "full" ? "identity" : "same"} ${variant === "entra" ? "identity" : "password"} https://autoscaler.azurewebsites.net k1`;
      return said === expected ? [] : [`${variant}: ${said}`];
    } catch (error) {
      return [`${variant}: ${String(error)}`];
    }
  });
}

/** A new deployment changes nothing in CycleCloud until an operator sets the mode. */
export function auditObserve(played: Played): readonly string[] {
  return Object.entries(played).flatMap(([variant, deployment]) =>
    settingsOf(deployment)["AUTOSCALER_DEFAULT_MODE"] === "observe" ? [] : [`${variant}: the app acts`],
  );
}

const REFUSED = [
  "FUNCTIONS_WORKER_RUNTIME",
  "FUNCTIONS_EXTENSION_VERSION",
  "WEBSITE_RUN_FROM_PACKAGE",
  "linuxFxVersion",
  "functionAppScaleLimit",
];

/** A complete functionAppConfig, and none of what breaks Flex Consumption. */
export function auditFlex(played: Played, sources: Sources): readonly string[] {
  const refused = REFUSED.filter((name) => (sources.get("modules/app.bicep") ?? "").includes(name)).map(
    (name) => `Flex Consumption does not take ${name}`,
  );
  const wrong = Object.entries(played).flatMap(([variant, deployment]) => {
    const site = ofType(deployment, SITES)[0]?.body;
    const plan = ofType(deployment, "Microsoft.Web/serverfarms")[0]?.body;
    const ready = at(site, "properties.functionAppConfig.scaleAndConcurrency.alwaysReady.0.name");
    const expected: readonly (readonly [Value | undefined, Value | undefined])[] = [
      [at(site, "kind"), "functionapp,linux"],
      [at(site, "identity.type"), "UserAssigned"],
      [at(site, "properties.functionAppConfig.runtime.name"), "node"],
      [at(site, "properties.functionAppConfig.runtime.version"), "24"],
      [
        at(site, "properties.functionAppConfig.deployment.storage.authentication.type"),
        "UserAssignedIdentity",
      ],
      [at(site, "properties.functionAppConfig.scaleAndConcurrency.instanceMemoryMB"), 2048],
      [at(site, "properties.functionAppConfig.scaleAndConcurrency.maximumInstanceCount"), 40],
      [at(plan, "sku.name"), "FC1"],
      [at(plan, "properties.reserved"), true],
      [ready, variant === "full" ? "function:demand" : undefined],
      [at(plan, "properties.zoneRedundant"), variant === "full"],
    ];
    return expected
      .filter(([found, wanted]) => found !== wanted)
      .map(([found, wanted]) => `${variant}: ${anyText(found)}, expected ${anyText(wanted)}`);
  });
  return [...refused, ...wrong];
}

/** The app resolves its secrets and reaches storage as the identity that has the roles. */
export function auditIdentity(played: Played): readonly string[] {
  return Object.entries(played).flatMap(([variant, deployment]) => {
    const site = ofType(deployment, SITES)[0]?.body;
    const id = "<modules/identity.bicep#identity.id>";
    const clientId = "<modules/identity.bicep#identity.properties.clientId>";
    const settings = settingsOf(deployment);
    const found = [
      at(site, "properties.keyVaultReferenceIdentity"),
      at(
        site,
        "properties.functionAppConfig.deployment.storage.authentication.userAssignedIdentityResourceId",
      ),
      Object.keys(Object(at(site, "identity.userAssignedIdentities")))[0],
    ].map(anyText);
    const clients = [settings["AzureWebJobsStorage__clientId"]].map(anyText);
    return [
      ...(found.every((each) => each === id) ? [] : [`${variant}: identity ${found.join(", ")}`]),
      ...(clients.every((each) => each === clientId) ? [] : [`${variant}: client ${clients.join(", ")}`]),
    ];
  });
}

/** Roles and endpoints are there before the app starts; secrets before it reads them. */
export function auditOrder(sources: Sources): readonly string[] {
  const main = sources.get("main.bicep") ?? "";
  const app = main.slice(main.indexOf("module app "));
  const [, after = ""] = /\n {2}dependsOn: \[([^\]]*)\]/.exec(app) ?? [];
  return ["roles", "endpoints"]
    .filter((name) => !after.split(", ").includes(name))
    .map((name) => `the app does not wait for ${name}`);
}
