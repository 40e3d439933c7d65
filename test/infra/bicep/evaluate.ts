import type { Surroundings } from "./functions.ts";
import { FUNCTIONS, memberOf } from "./functions.ts";
import type { Expression } from "./syntax.ts";
import type { Value } from "./value.ts";
import { Closure, isFields, textFrom } from "./value.ts";

/** What names stand for. */
export type Names = (name: string) => Value;

/** The value of an expression. Throws on what infra/ does not use. */
export function evaluate(expression: Expression, names: Names, surroundings: Surroundings): Value {
  const value = (of: Expression, within = names): Value => evaluate(of, within, surroundings);
  switch (expression.kind) {
    case "string":
      return expression.parts
        .map((part) => (typeof part === "string" ? part : textFrom(value(part))))
        .join("");
    case "number":
    case "boolean":
      return expression.value;
    case "null":
      return null;
    case "name":
      return names(expression.name);
    case "array":
      return expression.items.map((item) => value(item));
    case "object":
      return Object.fromEntries(
        expression.properties.map(({ key, computed, value: of }): [string, Value] => [
          key ?? textFrom(computed === undefined ? "" : value(computed)),
          value(of),
        ]),
      );
    case "member":
      return memberOf(value(expression.of), expression.name);
    case "nested":
      return memberOf(value(expression.of), expression.name);
    case "index":
      return memberOf(value(expression.of), textFrom(value(expression.index)));
    case "call": {
      const found = expression.of === undefined ? FUNCTIONS[expression.name] : undefined;
      if (found === undefined) throw new Error(`line ${expression.line}: cannot compute ${expression.name}`);
      return found(
        expression.items.map((item) => value(item)),
        surroundings,
      );
    }
    case "lambda":
      return new Closure((items) => value(expression.body, withNames(names, expression.variables, items)));
    case "loop":
      return itemsOf(value(expression.over)).map((item, index) =>
        value(expression.body, withNames(names, expression.variables, [item, index])),
      );
    case "condition":
      return value(expression.test) === true ? value(expression.body) : null;
    case "operator":
      return operate(expression.operator, expression.items, value);
  }
}

export function withNames(names: Names, variables: readonly string[], values: readonly Value[]): Names {
  return (name) => {
    const index = variables.indexOf(name);
    return index < 0 ? names(name) : (values[index] ?? null);
  };
}

export function itemsOf(value: Value): readonly Value[] {
  if (Array.isArray(value)) return value;
  return isFields(value) ? Object.values(value) : [];
}

function operate(operator: string, items: readonly Expression[], value: (of: Expression) => Value): Value {
  const item = (index: number): Value => {
    const found = items[index];
    return found === undefined ? null : value(found);
  };
  switch (operator) {
    case "?":
      return item(0) === true ? item(1) : item(2);
    case "??":
      return item(0) ?? item(1);
    case "&&":
      return item(0) === true && item(1) === true;
    case "||":
      return item(0) === true || item(1) === true;
    case "!":
      return item(0) !== true;
    case "==":
      return item(0) === item(1);
    case "!=":
      return item(0) !== item(1);
    case "+":
      return Number(item(0)) + Number(item(1));
    default:
      throw new Error(`cannot compute ${operator}`);
  }
}
