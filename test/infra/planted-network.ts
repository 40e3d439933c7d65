import type { Mistake } from "./planted.ts";

const APP = "modules/app.bicep";
const STORAGE = "modules/storage.bicep";
const ALERTS = "modules/alerts.bicep";

/** In the network, and in the connections between the resources. */
export const MISTAKES_OF_THE_NETWORK: readonly Mistake[] = [
  {
    name: "a private network with open storage",
    file: STORAGE,
    find: "defaultAction: isPrivate ? 'Deny' : 'Allow'",
    replace: "defaultAction: 'Allow'",
    check: "network",
  },
  {
    name: "a delegation that is missing",
    file: "modules/network.bicep",
    find: "properties: { serviceName: 'Microsoft.App/environments' }",
    replace: "properties: {}",
    check: "network",
  },
  {
    name: "the delegation of the older plans",
    file: "modules/network.bicep",
    find: "Microsoft.App/environments",
    replace: "Microsoft.Web/serverFarms",
    check: "network",
  },
  {
    name: "a DNS zone without an endpoint in it, which hides the address of an existing vault",
    file: "modules/endpoints.bicep",
    find: "map(services, service => service.kind), [])",
    replace: "map(services, service => service.kind), ['vault'])",
    check: "network",
  },
  {
    name: "DNS zones that the network of the app does not know",
    file: "modules/network.bicep",
    find: "take(split(appSubnetId, '/'), 9)",
    replace: "take(split(endpointSubnetId, '/'), 9)",
    check: "network",
  },
  {
    name: "tables at the address of the queues",
    file: APP,
    find: "tableServiceUri: storage.properties.primaryEndpoints.table",
    replace: "tableServiceUri: storage.properties.primaryEndpoints.queue",
    check: "connections of the app",
  },
  {
    name: "demand of the first account with a second one",
    file: APP,
    find: "AUTOSCALER_DEMAND__queueServiceUri: demandStorage.",
    replace: "AUTOSCALER_DEMAND__queueServiceUri: storage.",
    check: "connections of the app",
  },
  {
    name: "a second account that is called as no identity",
    file: APP,
    find: "    AUTOSCALER_DEMAND__clientId: identityClientId\n",
    replace: "",
    check: "connections of the app",
  },
  {
    name: "a private endpoint that is missing",
    file: "main.bicep",
    find: "  { name: '${storageName}-table', id: storageId, kind: 'table' }\n",
    replace: "",
    check: "network",
  },
  {
    name: "a private network with a public vault",
    file: "modules/vault.bicep",
    find: "publicNetworkAccess: isPrivate ? 'Disabled' : 'Enabled'",
    replace: "publicNetworkAccess: 'Enabled'",
    check: "network",
  },
  {
    name: "an app that is not in its network",
    file: APP,
    find: "virtualNetworkSubnetId: empty(subnetId) ? null : subnetId",
    replace: "virtualNetworkSubnetId: null",
    check: "network",
  },
  {
    name: "a second storage account that no alert watches",
    file: "main.bicep",
    find: "separateDemandStorage ? [demandStorageName] : [], separate",
    replace: "[], separate",
    check: "throttling of every account",
  },
  {
    name: "two alerts of one name",
    file: ALERTS,
    find: "index == 0 ? 'alert-throttling-${base}' : 'alert-throttling-${account}'",
    replace: "'alert-throttling-${base}'",
    check: "throttling of every account",
  },
];
