import { checkTypes } from "./check-types.ts";
import { parseBicep } from "./parse.ts";
import { allDeclarations, checkNames, isParameterFile } from "./scope.ts";
import { declaredShape, shapeOf } from "./shapes.ts";
import type { Declaration, Expression, Flaw } from "./syntax.ts";
import { bodyOf, partsOf, SyntaxFlaw, textOf } from "./syntax.ts";

/** Paths relative to infra/, with their texts. */
export type Sources = ReadonlyMap<string, string>;
type Parsed = ReadonlyMap<string, readonly Declaration[]>;

/** Everything that is wrong in a set of Bicep files: syntax, names, modules and their parameters, types and properties. */
export function checkBicep(sources: Sources): readonly Flaw[] {
  const { parsed, flaws } = parseAll(sources);
  const rest = [...parsed].flatMap(([file, declarations]) => [
    ...checkNames(file, declarations),
    ...checkModules(file, declarations, parsed, sources),
    ...checkTypes(file, declarations),
  ]);
  return [...flaws, ...rest, ...unusedFiles(parsed)];
}

/** Declarations by their text: a planted mistake changes one file, and the others would be read a hundred times, half of the time of all. */
const declarationsOf = new Map<string, readonly Declaration[]>();

function parseOnce(text: string): readonly Declaration[] {
  const declarations = declarationsOf.get(text) ?? parseBicep(text);
  declarationsOf.set(text, declarations);
  return declarations;
}

/** The files that can be read, and the flaws of the others. */
export function parseAll(sources: Sources): { readonly parsed: Parsed; readonly flaws: readonly Flaw[] } {
  const parsed = new Map<string, readonly Declaration[]>();
  const flaws: Flaw[] = [];
  for (const [file, text] of sources) {
    if (!/\.bicep(param)?$/.test(file)) continue;
    try {
      parsed.set(file, parseOnce(text));
    } catch (error) {
      if (!(error instanceof SyntaxFlaw)) throw error;
      flaws.push({ file, line: error.line, rule: "syntax", text: error.message });
    }
  }
  return { parsed, flaws };
}

function checkModules(
  file: string,
  declarations: readonly Declaration[],
  parsed: Parsed,
  sources: Sources,
): readonly Flaw[] {
  const flaws: Flaw[] = [];
  const add = (line: number, text: string) => flaws.push({ file, line, rule: "module", text });
  const known = new Map(declarations.map((declaration) => [declaration.name, declaration]));
  const modules = new Map<string, readonly Declaration[]>();
  for (const declaration of declarations) {
    if (declaration.kind !== "module") continue;
    const target = parsed.get(beside(file, declaration.type ?? ""));
    if (target === undefined) {
      add(declaration.line, `there is no module ${declaration.type ?? ""}`);
      continue;
    }
    modules.set(declaration.name, target);
    const params = bodyOf(declaration.value)?.properties.find(({ key }) => key === "params")?.value;
    const given = params?.kind === "object" ? params.properties : [];
    checkParameters(
      target,
      given.map(({ key, value, line }) => ({ name: key ?? "", value, line })),
      declaration,
      known,
      add,
    );
  }
  if (isParameterFile(declarations)) {
    const target = parsed.get(textOf(declarations.find(({ kind }) => kind === "using")?.value) ?? "");
    if (target === undefined) add(1, "there is no file of that name");
    const given = declarations.flatMap(({ kind, name, value, line }) =>
      kind === "param" && value !== undefined ? [{ name, value, line }] : [],
    );
    if (target !== undefined) checkParameters(target, given, { name: "the file", line: 1 }, known, add);
  }
  for (const { value } of allDeclarations(declarations))
    if (value !== undefined) {
      for (const { name, output, line } of outputsRead(value)) {
        const target = modules.get(name);
        if (target !== undefined && !target.some((each) => each.kind === "output" && each.name === output))
          add(line, `module ${name} has no output ${output}`);
      }
      for (const { path, line } of filesRead(value))
        if (!sources.has(beside(file, path))) add(line, `there is no file ${path}`);
    }
  return flaws;
}

interface Given {
  readonly name: string;
  readonly value: Expression;
  readonly line: number;
}

function checkParameters(
  target: readonly Declaration[],
  given: readonly Given[],
  { name: caller, line }: Pick<Declaration, "name" | "line">,
  known: ReadonlyMap<string, Declaration>,
  add: (line: number, text: string) => void,
): void {
  const parameters = target.filter(({ kind }) => kind === "param");
  for (const { name, value, line: at } of given) {
    const parameter = parameters.find((each) => each.name === name);
    if (parameter === undefined) {
      add(at, `${caller} has no parameter ${name}`);
      continue;
    }
    const expected = declaredShape(parameter.type);
    const shape = shapeOf(value, known);
    if (shape !== "any" && shape !== expected) add(at, `parameter ${name} is ${shape}, expected ${expected}`);
  }
  for (const { name, value } of parameters)
    if (value === undefined && !given.some((each) => each.name === name))
      add(line, `${caller} lacks parameter ${name}`);
}

function outputsRead(
  expression: Expression,
): readonly { readonly name: string; readonly output: string; readonly line: number }[] {
  const deeper = partsOf(expression).flatMap(outputsRead);
  if (expression.kind !== "member" || expression.of.kind !== "member" || expression.of.name !== "outputs")
    return deeper;
  const { of } = expression.of;
  return of.kind === "name" ? [{ name: of.name, output: expression.name, line: expression.line }] : deeper;
}

function filesRead(expression: Expression): readonly { readonly path: string; readonly line: number }[] {
  const deeper = partsOf(expression).flatMap(filesRead);
  if (expression.kind !== "call" || expression.name !== "loadTextContent") return deeper;
  return [{ path: textOf(expression.items[0]) ?? "", line: expression.line }, ...deeper];
}

function unusedFiles(parsed: Parsed): readonly Flaw[] {
  const used = new Set(
    [...parsed].flatMap(([file, declarations]) =>
      declarations.flatMap(({ kind, type }) => (kind === "module" ? [beside(file, type ?? "")] : [])),
    ),
  );
  return [...parsed.keys()]
    .filter((file) => file.startsWith("modules/") && !used.has(file))
    .map((file) => ({ file, line: 1, rule: "module", text: "nothing uses this module" }));
}

const beside = (file: string, path: string): string =>
  `${file.includes("/") ? file.slice(0, file.lastIndexOf("/") + 1) : ""}${path}`;
