import type { Sources } from "./check.ts";
import { parseAll } from "./check.ts";
import { resourcesOf } from "./check-types.ts";
import type { Names } from "./evaluate.ts";
import { evaluate, itemsOf, withNames } from "./evaluate.ts";
import type { Surroundings } from "./functions.ts";
import type { Declaration, Expression } from "./syntax.ts";
import type { Fields, Value } from "./value.ts";
import { isFields, Reference } from "./value.ts";

/** One resource that a deployment makes. */
export interface Deployed {
  /** File and symbol: `modules/app.bicep#site`. */
  readonly at: string;
  readonly type: string;
  readonly body: Fields;
  /** Made only where it is not there yet. */
  readonly once: boolean;
}

export interface Deployment {
  readonly resources: readonly Deployed[];
  readonly outputs: Fields;
}

/**
 * What a deployment with these parameters makes. It computes what the platform would, with stand-ins for ids, so that tests can look at the
 * outcome (docs/decisions.md, "Bicep and the alert query are read by readers of our own"). `fresh` gives what newGuid gives. Throws on a
 * file that does not parse.
 */
export function deploy(
  sources: Sources,
  parameters: Fields,
  fresh: () => string = () => "00000000-1111-2222-3333-abcdefabcdef",
): Deployment {
  const { parsed } = parseAll(sources);
  const file = (path: string): readonly Declaration[] => {
    const found = parsed.get(path);
    if (found === undefined) throw new Error(`${path} cannot be read`);
    return found;
  };
  const text = (path: string): string => sources.get(path) ?? "";
  const run = (path: string, given: Fields): Deployment => {
    const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/") + 1) : "";
    return new File(path, file(path), given, {
      surroundings: { fresh, file: (name) => text(`${folder}${name}`), environment: {} },
      run: (module, inner) => run(`${folder}${module}`, inner),
    }).deploy();
  };
  return run("main.bicep", parameters);
}

interface Outside {
  readonly surroundings: Surroundings;
  readonly run: (module: string, given: Fields) => Deployment;
}

class File {
  readonly #resources: Deployed[] = [];
  readonly #values = new Map<string, Value>();
  readonly #path: string;
  readonly #declarations: readonly Declaration[];
  readonly #given: Fields;
  readonly #outside: Outside;
  readonly #names: Names = (name) => this.#value(name);

  constructor(path: string, declarations: readonly Declaration[], given: Fields, outside: Outside) {
    this.#path = path;
    this.#declarations = declarations;
    this.#given = given;
    this.#outside = outside;
  }

  deploy(): Deployment {
    for (const { kind, name } of this.#declarations) if (kind === "module") this.#value(name);
    for (const { declaration, type } of resourcesOf(this.#declarations)) {
      if (declaration.existing || declaration.value === undefined) continue;
      const once = declaration.decorators.some(
        (decorator) => decorator.kind === "call" && decorator.name === "onlyIfNotExists",
      );
      for (const body of this.#bodies(declaration.value))
        this.#resources.push({ at: `${this.#path}#${declaration.name}`, type, body, once });
    }
    const outputs = this.#declarations.flatMap(({ kind, name, value }): [string, Value][] =>
      kind === "output" && value !== undefined ? [[name, this.#evaluate(value)]] : [],
    );
    return { resources: this.#resources, outputs: Object.fromEntries(outputs) };
  }

  #evaluate(expression: Expression, names = this.#names): Value {
    return evaluate(expression, names, this.#outside.surroundings);
  }

  #value(name: string): Value {
    const known = this.#values.get(name);
    if (known !== undefined) return known;
    const declaration = this.#declarations.find((each) => each.name === name && each.kind !== "output");
    if (declaration === undefined) return new Reference(name);
    const value = this.#valueOf(declaration);
    this.#values.set(name, value);
    return value;
  }

  #valueOf({ kind, name, type, value }: Declaration): Value {
    if (kind === "param") {
      const given = this.#given[name];
      if (given !== undefined) return given;
      if (value === undefined) throw new Error(`${this.#path} lacks parameter ${name}`);
    }
    if (kind === "resource" || value === undefined) return new Reference(`${this.#path}#${name}`);
    if (kind !== "module") return this.#evaluate(value);
    const [body] = this.#bodies(value);
    if (body === undefined) return null;
    const params = body["params"];
    const { resources, outputs } = this.#outside.run(type ?? "", isFields(params) ? params : {});
    this.#resources.push(...resources);
    return { outputs, scope: body["scope"] ?? null };
  }

  /** One body, none if the condition does not hold, one for each item of a loop. Nested resources are resources of their own. */
  #bodies(value: Expression, names = this.#names): readonly Fields[] {
    if (value.kind === "loop")
      return itemsOf(this.#evaluate(value.over, names)).flatMap((item, index) =>
        this.#bodies(value.body, withNames(names, value.variables, [item, index])),
      );
    if (value.kind === "condition")
      return this.#evaluate(value.test, names) === true ? this.#bodies(value.body, names) : [];
    const body = this.#evaluate(value, names);
    return isFields(body) ? [body] : [];
  }
}
