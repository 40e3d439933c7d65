import type { Mistake } from "./planted.ts";

const APP = "modules/app.bicep";
const NETWORK = "modules/network.bicep";
const STORAGE = "modules/storage.bicep";

/** In what keeps others out, and in the logs of who came in. */
export const MISTAKES_OF_CLOSED_DOORS: readonly Mistake[] = [
  {
    name: "an app that anybody may call though addresses were chosen",
    file: APP,
    find: "ipSecurityRestrictionsDefaultAction: empty(allowedAddresses) && !hasPrivateEndpoint ? 'Allow' : 'Deny'",
    replace: "ipSecurityRestrictionsDefaultAction: 'Allow'",
    check: "who may call the app",
  },
  {
    name: "a single address where Azure takes a range",
    file: APP,
    find: "ipAddress: contains(address, '/') ? address : '${address}/${contains(address, ':') ? 128 : 32}'\n}]\nvar deployRules",
    replace: "ipAddress: address\n}]\nvar deployRules",
    check: "who may call the app",
  },
  {
    name: "a private endpoint beside a public address",
    file: APP,
    find: "publicNetworkAccess: isPublic ? 'Enabled' : 'Disabled'",
    replace: "publicNetworkAccess: 'Enabled'",
    check: "who may call the app",
  },
  {
    name: "an SCM site that takes a package from anywhere",
    file: APP,
    find: "scmIpSecurityRestrictionsUseMain: empty(deployAddresses)",
    replace: "scmIpSecurityRestrictionsUseMain: false",
    check: "who may call the app",
  },
  {
    name: "addresses that main.bicep does not hand on",
    file: "main.bicep",
    find: "    allowedAddresses: allowedAddresses\n",
    replace: "    allowedAddresses: []\n",
    check: "who may call the app",
  },
  {
    name: "an endpoint of the app without a network",
    file: "main.bicep",
    find: "var hasSitesEndpoint = isPrivate && appPrivateEndpoint",
    replace: "var hasSitesEndpoint = appPrivateEndpoint",
    check: "network",
  },
  {
    name: "bodies of a hundred megabytes",
    file: APP,
    find: "'35651584'",
    replace: "'104857600'",
    check: "bodies of requests",
  },
  {
    name: "bodies that the host refuses before the app can say why",
    file: APP,
    find: "'35651584'",
    replace: "'4194304'",
    check: "bodies of requests",
  },
  {
    name: "a queue whose writers nobody can name",
    file: STORAGE,
    find: "scope: account::queueService",
    replace: "scope: account::tableService",
    check: "logs of who used what",
  },
  {
    name: "a log that is there and off",
    file: STORAGE,
    find: "category: category, enabled: true",
    replace: "category: category, enabled: false",
    check: "logs of who used what",
  },
  {
    name: "a vault whose readers nobody can name",
    file: "modules/vault.bicep",
    find: "if (!empty(logCategories))",
    replace: "if (empty(logCategories))",
    check: "logs of who used what",
  },
  {
    name: "a subnet without its security group",
    file: NETWORK,
    find: "          networkSecurityGroup: { id: endpointGroup.id }\n",
    replace: "",
    check: "security groups",
  },
  {
    name: "a security group that does not hold for private endpoints",
    file: NETWORK,
    find: "'NetworkSecurityGroupEnabled'",
    replace: "'Disabled'",
    check: "security groups",
  },
  {
    name: "a last rule that lets everybody in",
    file: NETWORK,
    find: "access: 'Deny'",
    replace: "access: 'Allow'",
    check: "security groups",
  },
  {
    name: "a package beside the state though it has an account",
    file: APP,
    find: "'${packageStorage.properties.primaryEndpoints.blob}",
    replace: "'${storage.properties.primaryEndpoints.blob}",
    check: "the account of the package",
  },
  {
    name: "an account of the package that the app may not read",
    file: "modules/roles.bicep",
    find: "if (!empty(packageStorageName)) {",
    replace: "if (false) {",
    check: "roles as listed",
  },
  {
    name: "an end of the password that is a beginning",
    file: "modules/secrets.bicep",
    find: "{ exp: dateTimeToEpoch",
    replace: "{ nbf: dateTimeToEpoch",
    check: "the end of the password",
  },
];
