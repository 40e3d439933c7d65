import type { Sources } from "./check.ts";
import type { Deployed, Deployment } from "./deploy.ts";
import { deploy } from "./deploy.ts";
import type { Fields, Value } from "./value.ts";
import { anyText, at, isFields } from "./value.ts";

const NEEDED: Fields = { environmentName: "hpc", cyclecloudUrl: "https://10.0.0.4", clusterNames: ["prod"] };
const SUBNETS = "/subscriptions/s/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/hub/subnets";
const OTHER_SUBNETS =
  "/subscriptions/s/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/shared/subnets";
const ZONES = "/subscriptions/s/resourceGroups/net/providers/Microsoft.Network/privateDnsZones";

/** The deployments that the audits look at: what people choose. */
export const VARIANTS: Readonly<Record<string, Fields>> = {
  plain: { ...NEEDED, cyclecloudPassword: "Pass-of-CycleCloud-1" },
  full: {
    ...NEEDED,
    cyclecloudPassword: "Pass-of-CycleCloud-1",
    network: "new",
    zoneRedundant: true,
    alwaysReadyDemandInstances: 1,
    separateDemandStorage: true,
    separatePackageStorage: true,
    appPrivateEndpoint: true,
    auditLogs: "all",
    cyclecloudPasswordExpiry: "2027-06-30",
    senderPrincipalIds: ["sender"],
    deleteLock: true,
    alertEmail: "hpc@example.com",
  },
  existing: {
    ...NEEDED,
    network: "existing",
    appSubnetId: `${SUBNETS}/functions`,
    endpointSubnetId: `${OTHER_SUBNETS}/private`,
    privateDnsZoneIds: { blob: `${ZONES}/privatelink.blob.core.windows.net` },
    existingVaultId:
      "/subscriptions/s/resourceGroups/shared/providers/Microsoft.KeyVault/vaults/shared-vault",
    cyclecloudPasswordSecretUri: "https://shared-vault.vault.azure.net/secrets/cc",
    existingWorkspaceId:
      "/subscriptions/s/resourceGroups/shared/providers/Microsoft.OperationalInsights/workspaces/logs",
    tags: { owner: "hpc-team" },
    names: { app: "hpc-autoscaler" },
    actionGroupId: "/subscriptions/s/resourceGroups/on-call/providers/Microsoft.Insights/actionGroups/hpc",
    docsUrl: "https://git.example.com/autoscaler/docs",
    allowedAddresses: ["203.0.113.0/24", "198.51.100.7", "2001:db8::7"],
    deployAddresses: ["192.0.2.9"],
    auditLogs: "vault",
  },
  entra: {
    ...NEEDED,
    cyclecloudAuthentication: "identity",
    cyclecloudTokenScope: "api://0f0f0f0f-1111-2222-3333-444444444444/.default",
    // It needs a network, which this one does not have.
    appPrivateEndpoint: true,
  },
};

export type Played = Readonly<Record<string, Deployment>>;

/** All variants, deployed. Throws on a source that cannot be computed. */
export function playVariants(sources: Sources): Played {
  return Object.fromEntries(Object.entries(VARIANTS).map(([name, given]) => [name, deploy(sources, given)]));
}

/** The resources of a type; the type's version is left out. */
export function ofType({ resources }: Deployment, type: string): readonly Deployed[] {
  return resources.filter((resource) => resource.type.startsWith(`${type}@`));
}

/** The app settings that a deployment makes. */
export function settingsOf(deployment: Deployment): Fields {
  const settings = deployment.resources.find((resource) => resource.at === "modules/app.bicep#settings");
  const found = at(settings?.body, "properties");
  return isFields(found) ? found : {};
}

/** The app settings as the app sees them: stand-ins become addresses, and references to Key Vault the secrets. */
export function seenSettings(deployment: Deployment): Readonly<Record<string, string>> {
  const secrets = new Map(
    ofType(deployment, "Microsoft.KeyVault/vaults/secrets").map(({ body }) => [
      anyText(body["name"]),
      anyText(at(body, "properties.value")),
    ]),
  );
  const seen = (value: Value): string =>
    anyText(value)
      .replaceAll(/<[^>]*primaryEndpoints\.(\w+)>/g, "https://account.$1.core.windows.net/")
      .replaceAll(/<[^>]*defaultHostName>/g, "autoscaler.azurewebsites.net")
      .replaceAll(/<[^>]*clientId>/g, "client-id")
      .replace(
        /^@Microsoft\.KeyVault\(SecretUri=.*secrets\/([^/]+)\)$/,
        (all, name: string) => secrets.get(name) ?? all,
      );
  return Object.fromEntries(Object.entries(settingsOf(deployment)).map(([key, value]) => [key, seen(value)]));
}
