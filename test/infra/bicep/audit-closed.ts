import { BOUNDS } from "../../../src/wire/json/bounds.ts";
import type { Sources } from "./check.ts";
import type { Deployment } from "./deploy.ts";
import { deploy } from "./deploy.ts";
import type { Fields, Value } from "./value.ts";
import { anyText, at, itemsIn } from "./value.ts";
import type { Played } from "./variants.ts";
import { ofType, settingsOf, VARIANTS } from "./variants.ts";

/** Who may reach the app and what it keeps, and what is known afterwards of who did. */

function differs(variant: string, found: string, expected: string): readonly string[] {
  return found === expected ? [] : [`${variant}: ${found}, expected ${expected}`];
}

/** Addresses that may call the app and its SCM site: all of them, those that were chosen, or none but by the private endpoint. */
export function auditCallers(sources: Sources, { plain, full, existing, entra }: Played): readonly string[] {
  if (plain === undefined || full === undefined || existing === undefined || entra === undefined)
    return ["no deployment"];
  const both = deploy(sources, { ...VARIANTS["full"], deployAddresses: ["192.0.2.9"] });
  return [
    ...differs("plain", callersOf(plain), "Enabled; app Allow; scm as the app"),
    ...differs("entra", callersOf(entra), "Enabled; app Allow; scm as the app"),
    ...differs("full", callersOf(full), "Disabled; app Deny; scm as the app"),
    ...differs("full, deployed from outside", callersOf(both), "Enabled; app Deny; scm Deny 192.0.2.9/32"),
    ...differs(
      "existing",
      callersOf(existing),
      "Enabled; app Deny 203.0.113.0/24 198.51.100.7/32 2001:db8::7/128; scm Deny 192.0.2.9/32",
    ),
  ];
}

function callersOf(deployment: Deployment): string {
  const [site] = ofType(deployment, "Microsoft.Web/sites");
  const config = at(site?.body, "properties.siteConfig");
  const rules = (prefix: string) => {
    const list = itemsIn(at(config, prefix));
    const priorities = new Set(list.map((rule) => at(rule, "priority")));
    const wrong = priorities.size < list.length || list.some((rule) => at(rule, "action") !== "Allow");
    return [
      at(config, `${prefix}DefaultAction`),
      ...list.map((rule) => at(rule, "ipAddress")),
      ...(wrong ? ["wrong"] : []),
    ]
      .map((part) => anyText(part))
      .join(" ");
  };
  const scm =
    at(config, "scmIpSecurityRestrictionsUseMain") === true
      ? "as the app"
      : rules("scmIpSecurityRestrictions");
  const access = anyText(at(site?.body, "properties.publicNetworkAccess"));
  return `${access}; app ${rules("ipSecurityRestrictions")}; scm ${scm}`;
}

/** The host takes what the app takes, and little more, so that the app says what is too much; and not the platform's 100 MB. */
export function auditBodies(played: Played): readonly string[] {
  return Object.entries(played).flatMap(([variant, deployment]) => {
    const limit = Number(anyText(settingsOf(deployment)["FUNCTIONS_REQUEST_BODY_SIZE_LIMIT"]));
    return limit > BOUNDS.httpBytes && limit <= BOUNDS.httpBytes + 2 * 1024 * 1024
      ? []
      : [`${variant}: bodies of ${limit} bytes`];
  });
}

const CHANGES = "StorageWrite StorageDelete";
const VAULT = "vault AuditEvent";

/** Who used secrets, queues and tables can be looked up in the workspace. */
export function auditLogs(sources: Sources, { plain, full, existing }: Played): readonly string[] {
  if (plain === undefined || full === undefined || existing === undefined) return ["no deployment"];
  const none = deploy(sources, { ...VARIANTS["plain"], auditLogs: "none" });
  const vault = deploy(sources, { ...VARIANTS["plain"], auditLogs: "vault" });
  const own = deploy(sources, { ...VARIANTS["existing"], auditLogs: "changes" });
  const all = `StorageRead ${CHANGES}`;
  const changes = [`queueService ${CHANGES}`, `tableService ${CHANGES}`];
  return [
    ...differs("plain", logsOf(plain), [...changes, VAULT].join("; ")),
    ...differs(
      "full",
      logsOf(full),
      [`queueService ${all}`, `tableService ${all}`, `queueService ${all}`, VAULT].join("; "),
    ),
    ...differs("existing", logsOf(existing), ""),
    ...differs("existing vault", logsOf(own), changes.join("; ")),
    ...differs("none", logsOf(none), ""),
    ...differs("vault", logsOf(vault), VAULT),
    ...workspacesOf(plain, "<modules/monitoring.bicep#workspace.id>"),
    ...workspacesOf(own, anyText(VARIANTS["existing"]?.["existingWorkspaceId"])),
  ];
}

const settingsIn = (deployment: Deployment) => ofType(deployment, "Microsoft.Insights/diagnosticSettings");

function logsOf(deployment: Deployment): string {
  return settingsIn(deployment)
    .map(({ body }) => {
      const service = anyText(body["scope"]).replace(/^<.*[#.](\w+)>$/, "$1");
      const categories = itemsIn(at(body, "properties.logs"))
        .filter((log) => at(log, "enabled") === true)
        .map((log) => anyText(at(log, "category")));
      return [service, ...categories].join(" ");
    })
    .join("; ");
}

function workspacesOf(deployment: Deployment, expected: string): readonly string[] {
  return settingsIn(deployment)
    .map(({ body }) => anyText(at(body, "properties.workspaceId")))
    .filter((workspace) => workspace !== expected)
    .map((workspace) => `logs go to ${workspace}`);
}

const GROUPS = "Microsoft.Network/networkSecurityGroups";

/** In the network that is made here: nothing calls the app's subnet from outside, and the endpoints take https alone. */
export function auditGroups({ plain, full, existing }: Played): readonly string[] {
  if (plain === undefined || full === undefined || existing === undefined) return ["no deployment"];
  const groups = ofType(full, GROUPS);
  const rulesOf = (index: number) =>
    itemsIn(at(groups[index]?.body, "properties.securityRules"))
      .toSorted((a, b) => Number(at(a, "properties.priority")) - Number(at(b, "properties.priority")))
      .map(ruleText)
      .join("; ");
  const [network] = ofType(full, "Microsoft.Network/virtualNetworks");
  const subnets = itemsIn(at(network?.body, "properties.subnets")).map((subnet) =>
    ["name", "properties.networkSecurityGroup.id", "properties.privateEndpointNetworkPolicies"]
      .flatMap((path) => at(subnet, path) ?? [])
      .map(anyText)
      .join(" "),
  );
  const [app, endpoints] = ["10.90.0.0/24/26#0", "10.90.0.0/24/26#1"];
  return [
    ...differs(
      "the app's",
      rulesOf(0),
      `Inbound Allow * ${app} to ${app} *; Inbound Allow * AzureLoadBalancer to * *; Inbound Deny * * to * *`,
    ),
    ...differs(
      "the endpoints'",
      rulesOf(1),
      `Inbound Allow Tcp * to ${endpoints} 443; Inbound Deny * * to * *`,
    ),
    ...differs(
      "subnets",
      subnets.join("; "),
      "app <modules/network.bicep#appGroup.id>; endpoints <modules/network.bicep#endpointGroup.id> NetworkSecurityGroupEnabled",
    ),
    ...[plain, existing]
      .flatMap((one) => ofType(one, GROUPS))
      .map((group) => `${group.at} without a new network`),
  ];
}

function ruleText(rule: Value): string {
  const part = (name: string) => anyText(at(rule, `properties.${name}`));
  return `${part("direction")} ${part("access")} ${part("protocol")} ${part("sourceAddressPrefix")} to ${part("destinationAddressPrefix")} ${part("destinationPortRange")}`;
}

/** With an account of its own the package is there, and nothing else is. */
export function auditPackage({ plain, full }: Played): readonly string[] {
  if (plain === undefined || full === undefined) return ["no deployment"];
  const accounts = (deployment: Deployment) =>
    ofType(deployment, "Microsoft.Storage/storageAccounts").map(({ body }) =>
      anyText(body["name"]).replace(/[0-9a-f]{13}$/, ""),
    );
  const [site] = ofType(full, "Microsoft.Web/sites");
  const from = anyText(at(site?.body, "properties.functionAppConfig.deployment.storage.value"));
  const containers = full.resources.findIndex(({ type }) => type.includes("/blobServices/containers@"));
  const before = full.resources
    .slice(0, containers)
    .filter(({ type }) => type.startsWith("Microsoft.Storage/storageAccounts@"));
  return [
    ...differs("plain", accounts(plain).join(), "st"),
    ...differs("full", accounts(full).join(), "st,stdemand,stpackage"),
    ...differs(
      "the package",
      from,
      "<modules/app.bicep#packageStorage.properties.primaryEndpoints.blob>app-package",
    ),
    ...differs(
      "the container",
      anyText(before.at(-1)?.body["name"]).replace(/[0-9a-f]{13}$/, ""),
      "stpackage",
    ),
  ];
}

/** 2027-06-30 00:00 UTC, in the seconds that Key Vault takes. */
const END = 1_814_313_600;

/** A password that ends says so in the vault; without a day it has no end. */
export function auditPasswordEnd({ plain, full }: Played): readonly string[] {
  const endOf = (deployment: Deployment | undefined): Value | undefined => {
    const secrets: readonly { readonly body: Fields }[] =
      deployment === undefined ? [] : ofType(deployment, "Microsoft.KeyVault/vaults/secrets");
    const password = secrets.find(({ body }) => anyText(body["name"]).endsWith("cyclecloud-password"));
    return at(password?.body, "properties.attributes.exp");
  };
  return [
    ...differs("plain", JSON.stringify(endOf(plain)) ?? "undefined", "undefined"),
    ...differs("full", JSON.stringify(endOf(full)) ?? "undefined", JSON.stringify(END)),
  ];
}
