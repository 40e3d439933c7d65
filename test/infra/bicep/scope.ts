import type { Declaration, Expression, Flaw } from "./syntax.ts";
import { partsOf } from "./syntax.ts";

/** The functions that infra/ may call, and the words that stand for namespaces. */
const FUNCTIONS = new Set(
  `any array base64 bool cidrSubnet concat contains dateTimeToEpoch deployer empty endsWith environment fail filter first flatten format guid
  indexOf int intersection items join json last length loadTextContent map max min newGuid objectKeys padLeft parseCidr
  range readEnvironmentVariable reduce replace resourceGroup resourceId skip sort split startsWith string subscription
  subscriptionResourceId substring take tenant toLower toObject toUpper trim union uniqueString uri utcNow`.split(
    /\s+/,
  ),
);
const DECORATORS = new Set([
  "allowed",
  "batchSize",
  "description",
  "maxLength",
  "maxValue",
  "metadata",
  "minLength",
  "minValue",
  "onlyIfNotExists",
  "secure",
]);
const TYPES = new Set(["string", "int", "bool", "object", "array"]);
/** These make another value at each deployment. Bicep allows them as the default of a parameter only. */
const FRESH = new Set(["newGuid", "utcNow"]);

/** Every declaration of a file, those in objects included. */
export function allDeclarations(declarations: readonly Declaration[]): readonly Declaration[] {
  return declarations.flatMap((declaration) => [
    declaration,
    ...allDeclarations(nestedIn(declaration.value)),
  ]);
}

function nestedIn(expression: Expression | undefined): readonly Declaration[] {
  if (expression === undefined) return [];
  const own = expression.kind === "object" ? expression.resources : [];
  return [...own, ...partsOf(expression).flatMap(nestedIn)];
}

/** Names that are unknown, declared twice or never used; functions and decorators that do not exist. */
export function checkNames(file: string, declarations: readonly Declaration[]): readonly Flaw[] {
  const flaws: Flaw[] = [];
  const add = (line: number, text: string) => flaws.push({ file, line, rule: "name", text });
  const all = allDeclarations(declarations);
  const named = all.filter(({ kind }) => ["param", "var", "resource", "module"].includes(kind));
  const known = new Set<string>();
  for (const { name, line } of named) {
    if (known.has(name)) add(line, `${name} is declared twice`);
    known.add(name);
  }
  const used = new Set<string>();
  const visit = (expression: Expression, local: ReadonlySet<string>, isDefault: boolean): void => {
    if (expression.kind === "name") {
      used.add(expression.name);
      if (!known.has(expression.name) && !local.has(expression.name))
        add(expression.line, `${expression.name} is not declared`);
    }
    if (expression.kind === "call" && expression.of === undefined) {
      if (!FUNCTIONS.has(expression.name)) add(expression.line, `there is no function ${expression.name}`);
      if (FRESH.has(expression.name) && !isDefault)
        add(expression.line, `${expression.name} outside of a parameter's default`);
    }
    const variables = expression.kind === "loop" || expression.kind === "lambda" ? expression.variables : [];
    const within = variables.length === 0 ? local : new Set([...local, ...variables]);
    for (const part of partsOf(expression)) visit(part, within, isDefault);
  };
  for (const { kind, type, value, decorators, line } of all) {
    if ((kind === "param" || kind === "output") && !isParameterFile(declarations) && !TYPES.has(type ?? ""))
      add(line, `${type ?? "nothing"} is no type`);
    if (value !== undefined) visit(value, new Set(), kind === "param");
    for (const decorator of decorators) {
      if (decorator.kind !== "call" || !DECORATORS.has(decorator.name)) add(line, "an unknown decorator");
    }
  }
  if (!isParameterFile(declarations))
    for (const { name, kind, line } of named)
      if ((kind === "param" || kind === "var") && !used.has(name)) add(line, `${name} is never used`);
  return flaws;
}

export function isParameterFile(declarations: readonly Declaration[]): boolean {
  return declarations.some(({ kind }) => kind === "using");
}
