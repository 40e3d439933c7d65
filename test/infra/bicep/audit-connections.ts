import type { Deployment } from "./deploy.ts";
import { anyText, at, textFrom } from "./value.ts";
import type { Played } from "./variants.ts";
import { ofType, settingsOf } from "./variants.ts";

const CLIENT = "<modules/identity.bicep#identity.properties.clientId>";
const STATE = "<modules/app.bicep#storage.properties.primaryEndpoints";
const DEMAND = "<modules/app.bicep#demandStorage.properties.primaryEndpoints";

const OF_STATE = {
  AzureWebJobsStorage__credential: "managedidentity",
  AzureWebJobsStorage__clientId: CLIENT,
  AzureWebJobsStorage__blobServiceUri: `${STATE}.blob>`,
  AzureWebJobsStorage__queueServiceUri: `${STATE}.queue>`,
  AzureWebJobsStorage__tableServiceUri: `${STATE}.table>`,
  APPLICATIONINSIGHTS_AUTHENTICATION_STRING: `ClientId=${CLIENT};Authorization=AAD`,
};
const OF_DEMAND = {
  AUTOSCALER_DEMAND__credential: "managedidentity",
  AUTOSCALER_DEMAND__clientId: CLIENT,
  AUTOSCALER_DEMAND__queueServiceUri: `${DEMAND}.queue>`,
};

/** Every connection goes to the right service of the right account, as the identity that has the roles there. */
export function auditConnections(played: Played): readonly string[] {
  return Object.entries(played).flatMap(([variant, deployment]) => {
    const settings = settingsOf(deployment);
    const expected = variant === "full" ? { ...OF_STATE, ...OF_DEMAND } : OF_STATE;
    const wrong = Object.entries(expected).filter(([name, value]) => anyText(settings[name]) !== value);
    const extra = Object.keys(settings).filter((name) => name.includes("__") && !(name in expected));
    return [
      ...wrong.map(([name, value]) => `${variant}: ${name} is ${anyText(settings[name])}, expected ${value}`),
      ...extra.map((name) => `${variant}: ${name} belongs to no account`),
    ];
  });
}

const PREFIX = "/Microsoft.Storage/storageAccounts/";

/** Every storage account has a rule of its own that watches it for throttling. */
export function auditThrottling(played: Played): readonly string[] {
  return Object.entries(played).flatMap(([variant, deployment]) => {
    const accounts = ofType(deployment, "Microsoft.Storage/storageAccounts").map(
      ({ body }) => `${PREFIX}${textFrom(body["name"])}`,
    );
    const rules = throttlingRules(deployment);
    const watched = rules.map(({ body }) => anyText(at(body, "properties.scopes")));
    const names = new Set(rules.map(({ body }) => anyText(body["name"])));
    return [
      ...accounts
        .filter((account) => !watched.includes(JSON.stringify([account])))
        .map((account) => `${variant}: no rule watches ${account}`),
      ...(names.size === accounts.length
        ? []
        : [`${variant}: ${names.size} rules, ${accounts.length} accounts`]),
    ];
  });
}

function throttlingRules(deployment: Deployment) {
  return ofType(deployment, "Microsoft.Insights/metricAlerts").filter(
    ({ body }) =>
      at(body, "properties.criteria.allOf.0.metricNamespace") === "Microsoft.Storage/storageAccounts",
  );
}
