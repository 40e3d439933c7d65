import { parseSync } from "vite";
import { dirname, join, normalize } from "node:path";
import type { SourceFile } from "./imports.ts";
import type { SyntaxNode } from "../support/syntax.ts";
import { childrenOf, FUNCTIONS, isNode } from "../support/syntax.ts";

/** The house as a graph: files, what they import and export, and which function calls which. Read from the syntax alone. */

export interface House {
  readonly files: ReadonlyMap<string, FileRead>;
}

export interface FileRead {
  readonly path: string;
  readonly text: string;
  /** By local name. `name` "*": the whole module. */
  readonly imports: ReadonlyMap<string, Imported>;
  /** Paths of the repository that it imports in any way. */
  readonly targets: ReadonlySet<string>;
  /** By exported name, where it comes from. `name`: its name there. */
  readonly exports: ReadonlyMap<string, Imported>;
  /** By "name" or "Class.method". */
  readonly functions: ReadonlyMap<string, Called>;
}

interface Imported {
  readonly path: string;
  readonly name: string;
}

/** What a function calls: plain names, and names of methods. */
interface Called {
  readonly names: ReadonlySet<string>;
  readonly methods: ReadonlySet<string>;
}

/** A function of the house: "src/domain/text.ts#compareText". */
export type FunctionId = string;

export const idOf = (path: string, name: string): FunctionId => `${path}#${name}`;

export function readHouse(sources: readonly SourceFile[]): House {
  return { files: new Map(sources.map((source) => [source.path, readFile(source)])) };
}

function readFile({ path, text }: SourceFile): FileRead {
  const imports = new Map<string, Imported>();
  const exports = new Map<string, Imported>();
  const functions = new Map<string, Called>();
  const targets = new Set<string>();
  const targetOf = (node: SyntaxNode): string | undefined => {
    const specifier = textOf(node["source"]);
    if (specifier?.startsWith(".") !== true) return undefined;
    const target = normalize(join(dirname(path), specifier));
    targets.add(target);
    return target;
  };
  const { program } = parseSync(path, text);
  const body = isNode(program) ? listOf(program["body"]) : [];
  for (const statement of body) {
    if (statement.type === "ImportDeclaration") {
      const target = targetOf(statement);
      for (const specifier of listOf(statement["specifiers"])) {
        const name = nameIn(specifier["imported"]) ?? "*";
        if (target !== undefined) imports.set(nameIn(specifier["local"]) ?? name, { path: target, name });
      }
      continue;
    }
    if (statement.type === "ExportAllDeclaration") targetOf(statement);
    const isExport = statement.type === "ExportNamedDeclaration";
    const declared = isExport && isNode(statement["declaration"]) ? statement["declaration"] : statement;
    for (const [name, node] of declarationsOf(declared)) {
      if (isExport) exports.set(name, { path, name });
      addFunctions(name, node, functions);
    }
    if (!isExport) continue;
    const from = isNode(statement["source"]) ? targetOf(statement) : undefined;
    for (const specifier of listOf(statement["specifiers"])) {
      const local = nameIn(specifier["local"]) ?? "";
      const inner =
        from === undefined ? (imports.get(local) ?? { path, name: local }) : { path: from, name: local };
      exports.set(nameIn(specifier["exported"]) ?? local, inner);
    }
  }
  for (const found of text.matchAll(/\bimport\(\s*"(\.[^"]+)"/g)) {
    const target = normalize(join(dirname(path), found[1] ?? ""));
    targets.add(target);
    imports.set(`import ${target}`, { path: target, name: "*" });
  }
  return { path, text, imports, exports, functions, targets };
}

function declarationsOf(node: SyntaxNode): readonly (readonly [string, SyntaxNode])[] {
  if (node.type === "VariableDeclaration")
    return listOf(node["declarations"]).flatMap((one) => {
      const name = nameIn(one["id"]);
      return name === undefined ? [] : [[name, one] as const];
    });
  const name = nameIn(node["id"]);
  return name === undefined ? [] : [[name, node]];
}

function addFunctions(name: string, node: SyntaxNode, functions: Map<string, Called>): void {
  if (node.type === "ClassDeclaration") {
    const { body } = node;
    for (const member of isNode(body) ? listOf(body["body"]) : []) {
      const own = memberName(member["key"]);
      // A field is read, not called, unless it holds a function.
      const isCalled = member.type !== "PropertyDefinition" || hasFunction(member);
      if (own !== undefined && isCalled) functions.set(`${name}.${own}`, callsIn(member));
    }
    return;
  }
  const init = node["init"];
  const isFunction = FUNCTIONS.has(node.type) || (isNode(init) && hasFunction(init));
  if (isFunction) functions.set(name, callsIn(node));
}

function hasFunction(node: SyntaxNode): boolean {
  return FUNCTIONS.has(node.type) || childrenOf(node).some(hasFunction);
}

function callsIn(node: SyntaxNode): Called {
  const names = new Set<string>();
  const methods = new Set<string>();
  const visit = (one: SyntaxNode): void => {
    // A function that is passed on is called, too.
    if (one.type === "Identifier") names.add(String(one["name"]));
    // A member that is only read may be one of any object.
    const { callee } = one;
    if (one.type === "CallExpression" && isNode(callee) && callee.type === "MemberExpression") {
      const method = memberName(callee["property"]);
      if (method !== undefined) methods.add(method);
    }
    if (one.type === "MemberExpression") {
      const object = one["object"];
      if (isNode(object)) visit(object);
      if (one["computed"] === true && isNode(one["property"])) visit(one["property"]);
      return;
    }
    for (const child of childrenOf(one)) visit(child);
  };
  visit(node);
  return { names, methods };
}

const listOf = (value: unknown): readonly SyntaxNode[] => (Array.isArray(value) ? value.filter(isNode) : []);

function nameIn(value: unknown): string | undefined {
  if (!isNode(value)) return undefined;
  const name = value["name"] ?? value["value"];
  return typeof name === "string" ? name : undefined;
}

/** Private members keep their sign: they are another name. */
function memberName(value: unknown): string | undefined {
  const name = nameIn(value);
  return name !== undefined && isNode(value) && value.type === "PrivateIdentifier" ? `#${name}` : name;
}

function textOf(value: unknown): string | undefined {
  const text = isNode(value) ? value["value"] : undefined;
  return typeof text === "string" ? text : undefined;
}

/** Where an imported name is defined, through files that pass it on. */
function definitionOf({ files }: House, at: Imported): Imported {
  const { path, name } = at;
  const next = files.get(path)?.exports.get(name);
  return next === undefined || (next.path === path && next.name === name)
    ? at
    : definitionOf({ files }, next);
}

/** Made by a script, not by hand. */
export const GENERATED = new Set(["src/client/answers.ts"]);

/** Exports of the product that no other file of these houses names, those of the client library aside. */
export function unusedExports(product: House, users: readonly House[]): readonly string[] {
  const used = new Set<string>();
  const all = users.flatMap(({ files }) => [...files.values()]);
  for (const file of all) {
    for (const { path, name } of file.imports.values()) used.add(idOf(path, name));
    for (const [name, { path, name: inner }] of file.exports)
      if (path !== file.path) used.add(idOf(path, inner)).add(name);
  }
  const wholes = new Set(
    all.flatMap(({ imports }) =>
      [...imports.values()].flatMap(({ path, name }) => (name === "*" ? [path] : [])),
    ),
  );
  return [...product.files.values()].flatMap(({ path, exports }) => {
    if (path.startsWith("src/client/") || GENERATED.has(path) || wholes.has(path)) return [];
    return [...exports].flatMap(([name, from]) =>
      from.path === path && !used.has(idOf(path, name)) ? [idOf(path, name)] : [],
    );
  });
}

/** What lists, maps and texts can do. A call of such a name is hardly ever one of a class of the house. */
const BUILT_IN = new Set(
  [Array, Map, Set, String, Date, Promise].flatMap((one) => Object.getOwnPropertyNames(one.prototype)),
);

/**
 * The functions that a function calls: by name, by the name of a method that one class of the house alone has, and private ones of its own
 * class.
 */
export class Calls {
  readonly #house: House;
  readonly #methods = new Map<string, readonly FunctionId[]>();
  /** By file, all files to which its imports lead. */
  readonly #imported = new Map<string, ReadonlySet<string>>();

  constructor(house: House) {
    this.#house = house;
    const all = [...house.files.values()].flatMap(({ path, functions }) =>
      [...functions.keys()].flatMap((name) => {
        const method = name.split(".")[1];
        return method === undefined ? [] : [[method, idOf(path, name)] as const];
      }),
    );
    for (const [method, ids] of Map.groupBy(all, ([one]) => one))
      this.#methods.set(
        method,
        ids.map(([, id]) => id),
      );
  }

  of(id: FunctionId): readonly FunctionId[] {
    const [path = "", name = ""] = id.split("#");
    const file = this.#house.files.get(path);
    const called = file?.functions.get(name);
    if (file === undefined || called === undefined) return [];
    const byName = [...called.names].flatMap((one) => {
      if (file.functions.has(one)) return [idOf(path, one)];
      const imported = file.imports.get(one);
      if (imported === undefined) return [];
      const { path: at, name: there } = definitionOf(this.#house, imported);
      const target = this.#house.files.get(at);
      const isClass = target?.functions.has(`${there}.constructor`) === true;
      const known =
        target?.functions.has(there) === true ? there : isClass ? `${there}.constructor` : undefined;
      return known === undefined ? [] : [idOf(at, known)];
    });
    const byMethod = [...called.methods].flatMap((one) => {
      if (one.startsWith("#")) {
        const own = `${name.split(".")[0]}.${one}`;
        return file.functions.has(own) ? [idOf(path, own)] : [];
      }
      const ids = BUILT_IN.has(one) ? [] : (this.#methods.get(one) ?? []);
      return ids.length === 1 && ids.every((method) => this.#knows(path, method)) ? ids : [];
    });
    return [...new Set([...byName, ...byMethod])].filter((one) => one !== id);
  }

  /** Whether a caller may have an object of the method's class: its imports lead there, or those of the composition, which fills the ports. */
  #knows(caller: string, method: FunctionId): boolean {
    const [path = ""] = method.split("#");
    return this.#ledTo(caller).has(path) || this.#ledTo("src/compose.ts").has(path);
  }

  #ledTo(from: string): ReadonlySet<string> {
    const known = this.#imported.get(from);
    if (known !== undefined) return known;
    const found = new Set([from]);
    for (const path of found)
      for (const target of this.#house.files.get(path)?.targets ?? []) found.add(target);
    this.#imported.set(from, found);
    return found;
  }

  /** Those that can be reached in at most this many calls, and the first ones themselves. */
  within(from: readonly FunctionId[], calls: number): ReadonlySet<FunctionId> {
    const reached = new Set(from);
    let last = from;
    for (let step = 0; step < calls; step += 1) {
      last = [...new Set(last.flatMap((id) => this.of(id)))].filter((id) => !reached.has(id));
      for (const id of last) reached.add(id);
    }
    return reached;
  }

  /** The functions on a shortest way of calls. Undefined: there is none. */
  way(from: FunctionId, to: FunctionId): readonly FunctionId[] | undefined {
    const before = new Map<FunctionId, FunctionId | undefined>([[from, undefined]]);
    let last = [from];
    while (last.length > 0 && !before.has(to)) {
      const next: FunctionId[] = [];
      for (const id of last)
        for (const called of this.of(id)) {
          if (before.has(called)) continue;
          before.set(called, id);
          next.push(called);
        }
      last = next;
    }
    if (!before.has(to)) return undefined;
    const way: FunctionId[] = [];
    for (let id: FunctionId | undefined = to; id !== undefined; id = before.get(id)) way.unshift(id);
    return way;
  }
}
