/** One edit of what is deployed, and the check that must notice it. `find` stands once in the file. */
export interface Mistake {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  readonly check: string;
}

const APP = "modules/app.bicep";
const STORAGE = "modules/storage.bicep";
const SECRETS = "modules/secrets.bicep";
const ROLES = "modules/roles.bicep";
const ALERTS = "modules/alerts.bicep";

/** In the language, the resources and the roles. */
export const MISTAKES_OF_RESOURCES: readonly Mistake[] = [
  {
    name: "a misspelt property",
    file: STORAGE,
    find: "defaultToOAuthAuthentication",
    replace: "defaultToOauthAuthentication",
    check: "types and properties",
  },
  {
    name: "a brace that is missing",
    file: APP,
    find: "  sku: {\n    name: 'FC1'",
    replace: "  sku: \n    name: 'FC1'",
    check: "syntax",
  },
  {
    name: "a quote that is missing",
    file: "main.bicep",
    find: "tables: ['autoscaler']",
    replace: "tables: ['autoscaler]",
    check: "syntax",
  },
  {
    name: "a queue that is missing",
    file: "main.bicep",
    find: "['demand', 'demand-poison', 'demand-rejected']",
    replace: "['demand', 'demand-rejected']",
    check: "queues, tables and containers of the code",
  },
  {
    name: "a queue of another name in the second account",
    file: "main.bicep",
    find: "queues: ['demand', 'demand-poison']\n",
    replace: "queues: ['demands', 'demand-poison']\n",
    check: "queues, tables and containers of the code",
  },
  {
    name: "a table of another name",
    file: "main.bicep",
    find: "tables: ['autoscaler']",
    replace: "tables: ['clusters']",
    check: "queues, tables and containers of the code",
  },
  {
    name: "another container than that of the package",
    file: "main.bicep",
    find: "packageContainer: 'app-package'",
    replace: "packageContainer: 'package'",
    check: "queues, tables and containers of the code",
  },
  {
    name: "a role that may less",
    file: ROLES,
    find: "974c5e8b-45b9-4653-ba55-5f855dd0fb88",
    replace: "19e7f393-937e-4f77-808e-94535e297925",
    check: "roles as listed",
  },
  {
    name: "a role that may more: sender becomes contributor",
    file: ROLES,
    find: "c6a89b2d-59bc-44d0-9896-0f6e12d7b80a",
    replace: "974c5e8b-45b9-4653-ba55-5f855dd0fb88",
    check: "roles as listed",
  },
  {
    name: "a role without principalType",
    file: ROLES,
    find: "monitoringMetricsPublisher)\n    principalId: appPrincipalId\n    principalType: 'ServicePrincipal'",
    replace: "monitoringMetricsPublisher)\n    principalId: appPrincipalId",
    check: "roles as listed",
  },
  {
    name: "a role on the whole vault",
    file: SECRETS,
    find: "  scope: autostopKeys",
    replace: "  scope: vault",
    check: "roles as listed",
  },
  {
    name: "shared keys on",
    file: STORAGE,
    find: "allowSharedKeyAccess: false",
    replace: "allowSharedKeyAccess: true",
    check: "no shared keys",
  },
  {
    name: "shared keys not said: Azure's default is on",
    file: STORAGE,
    find: "    allowSharedKeyAccess: false\n",
    replace: "",
    check: "no shared keys",
  },
  {
    name: "public blobs",
    file: STORAGE,
    find: "allowBlobPublicAccess: false",
    replace: "allowBlobPublicAccess: true",
    check: "no public blob",
  },
  {
    name: "a public container",
    file: STORAGE,
    find: "publicAccess: 'None'",
    replace: "publicAccess: 'Blob'",
    check: "no public blob",
  },
  {
    name: "plain http to the app",
    file: APP,
    find: "httpsOnly: true",
    replace: "httpsOnly: false",
    check: "https only",
  },
  {
    name: "an old TLS",
    file: STORAGE,
    find: "minimumTlsVersion: 'TLS1_2'",
    replace: "minimumTlsVersion: 'TLS1_0'",
    check: "https only",
  },
  {
    name: "a word that is almost an allowed one",
    file: STORAGE,
    find: "minimumTlsVersion: 'TLS1_2'",
    replace: "minimumTlsVersion: 'TLS1.2'",
    check: "types and properties",
  },
  {
    name: "a parameter that is not declared",
    file: STORAGE,
    find: "for item in queues:",
    replace: "for item in queueNames:",
    check: "names",
  },
  {
    name: "a module's parameter of another name",
    file: "main.bicep",
    find: "    dailyCapGb: logDailyCapGb",
    replace: "    dailyCap: logDailyCapGb",
    check: "modules",
  },
  {
    name: "a module's parameter of another type",
    file: "main.bicep",
    find: "    retentionDays: logRetentionDays",
    replace: "    retentionDays: '30'",
    check: "modules",
  },
  {
    name: "a module's parameter that is missing",
    file: "main.bicep",
    find: "    purgeProtection: vaultPurgeProtection\n",
    replace: "",
    check: "modules",
  },
  {
    name: "an output that a module does not have",
    file: "main.bicep",
    find: "identityId: identity.outputs.id",
    replace: "identityId: identity.outputs.resourceId",
    check: "modules",
  },
  {
    name: "a parameter file that sets what is not there",
    file: "main.bicepparam",
    find: "param alertEmail =",
    replace: "param alertMail =",
    check: "modules",
  },
  {
    name: "a member that a resource does not have",
    file: APP,
    find: "site.properties.defaultHostName",
    replace: "site.properties.defaultHostname",
    check: "types and properties",
  },
  {
    name: "a version that does not exist",
    file: APP,
    find: "'Microsoft.Web/serverfarms@2025-03-01'",
    replace: "'Microsoft.Web/serverfarms@2025-13-01'",
    check: "types and properties",
  },
  {
    name: "a needed property that is missing",
    file: "modules/monitoring.bicep",
    find: "    Application_Type: 'web'\n",
    replace: "",
    check: "types and properties",
  },
  {
    name: "a text where a number belongs",
    file: ALERTS,
    find: "threshold: 10\n",
    replace: "threshold: '10'\n",
    check: "types and properties",
  },
];
