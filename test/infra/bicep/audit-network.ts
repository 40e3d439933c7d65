import type { Deployment } from "./deploy.ts";
import { anyText, at, itemsIn, textFrom } from "./value.ts";
import type { Played } from "./variants.ts";
import { ofType } from "./variants.ts";

const ENDPOINTS = "Microsoft.Network/privateEndpoints";
const ZONE_OF: Readonly<Record<string, string>> = {
  blob: "privatelink.blob.core.windows.net",
  queue: "privatelink.queue.core.windows.net",
  table: "privatelink.table.core.windows.net",
  vault: "privatelink.vaultcore.azure.net",
  sites: "privatelink.azurewebsites.net",
};

/** With a network, storage and vault are closed to the world, and everything that the app calls has a private endpoint and a name. */
export function auditNetwork({ plain, full, existing, entra }: Played): readonly string[] {
  if (plain === undefined || full === undefined || existing === undefined || entra === undefined)
    return ["no deployment"];
  return [
    ...auditAccess("plain", plain, "Enabled", "Allow"),
    ...auditAccess("full", full, "Disabled", "Deny"),
    ...auditAccess("existing", existing, "Disabled", "Deny"),
    ...auditSubnets(full),
    ...auditEndpoints("full", full, ["blob", "queue", "table", "blob", "queue", "vault", "sites"]),
    ...auditEndpoints("existing", existing, ["blob", "queue", "table"]),
    ...auditZones("full", full, ["blob", "queue", "table", "vault", "sites"]),
    ...auditZones("existing", existing, ["queue", "table"]),
    ...auditLinks("full", full, "<modules/network.bicep#network.id>"),
    ...auditLinks("existing", existing, NETWORK),
    ...auditSite("plain", plain, null, null),
    ...auditSite("full", full, "<modules/network.bicep#network.id>/subnets/app", true),
    ...auditSite("existing", existing, SUBNET, true),
    ...(ofType(existing, "Microsoft.Network/virtualNetworks").length === 0
      ? []
      : ["existing: a new network"]),
    ...[plain, entra].flatMap((one) =>
      ofType(one, ENDPOINTS).length === 0 ? [] : ["private endpoints without a network"],
    ),
  ];
}

const NETWORK = "/subscriptions/s/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/hub";
const SUBNET = `${NETWORK}/subnets/functions`;

/** The app looks names up in its own network: the zones are linked to that one, also where the endpoints are in another. */
function auditLinks(variant: string, deployment: Deployment, network: string): readonly string[] {
  return ofType(deployment, "Microsoft.Network/privateDnsZones/virtualNetworkLinks")
    .map(({ body }) => anyText(at(body, "properties.virtualNetwork.id")))
    .filter((linked) => linked !== network)
    .map((linked) => `${variant}: a zone is linked to ${linked}`);
}

function auditAccess(
  variant: string,
  deployment: Deployment,
  access: string,
  rule: string,
): readonly string[] {
  return ["Microsoft.Storage/storageAccounts", "Microsoft.KeyVault/vaults"].flatMap((type) =>
    ofType(deployment, type)
      .filter(
        ({ body }) =>
          at(body, "properties.publicNetworkAccess") !== access ||
          at(body, "properties.networkAcls.defaultAction") !== rule ||
          at(body, "properties.networkAcls.bypass") !== "AzureServices",
      )
      .map((resource) => `${variant}: ${resource.at} is not ${access} with ${rule}`),
  );
}

function auditSubnets(deployment: Deployment): readonly string[] {
  const [network] = ofType(deployment, "Microsoft.Network/virtualNetworks");
  const subnets = itemsIn(at(network?.body, "properties.subnets"));
  const app = subnets.find((subnet) => at(subnet, "name") === "app");
  const endpoints = subnets.find((subnet) => at(subnet, "name") === "endpoints");
  const service = at(app, "properties.delegations.0.properties.serviceName");
  const delegated = at(endpoints, "properties.delegations");
  return [
    ...(service === "Microsoft.App/environments"
      ? []
      : [`the app's subnet is delegated to ${anyText(service)}`]),
    ...(endpoints !== undefined && delegated === undefined
      ? []
      : ["the endpoints have no subnet of their own"]),
    ...subnets
      .map((subnet) => textFrom(at(subnet, "name")))
      .filter((name) => name.includes("_"))
      .map((name) => `${name} has a _`),
  ];
}

function auditEndpoints(variant: string, deployment: Deployment, expected: readonly string[]) {
  const found = ofType(deployment, ENDPOINTS).map(({ body }) =>
    anyText(at(body, "properties.privateLinkServiceConnections.0.properties.groupIds.0")),
  );
  return found.join() === expected.join() ? [] : [`${variant}: private endpoints of ${found.join()}`];
}

/** Every endpoint is registered in the zone of its kind, and a zone that is not given is created. */
function auditZones(variant: string, deployment: Deployment, made: readonly string[]): readonly string[] {
  const zones = ofType(deployment, "Microsoft.Network/privateDnsZones").map(({ body }) =>
    anyText(body["name"]),
  );
  const links = ofType(deployment, "Microsoft.Network/privateDnsZones/virtualNetworkLinks").length;
  const records = ofType(deployment, `${ENDPOINTS}/privateDnsZoneGroups`).map(({ body }) => [
    anyText(at(body, "properties.privateDnsZoneConfigs.0.name")),
    anyText(at(body, "properties.privateDnsZoneConfigs.0.properties.privateDnsZoneId")).split("/").at(-1),
  ]);
  return [
    ...(zones.join() === made.map((kind) => ZONE_OF[kind]).join()
      ? []
      : [`${variant}: zones ${zones.join()}`]),
    ...(links === made.length ? [] : [`${variant}: ${links} links of zones`]),
    ...records
      .filter(([kind = "", zone]) => ZONE_OF[kind] !== zone)
      .map(([kind, zone]) => `${variant}: ${kind} in the zone ${zone}`),
    ...(records.length === ofType(deployment, ENDPOINTS).length
      ? []
      : [`${variant}: an endpoint has no name`]),
  ];
}

function auditSite(variant: string, deployment: Deployment, subnet: string | null, routes: boolean | null) {
  const [site] = ofType(deployment, "Microsoft.Web/sites");
  const found = at(site?.body, "properties.virtualNetworkSubnetId") ?? null;
  const routed = at(site?.body, "properties.outboundVnetRouting.allTraffic") ?? null;
  return (found === null ? null : textFrom(found)) === subnet && routed === routes
    ? []
    : [`${variant}: the app is in ${anyText(found)}, all traffic ${anyText(routed)}`];
}
