import type { Accepted, AcceptedType, ObjectTable } from "./resource-types.ts";
import { readAccepted, typeOf } from "./resource-types.ts";
import type { Shape } from "./shapes.ts";
import { shapeOf, textsOf } from "./shapes.ts";
import type { Declaration, Expression, Flaw, ObjectLiteral } from "./syntax.ts";
import { bodyOf, partsOf, textOf } from "./syntax.ts";

/** A resource of a file with the whole name of its type. */
export interface TypedResource {
  readonly declaration: Declaration;
  readonly type: string;
  readonly body: ObjectLiteral & { readonly line: number };
}

/** Bicep's own properties of a resource; the platform does not see them. */
const BICEP = new Set(["parent", "scope", "dependsOn"]);

/** The resources of a file. A nested one has the types of its parents before its own. */
export function resourcesOf(declarations: readonly Declaration[], parent?: string): readonly TypedResource[] {
  return declarations.flatMap((declaration): readonly TypedResource[] => {
    const body = bodyOf(declaration.value);
    if (declaration.kind !== "resource" || body === undefined) return [];
    const type = wholeType(declaration.type ?? "", parent);
    return [{ declaration, type, body }, ...resourcesOf(body.resources, type)];
  });
}

function wholeType(own: string, parent: string | undefined): string {
  if (parent === undefined) return own;
  const [parentType = "", parentVersion = ""] = parent.split("@");
  const [type = "", version = parentVersion] = own.split("@");
  return `${parentType}/${type}@${version}`;
}

/** Properties of resources: unknown, read-only, missing, of a wrong kind; and reads of members that a resource does not have. */
export function checkTypes(file: string, declarations: readonly Declaration[]): readonly Flaw[] {
  const known = new Map(declarations.map((declaration) => [declaration.name, declaration]));
  const resources = resourcesOf(declarations);
  const checker = new Checker(file, known);
  for (const { declaration, type, body } of resources) {
    const objects = typeOf(type);
    const first = objects === undefined ? undefined : Object.keys(objects)[0];
    if (objects === undefined || first === undefined)
      checker.add(declaration.line, `no resource type ${type} in the table`);
    else if (!declaration.existing) checker.object(body, first, objects, type);
  }
  const typeByName = new Map(resources.map(({ declaration, type }) => [declaration.name, type]));
  for (const { value } of declarations) if (value !== undefined) checker.reads(value, typeByName);
  return checker.flaws;
}

class Checker {
  readonly flaws: Flaw[] = [];
  readonly #file: string;
  readonly #known: ReadonlyMap<string, Declaration>;

  constructor(file: string, known: ReadonlyMap<string, Declaration>) {
    this.#file = file;
    this.#known = known;
  }

  add(line: number, text: string): void {
    this.flaws.push({ file: this.#file, line, rule: "type", text });
  }

  object(literal: ObjectLiteral & { line: number }, name: string, objects: ObjectTable, where: string): void {
    const accepted = variantOf(literal, name, objects);
    if (accepted === undefined) return;
    const seen = new Set<string>();
    for (const { key, value, line } of literal.properties) {
      if (key === undefined || BICEP.has(key)) continue;
      if (seen.has(key)) this.add(line, `${where} has ${key} twice`);
      seen.add(key);
      const text = accepted[key] ?? accepted["*"];
      if (text === undefined) this.add(line, `${where} has no property ${key}`);
      else this.#property(value, readAccepted(text), objects, `${where}.${key}`);
    }
    for (const [key, text] of Object.entries(accepted)) {
      const { required, readOnly } = readAccepted(text);
      if (required && !readOnly && !key.startsWith("?") && !seen.has(key))
        this.add(literal.line, `${where} lacks ${key}`);
    }
  }

  #property(value: Expression, { readOnly, type }: Accepted, objects: ObjectTable, where: string): void {
    if (readOnly) return this.add(value.line, `${where} is read-only`);
    this.#value(value, type, objects, where);
  }

  #value(value: Expression, type: AcceptedType, objects: ObjectTable, where: string): void {
    if (value.kind === "operator" && value.operator === "?") {
      for (const item of value.items.slice(1)) this.#value(item, type, objects, where);
      return;
    }
    if (value.kind === "loop") return this.#value(value.body, itemOf(type), objects, where);
    const shape = shapeOf(value, this.#known);
    if (!fits(shape, type)) this.add(value.line, `${where} is ${shape}, expected ${wordFor(type)}`);
    if (type.kind === "words") this.#words(value, type, where);
    if (value.kind === "object" && type.kind === "object") this.object(value, type.object, objects, where);
    if (value.kind === "array")
      for (const item of value.items) this.#value(item, itemOf(type), objects, `${where}[]`);
  }

  /** An open list of words takes others, too. But what differs from one of them in case, dots and lines only is a mistake. */
  #words(value: Expression, { words, open }: Extract<AcceptedType, { kind: "words" }>, where: string): void {
    for (const text of textsOf(value, this.#known) ?? []) {
      const isClose = words.some((word) => loose(word) === loose(text));
      if (!words.includes(text) && (!open || isClose))
        this.add(value.line, `${where} is '${text}', expected ${words.join(", ")}`);
    }
  }

  reads(expression: Expression, types: ReadonlyMap<string, string>): void {
    const path = readOf(expression);
    const type = path === undefined ? undefined : types.get(path.name);
    const objects = type === undefined ? undefined : typeOf(type);
    if (path !== undefined && objects !== undefined) this.#read(path.members, objects, expression.line);
    if (path === undefined || type === undefined)
      for (const part of partsOf(expression)) this.reads(part, types);
    if (expression.kind === "object")
      for (const { value } of expression.resources) if (value !== undefined) this.reads(value, types);
  }

  #read(members: readonly string[], objects: ObjectTable, line: number): void {
    let table: Readonly<Record<string, string>> | undefined = Object.values(objects)[0];
    for (const member of members) {
      if (table === undefined || "?" in table) return;
      const text: string | undefined = table[member] ?? table["*"];
      if (text === undefined) return this.add(line, `there is no member ${member}`);
      const { type } = readAccepted(text);
      table = type.kind === "object" ? objects[type.object] : undefined;
    }
  }
}

/** `site.properties.defaultHostName`: the name and the members; undefined for anything else. */
function readOf(
  expression: Expression,
): { readonly name: string; readonly members: readonly string[] } | undefined {
  if (expression.kind === "name") return { name: expression.name, members: [] };
  if (expression.kind !== "member") return undefined;
  const before = readOf(expression.of);
  return before === undefined
    ? undefined
    : { name: before.name, members: [...before.members, expression.name] };
}

/** The properties that an object takes; of a type with variants those of the variant that the object names. */
function variantOf(literal: ObjectLiteral, name: string, objects: ObjectTable) {
  const table = objects[name];
  const discriminator = table?.["?"];
  if (table === undefined || discriminator === undefined) return table;
  const chosen = textOf(literal.properties.find(({ key }) => key === discriminator)?.value);
  const variant = chosen === undefined ? undefined : table[`?${chosen}`];
  const own = variant === undefined ? {} : objects[variant.slice(1)];
  return variant === undefined && chosen === undefined
    ? undefined
    : { ...table, [discriminator]: "string", ...own };
}

const itemOf = (type: AcceptedType): AcceptedType => (type.kind === "list" ? type.of : { kind: "any" });
const loose = (text: string): string => text.toLowerCase().replaceAll(/[._-]/g, "");
const wordFor = (type: AcceptedType): string => (type.kind === "words" ? "a word of a list" : type.kind);

function fits(shape: Shape, type: AcceptedType): boolean {
  if (shape === "any" || shape === "null" || type.kind === "any") return true;
  if (type.kind === "words") return shape === "string";
  if (type.kind === "list") return shape === "array";
  return shape === type.kind;
}
