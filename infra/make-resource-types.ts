/**
 * Writes test/infra/bicep/resource-types.json: the properties of the resource types of infra/, from a table of Azure's published types.
 * Call: node infra/make-resource-types.ts, which reads test/data/azure-types.json.gz. The form of a property is short: "!" required, "-" read-only, then its type:
 * string, integer, boolean, any, #Object, (a|b) for allowed words, (a|b|...) if others are accepted too, [] for a list.
 */
import { readFile, writeFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import { z } from "zod";

export const USED = [
  "Microsoft.Authorization/roleAssignments@2022-04-01",
  "Microsoft.Insights/actionGroups@2023-01-01",
  "Microsoft.Insights/components@2020-02-02",
  "Microsoft.Insights/diagnosticSettings@2021-05-01-preview",
  "Microsoft.Insights/metricAlerts@2018-03-01",
  "Microsoft.Insights/scheduledQueryRules@2026-03-01",
  "Microsoft.KeyVault/vaults@2026-02-01",
  "Microsoft.KeyVault/vaults/secrets@2026-02-01",
  "Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30",
  "Microsoft.Network/networkSecurityGroups@2025-09-01",
  "Microsoft.Network/privateDnsZones@2024-06-01",
  "Microsoft.Network/privateDnsZones/virtualNetworkLinks@2024-06-01",
  "Microsoft.Network/privateEndpoints@2025-09-01",
  "Microsoft.Network/privateEndpoints/privateDnsZoneGroups@2025-09-01",
  "Microsoft.Network/virtualNetworks@2025-09-01",
  "Microsoft.OperationalInsights/workspaces@2026-03-01",
  "Microsoft.Storage/storageAccounts@2026-04-01",
  "Microsoft.Storage/storageAccounts/blobServices@2026-04-01",
  "Microsoft.Storage/storageAccounts/blobServices/containers@2026-04-01",
  "Microsoft.Storage/storageAccounts/queueServices@2026-04-01",
  "Microsoft.Storage/storageAccounts/queueServices/queues@2026-04-01",
  "Microsoft.Storage/storageAccounts/tableServices@2026-04-01",
  "Microsoft.Storage/storageAccounts/tableServices/tables@2026-04-01",
  "Microsoft.Web/serverfarms@2025-03-01",
  "Microsoft.Web/sites@2025-03-01",
  "Microsoft.Web/sites/basicPublishingCredentialsPolicies@2025-03-01",
  "Microsoft.Web/sites/config@2025-03-01",
] as const;

/** The published table lacks these. */
const OWN: Readonly<Record<string, Table>> = {
  "Microsoft.Authorization/locks@2020-05-01": {
    locks: { id: "-string", name: "!string", type: "-string", properties: "!#LockProperties" },
    LockProperties: { level: "!(CanNotDelete|NotSpecified|ReadOnly)", notes: "string" },
  },
};

/** Objects below these properties are large, and infra/ sets none of them. They become "any". */
const LEFT_OUT = new Set(
  `accessPolicies additionalCapabilities applicationGatewayIPConfigurations applicationSecurityGroups autoHealRules azureStorageAccounts
  azureFilesIdentityBasedAuthentication cloningInfo connectionStrings cors customDnsConfigs daprConfig encryption experiments
  handlerMappings hostNameSslStates immutableStorageWithVersioning ipAllocations ipConfigurations manualPrivateLinkServiceConnections
  metadata networkSecurityGroup push resourceConfig routeTable serviceEndpointPolicies serviceEndpoints systemData
  virtualApplications virtualNetworkPeerings armRoleReceivers automationRunbookReceivers azureAppPushReceivers
  azureFunctionReceivers eventHubReceivers itsmReceivers logicAppReceivers smsReceivers voiceReceivers webhookReceivers
  installScripts registryAdapters storageMounts kubeEnvironmentProfile deleteRetentionPolicy
  containerDeleteRetentionPolicy restorePolicy lastAccessTimeTrackingPolicy changeFeed replication failover`.split(
    /\s+/,
  ),
);
/** Of a type with variants, only these. */
const VARIANTS = new Set([
  "appsettings",
  "ftp",
  "scm",
  "Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria",
]);

/** Object name -> property -> type. "*" is every other property, "?" the property that distinguishes variants, "?X" the variant X. */
export type Table = Readonly<Record<string, Readonly<Record<string, string>>>>;

type Type =
  | "string"
  | "integer"
  | "boolean"
  | "any"
  | { enum: string[]; open?: boolean | undefined }
  | { array: Type }
  | { object: string };
const type: z.ZodType<Type> = z.lazy(() =>
  z.union([
    z.enum(["string", "integer", "boolean", "any"]),
    z.strictObject({ enum: z.array(z.string()), open: z.boolean().optional() }),
    z.strictObject({ array: type }),
    z.strictObject({ object: z.string() }),
  ]),
);
const property = z.union([
  type,
  z.strictObject({ type, required: z.boolean().optional(), readOnly: z.boolean().optional() }),
]);
const object = z.union([
  z.strictObject({ properties: z.record(z.string(), property), additional: type.optional() }),
  z.strictObject({
    discriminator: z.string(),
    base: z.record(z.string(), property),
    variants: z.record(z.string(), type),
  }),
]);
const document = z.object({
  source: z.string(),
  resources: z.record(
    z.string(),
    z.object({ body: z.strictObject({ object: z.string() }), types: z.record(z.string(), object) }),
  ),
});
type Resource = z.infer<typeof document>["resources"][string];

/** The table of the types that infra/ uses. The first object of each is its body. Throws on a type that the source lacks. */
export function cutTypes(text: string): {
  readonly source: string;
  readonly resources: Readonly<Record<string, Table>>;
} {
  const { source, resources } = document.parse(JSON.parse(text));
  const cut = USED.map((name): [string, Table] => {
    const resource = resources[name];
    if (resource === undefined) throw new Error(`the table of types lacks ${name}`);
    return [name, cutResource(resource)];
  });
  return { source, resources: { ...Object.fromEntries(cut), ...OWN } };
}

function cutResource({ body, types }: Resource): Table {
  const table: Record<string, Record<string, string>> = {};
  const pending = [body.object];
  for (const name of pending) {
    const found = types[name];
    if (found === undefined || name in table) continue;
    const short = (key: string, item: z.infer<typeof property>): [string, string] => {
      const { text, objects } = shorten(key, item);
      pending.push(...objects);
      return [key, text];
    };
    table[name] =
      "properties" in found
        ? Object.fromEntries([
            ...Object.entries(found.properties).map(([key, item]) => short(key, item)),
            ...(found.additional === undefined ? [] : [short("*", found.additional)]),
          ])
        : Object.fromEntries([
            ["?", found.discriminator],
            ...Object.entries(found.base).map(([key, item]) => short(key, item)),
            ...Object.entries(found.variants)
              .filter(([variant]) => VARIANTS.has(variant))
              .map(([variant, item]) => short(`?${variant}`, item)),
          ]);
  }
  return table;
}

function shorten(
  key: string,
  item: z.infer<typeof property>,
): { readonly text: string; readonly objects: readonly string[] } {
  const described = typeof item === "object" && "type" in item ? item : { type: item };
  const { text, objects } = isLeftOut(key, described)
    ? { text: "any", objects: [] }
    : shortType(described.type);
  return {
    text: `${described.required === true ? "!" : ""}${described.readOnly === true ? "-" : ""}${text}`,
    objects,
  };
}

/** Read-only objects are left out as well, except those that other resources read. */
function isLeftOut(
  key: string,
  { type, readOnly }: { readonly type: Type; readonly readOnly?: boolean | undefined },
): boolean {
  return (
    LEFT_OUT.has(key) ||
    (readOnly === true && typeof type === "object" && !["primaryEndpoints"].includes(key))
  );
}

function shortType(type: Type): { readonly text: string; readonly objects: readonly string[] } {
  if (typeof type === "string") return { text: type, objects: [] };
  if ("enum" in type)
    return { text: `(${[...type.enum, ...(type.open === true ? ["..."] : [])].join("|")})`, objects: [] };
  if ("object" in type) return { text: `#${type.object}`, objects: [type.object] };
  const inner = shortType(type.array);
  return { text: `${inner.text}[]`, objects: inner.objects };
}

if (import.meta.main) {
  const packed = await readFile(new URL("../test/data/azure-types.json.gz", import.meta.url));
  const table = cutTypes(gunzipSync(packed).toString("utf8"));
  await writeFile(
    new URL("../test/infra/bicep/resource-types.json", import.meta.url),
    `${JSON.stringify(table, null, 2)}\n`,
  );
}
