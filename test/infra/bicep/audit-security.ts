import { allDeclarations } from "./scope.ts";
import type { Sources } from "./check.ts";
import { parseAll } from "./check.ts";
import { deploy } from "./deploy.ts";
import type { Expression } from "./syntax.ts";
import { partsOf } from "./syntax.ts";
import { anyText, at, textFrom } from "./value.ts";
import type { Played } from "./variants.ts";
import { ofType, VARIANTS } from "./variants.ts";

const STORAGE = "Microsoft.Storage/storageAccounts";

/** Each value that must be so, on each resource of a type, in each variant. */
const FIXED: Readonly<Record<string, readonly (readonly [type: string, path: string, value: unknown])[]>> = {
  "no shared keys": [[STORAGE, "properties.allowSharedKeyAccess", false]],
  "no public blob": [
    [STORAGE, "properties.allowBlobPublicAccess", false],
    [`${STORAGE}/blobServices/containers`, "properties.publicAccess", "None"],
  ],
  "https only": [
    ["Microsoft.Web/sites", "properties.httpsOnly", true],
    ["Microsoft.Web/sites", "properties.siteConfig.minTlsVersion", "1.2"],
    [STORAGE, "properties.supportsHttpsTrafficOnly", true],
    [STORAGE, "properties.minimumTlsVersion", "TLS1_2"],
  ],
  "no publishing with a password": [
    ["Microsoft.Web/sites/basicPublishingCredentialsPolicies", "properties.allow", false],
    ["Microsoft.Web/sites", "properties.siteConfig.ftpsState", "Disabled"],
  ],
  "telemetry by identity": [["Microsoft.Insights/components", "properties.DisableLocalAuth", true]],
  "the vault knows roles only": [
    ["Microsoft.KeyVault/vaults", "properties.enableRbacAuthorization", true],
    ["Microsoft.KeyVault/vaults", "properties.enablePurgeProtection", true],
  ],
};

export function fixedAudits(): Readonly<Record<string, (played: Played) => readonly string[]>> {
  return Object.fromEntries(
    Object.entries(FIXED).map(([name, rules]) => [
      name,
      (played: Played) =>
        rules.flatMap(([type, path, value]) =>
          Object.entries(played).flatMap(([variant, deployment]) =>
            ofType(deployment, type)
              .filter(({ body }) => at(body, path) !== value)
              .map((resource) => `${variant}: ${resource.at} ${path} is not ${String(value)}`),
          ),
        ),
    ]),
  );
}

const BLOB_OWNER = "b7e6dc6d-f1e8-4753-8033-0f276bb0955b";
const QUEUE_CONTRIBUTOR = "974c5e8b-45b9-4653-ba55-5f855dd0fb88";
const TABLE_CONTRIBUTOR = "0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3";
const QUEUE_SENDER = "c6a89b2d-59bc-44d0-9896-0f6e12d7b80a";
const METRICS_PUBLISHER = "3913510d-42f4-4e42-8a64-420c390055eb";
const BLOB_CONTRIBUTOR = "ba92f5b4-2d11-453d-a403-e96b0029c9fe";
const SECRETS_USER = "4633458b-17de-408a-b874-0445c86b69e6";

const APP_ROLES = [
  `storage ${BLOB_OWNER} ServicePrincipal app`,
  `storage ${QUEUE_CONTRIBUTOR} ServicePrincipal app`,
  `storage ${TABLE_CONTRIBUTOR} ServicePrincipal app`,
  `insights ${METRICS_PUBLISHER} ServicePrincipal app`,
  `autostopKeys ${SECRETS_USER} ServicePrincipal app`,
];
const ROLES: Readonly<Record<string, readonly string[]>> = {
  plain: [...APP_ROLES, `usedPassword ${SECRETS_USER} ServicePrincipal app`],
  full: [
    ...APP_ROLES,
    `usedPassword ${SECRETS_USER} ServicePrincipal app`,
    `demandStorage ${QUEUE_CONTRIBUTOR} ServicePrincipal app`,
    `packageStorage ${BLOB_CONTRIBUTOR} ServicePrincipal app`,
    `demandQueue ${QUEUE_SENDER} ServicePrincipal sender`,
  ],
  existing: [...APP_ROLES, `usedPassword ${SECRETS_USER} ServicePrincipal app`],
  entra: APP_ROLES,
};

/** Exactly these roles, on these resources, to these identities. */
export function auditRoles(played: Played): readonly string[] {
  return Object.entries(played).flatMap(([variant, deployment]) => {
    const found = ofType(deployment, "Microsoft.Authorization/roleAssignments").map(({ body }) => {
      const scope = textFrom(body["scope"]).replace(/^<.*#(.*)>$/, "$1");
      const role = textFrom(at(body, "properties.roleDefinitionId")).split("/").at(-1);
      const who = textFrom(at(body, "properties.principalId")).includes("principalId") ? "app" : "sender";
      return `${scope} ${role} ${anyText(at(body, "properties.principalType"))} ${who}`;
    });
    const expected = ROLES[variant] ?? [];
    return [
      ...found.filter((role) => !expected.includes(role)).map((role) => `${variant}: ${role} is not listed`),
      ...expected.filter((role) => !found.includes(role)).map((role) => `${variant}: ${role} is missing`),
    ];
  });
}

/** Two deployments with the same parameters, at which newGuid gives other values, make the same, but for what is made once. */
export function auditSecondDeployment(sources: Sources): readonly string[] {
  return Object.entries(VARIANTS).flatMap(([variant, given]) => {
    const make = (letter: string) => {
      let count = 0;
      return deploy(sources, given, () => `${letter}${(count += 1)}`).resources;
    };
    const [first, second] = [make("a"), make("b")];
    return first.flatMap((resource, index) => {
      const again = second[index];
      const same = JSON.stringify(resource.body) === JSON.stringify(again?.body);
      return same || resource.once
        ? []
        : [`${variant}: ${resource.at} changes with every deployment, and nobody asked for it`];
    });
  });
}

/** Secure parameters reach secure parameters and secrets of the vault only; no file holds a secret. */
export function auditSecrets(sources: Sources): readonly string[] {
  const { parsed } = parseAll(sources);
  const secureOf = (file: string): ReadonlySet<string> =>
    new Set(
      (parsed.get(file) ?? [])
        .filter(({ decorators }) => decorators.some((each) => each.kind === "call" && each.name === "secure"))
        .map(({ name }) => name),
    );
  const leaks = [...parsed].flatMap(([file, declarations]) =>
    allDeclarations(declarations).flatMap(({ kind, name, type, value }) => {
      if (value === undefined || (kind === "param" && file.endsWith(".bicep"))) return [];
      const isVault = type?.startsWith("Microsoft.KeyVault/vaults/secrets@") === true;
      if (kind === "resource" && isVault) return [];
      const target =
        kind === "module" ? secureOf(`${file.includes("/") ? "modules/" : ""}${type}`) : new Set<string>();
      return secretsIn(value, secureOf(file), target).map(
        (secret) => `${file}: ${kind} ${name} holds ${secret}`,
      );
    }),
  );
  const secure = secureOf("main.bicep");
  const written = (parsed.get("main.bicepparam") ?? []).flatMap(({ name, value }) =>
    secure.has(name) && !(value?.kind === "call" && value.name === "readEnvironmentVariable")
      ? [`main.bicepparam holds ${name}`]
      : [],
  );
  const open = ["cyclecloudPassword", "firstHalf", "secondHalf"].flatMap((name) =>
    [...parsed].flatMap(([file, declarations]) =>
      file.endsWith(".bicep") &&
      declarations.some((each) => each.kind === "param" && each.name === name) &&
      !secureOf(file).has(name)
        ? [`${file}: ${name} is not @secure()`]
        : [],
    ),
  );
  return [...leaks, ...written, ...open];
}

/** Names of secure parameters that an expression shows. What is only compared with nothing, or handed to a secure parameter, is not shown. */
function secretsIn(
  expression: Expression,
  secure: ReadonlySet<string>,
  allowed: ReadonlySet<string>,
): readonly string[] {
  if (expression.kind === "name") return secure.has(expression.name) ? [expression.name] : [];
  if (expression.kind === "call" && expression.name === "empty") return [];
  if (expression.kind !== "object")
    return partsOf(expression).flatMap((part) => secretsIn(part, secure, allowed));
  return expression.properties.flatMap(({ key, value }) =>
    key !== undefined && allowed.has(key) ? [] : secretsIn(value, secure, allowed),
  );
}
